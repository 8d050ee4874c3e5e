//! Pages that a device writes to memory: what the caches hold of their frames is old, and leaves them.

use super::{Hierarchy, Port};
use crate::ledger::MAX_CACHES;
use crate::storage::Fill;
use std::collections::HashSet;

/// Lines that left the data caches on a core's way to memory, by level.
pub(crate) type Overwritten = [u64; MAX_CACHES];

/// Fills of frames that threads share, with where their program lies.
#[derive(Debug, Default)]
pub(super) struct SharedFills {
    /// The operating system was asked for them ahead, and nobody has read them yet.
    ahead: HashSet<(u64, Fill)>,
    /// They have come, and nobody has found them yet.
    ///
    /// All that wait for a page go on in the cycle in which it comes, the one of the lowest number first, whoever of them was first to ask.
    /// The frame's lines are to leave before any of them uses it.
    new: HashSet<(u64, Fill)>,
}

impl Hierarchy {
    /// A core asks for a page ahead: whether it is the first to do so.
    pub(crate) fn ask_for_page_ahead(&mut self, port: &Port, fill: Fill) -> bool {
        self.shared_fills.ahead.insert((port.displacement, fill))
    }

    /// A core reads a page: whether somebody has asked for it ahead.
    pub(crate) fn read_page(&mut self, port: &Port, fill: Fill) -> bool {
        self.shared_fills.ahead.remove(&(port.displacement, fill))
    }

    /// A page has come.
    pub(crate) fn bring_page(&mut self, port: &Port, fill: Fill) {
        self.shared_fills.new.insert((port.displacement, fill));
    }

    /// A core finds a page in its frame: whether it is the first to do so.
    pub(crate) fn find_page(&mut self, port: &Port, fill: Fill) -> bool {
        self.shared_fills.new.remove(&(port.displacement, fill))
    }

    /// Takes the lines of a frame of so many bytes out of all caches, whoever's they are, and gives those of the core's own. Dirty
    /// ones are dropped: memory has what came later. Lines on their way are dropped too, and hold their miss handlers until they come.
    ///
    /// What lies beside the frame in its lines of the last cache, which are the longest, goes with it.
    pub(crate) fn overwrite(&mut self, port: &mut Port, address: u64, bytes: u64) -> Overwritten {
        let mut lines = Overwritten::default();
        let Some(last) = bytes.checked_sub(1) else {
            return lines;
        };
        let address = address.wrapping_add(port.displacement);
        let longest = self.level(port, port.levels() - 1).cache.line_shift();
        let frame = address >> longest..=address.saturating_add(last) >> longest;
        for (place, here) in self.levels.iter_mut().enumerate() {
            let own = port.path().iter().position(|&own| own == place);
            let (unused, expected) = match own {
                Some(level) => (
                    &mut port.prefetcher_counts[level].unused,
                    &mut port.unused_prefetches,
                ),
                None => (&mut here.taken.unused, &mut here.taken.expected),
            };
            let shift = longest - here.cache.line_shift();
            let mut taken = 0;
            for line in frame.start() << shift..=(frame.end() << shift | ((1 << shift) - 1)) {
                if let Some(removed) = here.cache.remove(line) {
                    taken += 1;
                    *unused += u64::from(removed.is_unused());
                    *expected += u64::from(removed.is_expected());
                }
            }
            if let Some(level) = own {
                lines[level] = taken;
            }
        }
        if let Some(directory) = &mut self.directory {
            frame.clone().for_each(|line| directory.remove(line));
        }
        let whole = (frame.end() - frame.start() + 1) << longest;
        for code in &mut self.instructions {
            code.invalidate(frame.start() << longest, whole);
        }
        lines
    }
}
