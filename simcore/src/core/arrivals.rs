//! Pages that come from storage overwrite their frames.

use super::Core;
use crate::hierarchy::Hierarchy;
use traces::Event;

impl Core {
    /// Has pages that arrive overwrite the frames that they come into, as storage does.
    pub(crate) fn overwrite_frames(&mut self) {
        self.overwritten = Some(Box::default());
    }

    /// A page is there. Where pages come from nowhere its frame is as it was, and so it is where another core has found the page before.
    pub(super) fn arrive(&mut self, caches: &mut Hierarchy, event: &Event) {
        self.charge_to_frame(event);
        if !self.finds_old_lines(caches, event) {
            return;
        }
        let Some(overwritten) = &mut self.overwritten else {
            return;
        };
        let port = &mut self.machinery.port;
        let lines = caches.overwrite(port, event.address, event.size.into());
        for (sum, lines) in overwritten.iter_mut().zip(lines) {
            *sum += lines;
        }
    }
}
