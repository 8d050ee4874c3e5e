//! Latches of pages, where threads change some: who reads a page does so beside others, who changes it has it for himself.
//!
//! A page's latch is the word of its frame's descriptor that says who reads it. A pin count is one of those who share the latch, and its upper bit
//! that one of them has the page for himself. A version is odd while somebody changes the page, and another afterwards.

use super::frames::{Frames, PINS};
use super::latch_sites::Site as LatchSite;
use super::latched::{Latches, PINS_BYTES};
use super::{Latching, STEP, Site, Use};
use crate::place::Place;
use crate::tracer::{Dep, Trace};
use traces::Kind;

/// A page in a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFrame {
    pub(super) page: u32,
    pub(super) number: u32,
}

impl Latches {
    /// The word of the latch of a page, and the page.
    fn of_page(frames: &Frames, at: InFrame) -> (u64, u32) {
        let word: Place<u16> = frames.field(at.number, PINS);
        (word.address, at.page)
    }

    /// Waits until nobody changes a page that is to be read optimistically.
    #[inline]
    pub(super) fn await_page<T: Trace>(
        self,
        trace: &mut T,
        frames: &Frames,
        at: InFrame,
        waits: Dep,
    ) {
        if self.changing {
            let site = self.site(LatchSite::Version);
            trace.latch_page(Kind::AwaitLatch, site, Self::of_page(frames, at), waits);
        }
    }

    /// Takes the latch of a page that has been pinned, or whose version has been noted.
    #[inline]
    pub(super) fn hold_page<T: Trace>(
        self,
        trace: &mut T,
        frames: &Frames,
        at: InFrame,
        held: Use,
        waits: Dep,
    ) {
        let latch = Self::of_page(frames, at);
        match (held, self.latching) {
            (Use::Read, Latching::Pessimistic) => {
                let site = self.site(LatchSite::PageShared);
                trace.latch_page(Kind::ShareLatch, site, latch, waits);
                trace.work(STEP);
                trace.branch(site, true, waits);
            }
            (Use::Read, Latching::Optimistic) | (Use::Make, _) => {}
            (Use::Change, _) => {
                let site = self.site(LatchSite::PageLatch);
                trace.latch_page(Kind::Latch, site, latch, waits);
                let token = trace.exchange(site, latch.0, PINS_BYTES, waits);
                self.taken(trace, LatchSite::PageLatchFree, token);
            }
        }
    }

    /// Unpins a page that threads change some of, which is `dirty` if this one did, and releases its latch, or says that it has been read: if
    /// another thread has changed it meanwhile, it is read again.
    pub(super) fn release_page<T: Trace>(
        self,
        trace: &mut T,
        frames: &mut Frames,
        at: InFrame,
        (held, dirty): (Use, bool),
    ) {
        trace.branch(Site::Changed, dirty, Dep::NONE);
        if dirty {
            frames.mark_dirty(trace, at.number);
        }
        let latch = Self::of_page(frames, at);
        let site = self.site(LatchSite::PageUnlatch);
        match (held, self.latching) {
            (Use::Read, Latching::Optimistic) => {
                self.end_reading(trace, frames, at.number);
                return trace.unlatch_page(latch);
            }
            (_, Latching::Pessimistic) => {
                trace.exchange(site, latch.0, PINS_BYTES, Dep::NONE);
            }
            (Use::Change | Use::Make, Latching::Optimistic) => {
                trace.work(STEP);
                trace.store(site, latch.0, PINS_BYTES, 1, Dep::NONE);
            }
        }
        if held != Use::Make {
            trace.unlatch_page(latch);
        }
        frames.count_users(at.number, -1);
    }
}
