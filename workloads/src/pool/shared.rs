//! A buffer pool that threads share. If they change nothing of its pages, each reads the bytes where they were built, and events name the
//! frame that the page is in. If they do, they have one index, which each has for itself while an operation of its own lasts.
//!
//! Which page is in which frame changes in turns of the threads ([`Trace::wait_for_turn`]), so that it is the same in every run. In
//! simulated time another thread may come first to a page that one reads. So each *fill*, a coming of a page into a frame, has a number,
//! and each thread waits for a fill when it comes to it first ([`Trace::page_wait`]): whoever is first in time has the page brought.

use super::frames::{COMING, DESCRIPTOR, DIRTY, Frame, Frames, REFERENCED};
use super::latched::Latches;
use super::page_latches::InFrame;
use super::{Fixed, STEP, Use};
use crate::tracer::{Dep, Trace};
use std::sync::{Arc, Mutex, MutexGuard};

/// No page: the number of none is 0.
const NOTHING: (u32, u16) = (0, 0);
/// The number of a page's latest fill, if it was made in its frame, or every page has one.
const MADE: u16 = 0;
const NOT_POISONED: &str = "a run ends with the first panic";

/// What a thread has of its own in a pool that it shares.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    /// By frame, counted from 0, the fill that the thread has waited for, by page and number.
    met: Vec<(u32, u16)>,
    /// Address of a buffer of one page.
    buffer: u64,
}

/// Bytes that a thread keeps for each frame of a pool that it shares.
pub(crate) const MET_BYTES: u64 = size_of::<(u32, u16)>() as u64;

/// Frames, and what is known of the pages that have come into them.
#[derive(Debug)]
struct Common {
    frames: Frames,
    /// By pageID, the number of its latest fill, or [`MADE`] before the first.
    fills: Vec<u16>,
}

/// A thread's hold on a pool that it shares.
#[derive(Debug)]
pub(super) struct Shared {
    latches: Latches,
    common: Arc<Mutex<Common>>,
    own: Own,
}

impl Clone for Shared {
    /// Another thread's hold.
    fn clone(&self) -> Self {
        Self {
            common: Arc::clone(&self.common),
            own: self.own_of(self.own.buffer),
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
        let own = Own {
            met: vec![NOTHING; comings],
            buffer: frames.buffer(),
        };
        Self {
            latches,
            common: Arc::new(Mutex::new(Common {
                frames,
                fills: vec![MADE; pages + 1],
            })),
            own,
        }
    }

    /// Whether threads change pages.
    pub(super) fn is_changing(&self) -> bool {
        self.latches.changing
    }

    /// Changes the thread that has the pool for itself.
    pub(super) fn swap(&mut self, own: &mut Own) {
        std::mem::swap(&mut self.own, own);
    }

    /// What another thread has of its own, with a buffer at an address.
    pub(super) fn own_of(&self, buffer: u64) -> Own {
        Own {
            met: vec![NOTHING; self.own.met.len()],
            buffer,
        }
    }

    /// The address of the thread's buffer of one page.
    pub(super) fn buffer(&self) -> u64 {
        self.own.buffer
    }

    /// What threads share. A thread may stop while it holds it, as events fill a batch; but it does so in its turn.
    fn common(&self) -> MutexGuard<'_, Common> {
        self.common.lock().expect(NOT_POISONED)
    }

    /// Pins a page, which comes into a frame if it is in none. `write` takes a changed page, and its frame's number, to storage.
    pub(super) fn fix<T: Trace>(
        &mut self,
        trace: &mut T,
        (page, held): (u32, Use),
        dep: Dep,
        write: impl FnOnce(&mut T, u32, u32),
    ) -> Found {
        let found = self.pin(trace, page, dep, write);
        if self.latches.changing {
            let Frame { number, dep, .. } = found.frame;
            let (frames, at) = (&self.common().frames, InFrame { page, number });
            self.latches.hold_page(trace, frames, at, held, dep);
        }
        found
    }

    /// The same, but for the page's latch.
    fn pin<T: Trace>(
        &mut self,
        trace: &mut T,
        page: u32,
        dep: Dep,
        write: impl FnOnce(&mut T, u32, u32),
    ) -> Found {
        let latches = self.latches;
        if !latches.changing {
            trace.wait_for_turn();
        }
        let common = &mut *self.common.lock().expect(NOT_POISONED);
        let frames = &mut common.frames;
        let Some((frame, coming)) = latches.pin(trace, frames, page, dep) else {
            let number = latches.empty(trace, frames, write);
            let at = (number, frames.address(number));
            let frame = latches.enter(trace, frames, page, at, (1, REFERENCED));
            let fill = common.next_fill(page);
            self.own.met[number as usize - 1] = (page, fill);
            let extent = common.frames.extent(frame.address);
            trace.page_read_shared(page.into(), fill, extent);
            return Found {
                frame,
                missed: true,
            };
        };
        if frames.first.is_some() {
            let fill = common.fills[page as usize];
            let met = &mut self.own.met[frame.number as usize - 1];
            let met = std::mem::replace(met, (page, fill));
            let extent = common.frames.extent(frame.address);
            if coming {
                trace.page_read_shared(page.into(), fill, extent);
            } else if fill != MADE && met != (page, fill) {
                trace.page_wait(page.into(), fill, extent);
            }
        }
        Found {
            frame,
            missed: false,
        }
    }

    /// Has storage bring a page into a frame meanwhile, unless it is in one. Returns whether storage was asked.
    pub(super) fn ask_ahead<T: Trace>(
        &mut self,
        trace: &mut T,
        page: u32,
        dep: Dep,
        write: impl FnOnce(&mut T, u32, u32),
    ) -> bool {
        let latches = self.latches;
        trace.wait_for_turn();
        let common = &mut *self.common();
        let frames = &mut common.frames;
        if latches.is_there(trace, frames, page, dep) {
            return false;
        }
        let number = latches.empty(trace, frames, write);
        let at = (number, frames.address(number));
        latches.enter(trace, frames, page, at, (0, REFERENCED | COMING));
        let fill = common.next_fill(page);
        trace.page_prefetch_shared(page.into(), fill);
        true
    }

    /// A frame for a new page, by number; `write` takes a changed page, and its frame's number, to storage.
    pub(super) fn empty<T: Trace>(
        &self,
        trace: &mut T,
        write: impl FnOnce(&mut T, u32, u32),
    ) -> u32 {
        self.latches.empty(trace, &mut self.common().frames, write)
    }

    /// Puts a new page into the frame at an address, which is for the thread alone.
    pub(super) fn enter<T: Trace>(&self, trace: &mut T, page: u32, at: (u32, u64)) -> Frame {
        let common = &mut *self.common();
        let frames = &mut common.frames;
        let state = (1, REFERENCED | DIRTY);
        let frame = self.latches.enter(trace, frames, page, at, state);
        common.fills.resize(page as usize + 1, MADE);
        frame
    }

    /// Takes a pin off a page, which is `dirty` if it was changed.
    pub(super) fn unfix<T: Trace>(&self, trace: &mut T, page: &Fixed, dirty: bool) {
        trace.work(DESCRIPTOR + STEP);
        let common = &mut *self.common();
        if self.latches.changing {
            let at = InFrame {
                page: page.page,
                number: page.descriptor,
            };
            let held = (page.held, dirty);
            return self
                .latches
                .release_page(trace, &mut common.frames, at, held);
        }
        debug_assert!(!dirty, "threads share page {}", page.page);
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
