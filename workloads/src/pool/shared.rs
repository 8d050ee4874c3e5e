//! A buffer pool that threads share, which change nothing of its pages: each reads the bytes where they were built, and events name the
//! frame that the page is in.
//!
//! Which page is in which frame changes in turns of the threads ([`Trace::wait_for_turn`]), so that it is the same in every run. In
//! simulated time another thread may come first to a page that one reads. So each *fill*, a coming of a page into a frame, has a number,
//! and each thread waits for a fill when it comes to it first ([`Trace::page_wait`]): whoever is first in time has the page brought.

use super::frames::{COMING, DESCRIPTOR, Frame, Frames, REFERENCED};
use super::latched::Latches;
use super::{Fixed, STEP};
use crate::tracer::{Dep, Trace};
use std::sync::{Arc, Mutex, MutexGuard};

/// No page: the number of none is 0.
const NOTHING: (u32, u16) = (0, 0);
const NOT_POISONED: &str = "a run ends with the first panic";

/// Bytes that a thread keeps for each frame of a pool that it shares.
pub(crate) const MET_BYTES: u64 = size_of::<(u32, u16)>() as u64;

/// Frames, and what is known of the pages that have come into them.
#[derive(Debug)]
struct Common {
    frames: Frames,
    /// By pageID, the number of its latest fill; 0 before the first.
    fills: Vec<u16>,
}

/// A thread's hold on a pool that it shares.
#[derive(Debug)]
pub(super) struct Shared {
    latches: Latches,
    common: Arc<Mutex<Common>>,
    /// By frame, counted from 0: the fill that the thread has waited for, by page and number.
    met: Vec<(u32, u16)>,
}

impl Clone for Shared {
    /// Another thread's hold.
    fn clone(&self) -> Self {
        Self {
            common: Arc::clone(&self.common),
            met: vec![NOTHING; self.met.len()],
            ..*self
        }
    }
}

/// What a thread asked of the pool, and what came of it.
pub(super) struct Found {
    pub(super) frame: Frame,
    /// Whether the page was in no frame.
    pub(super) missed: bool,
}

impl Shared {
    /// A hold on such frames, of a file of so many pages.
    pub(super) fn new(frames: Frames, pages: usize, latches: Latches) -> Self {
        // Where every page has a frame none ever comes.
        let comings = frames.first.map_or(0, |_| frames.count as usize);
        Self {
            latches,
            common: Arc::new(Mutex::new(Common {
                frames,
                fills: vec![0; pages + 1],
            })),
            met: vec![NOTHING; comings],
        }
    }

    /// What threads share. A thread may stop while it holds it, as events fill a batch; but it does so in its turn.
    fn common(&self) -> MutexGuard<'_, Common> {
        self.common.lock().expect(NOT_POISONED)
    }

    /// Pins a page, which comes into a frame if it is in none.
    pub(super) fn fix<T: Trace>(&mut self, trace: &mut T, page: u32, dep: Dep) -> Found {
        let latches = self.latches;
        trace.wait_for_turn();
        let common = &mut *self.common.lock().expect(NOT_POISONED);
        let frames = &mut common.frames;
        let Some((frame, coming)) = latches.pin(trace, frames, page, dep) else {
            let number = latches.empty(trace, frames);
            let frame = latches.enter(trace, frames, page, number, (1, REFERENCED));
            let fill = common.next_fill(page);
            self.met[number as usize - 1] = (page, fill);
            let extent = common.frames.extent(frame.address);
            trace.page_read_shared(page.into(), fill, extent);
            return Found {
                frame,
                missed: true,
            };
        };
        if frames.first.is_some() {
            let fill = common.fills[page as usize];
            let met = &mut self.met[frame.number as usize - 1];
            let met = std::mem::replace(met, (page, fill));
            let extent = common.frames.extent(frame.address);
            if coming {
                trace.page_read_shared(page.into(), fill, extent);
            } else if met != (page, fill) {
                trace.page_wait(page.into(), fill, extent);
            }
        }
        Found {
            frame,
            missed: false,
        }
    }

    /// Has storage bring a page into a frame meanwhile, unless it is in one. Returns whether storage was asked.
    pub(super) fn ask_ahead<T: Trace>(&mut self, trace: &mut T, page: u32, dep: Dep) -> bool {
        let latches = self.latches;
        trace.wait_for_turn();
        let common = &mut *self.common();
        let frames = &mut common.frames;
        if latches.is_there(trace, frames, page, dep) {
            return false;
        }
        let number = latches.empty(trace, frames);
        latches.enter(trace, frames, page, number, (0, REFERENCED | COMING));
        let fill = common.next_fill(page);
        trace.page_prefetch_shared(page.into(), fill);
        true
    }

    /// Takes a pin off a page.
    pub(super) fn unfix<T: Trace>(&self, trace: &mut T, page: &Fixed) {
        trace.work(DESCRIPTOR + STEP);
        let common = &mut *self.common();
        self.latches
            .unpin(trace, &mut common.frames, page.descriptor);
    }
}

impl Common {
    /// The number of a page's next fill: 65535 is followed by 1.
    fn next_fill(&mut self, page: u32) -> u16 {
        let fill = &mut self.fills[page as usize];
        *fill = fill.checked_add(1).unwrap_or(1);
        *fill
    }
}
