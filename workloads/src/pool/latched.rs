//! What a buffer manager does to table and descriptors that threads share: it takes latches, and pins by atomic additions. Who reads
//! optimistically takes neither ([`super::optimistic`]), but pages come and leave under latches all the same.
//!
//! The latch of a chain of the page table is the upper bit of its place, so that one exchange takes the latch and loads the first
//! descriptor. CLOCK has a latch of its own, beside its hand. That a latch is free is foretold; who finds it held waits, but does not look at it
//! again and again.

use super::frames::{
    COMING, Frame, Frames, NEXT, PAGE, PINS, REFERENCED, STATE, TABLE_PLACE_BYTES,
};
use super::latch_sites::Site as LatchSite;
use super::{HASH, Latching, STEP, Site};
use crate::place::{Loaded, Place};
use crate::tracer::{Dep, Token, Trace};

/// The descriptor that is of no frame has latch and hand of CLOCK in its first words.
const OF_CLOCK: u32 = 0;
const LATCH: u64 = 0;
const HAND: u64 = 4;
/// Bytes of the latch, and of a pin count.
const LATCH_BYTES: u16 = 4;
pub(super) const PINS_BYTES: u16 = 2;

/// Frames whose code takes latches at sites from a number on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latches {
    pub(super) first_site: u16,
    pub(super) latching: Latching,
    /// Whether threads change pages, so that these have latches, too.
    pub(super) changing: bool,
}

/// A chain of the page table whose latch is taken.
#[derive(Clone, Copy, Debug)]
struct Chain {
    head: Place<u32>,
    /// The number of its first descriptor.
    first: Loaded<u32>,
}

impl Latches {
    pub(super) fn site(self, site: LatchSite) -> u16 {
        self.first_site + u16::from(site)
    }

    /// The frame that a page is in, with one pin more, and whether the page was asked for ahead and nobody has waited for it yet.
    #[inline]
    pub(super) fn pin<T: Trace>(
        self,
        trace: &mut T,
        frames: &mut Frames,
        page: u32,
        dep: Dep,
    ) -> Option<(Frame, bool)> {
        if self.latching == Latching::Optimistic {
            return self.begin_reading(trace, frames, page, dep);
        }
        let chain = self.latch(trace, frames, page, dep);
        let found = frames.follow(trace, page, chain.first);
        let pinned = found.map(|found| self.pin_found(trace, frames, found));
        self.unlatch(trace, chain);
        pinned
    }

    /// Whether a page is in a frame.
    #[inline]
    pub(super) fn is_there<T: Trace>(
        self,
        trace: &mut T,
        frames: &Frames,
        page: u32,
        dep: Dep,
    ) -> bool {
        if self.latching == Latching::Optimistic {
            return frames.look_up(trace, page, dep).is_some();
        }
        let chain = self.latch(trace, frames, page, dep);
        let found = frames.follow(trace, page, chain.first);
        self.unlatch(trace, chain);
        found.is_some()
    }

    /// Takes the latch of the chain that a page belongs to.
    #[inline]
    fn latch<T: Trace>(self, trace: &mut T, frames: &Frames, page: u32, dep: Dep) -> Chain {
        trace.work(HASH);
        let head = frames.head(page);
        let site = self.site(LatchSite::Latch);
        let dep = dep.later(HASH as u8);
        trace.latch(site, head.address, dep);
        let token = trace.exchange(site, head.address, TABLE_PLACE_BYTES, dep);
        self.taken(trace, LatchSite::LatchFree, token);
        let value = frames.control.read(head);
        Chain {
            head,
            first: Loaded { value, token },
        }
    }

    /// Who finds a latch free goes on.
    pub(super) fn taken<T: Trace>(self, trace: &mut T, site: LatchSite, token: Token) {
        trace.work(STEP);
        trace.branch(self.site(site), true, token.after(1));
    }

    /// Releases the latch of a chain.
    #[inline]
    fn unlatch<T: Trace>(self, trace: &mut T, chain: Chain) {
        let site = self.site(LatchSite::Unlatch);
        trace.store(site, chain.head.address, TABLE_PLACE_BYTES, 1, Dep::NONE);
        trace.unlatch(chain.head.address);
    }

    /// Adds a pin to a frame of the chain whose latch is held, and notes the reference.
    #[inline]
    fn pin_found<T: Trace>(
        self,
        trace: &mut T,
        frames: &mut Frames,
        (number, waits): (u32, Dep),
    ) -> (Frame, bool) {
        self.add_pin(trace, frames, number, waits);
        let coming = self.refer(trace, frames, number, waits);
        (frames.frame(trace, number, waits), coming)
    }

    /// Notes the reference. Who reads optimistically does so only if it is not noted, and so takes no line from others. Returns whether the
    /// page was asked for ahead and nobody has waited for it yet.
    #[inline]
    pub(super) fn refer<T: Trace>(
        self,
        trace: &mut T,
        frames: &mut Frames,
        number: u32,
        waits: Dep,
    ) -> bool {
        let place: Place<u16> = frames.field(number, STATE);
        let state = frames.control.load(trace, Site::State, place, waits);
        trace.work(STEP);
        let dep = state.token.after(1);
        let coming = frames.first.is_some() && state.value & COMING > 0;
        if frames.first.is_some() {
            trace.branch(Site::Coming, coming, dep);
        }
        let now = state.value & !COMING | REFERENCED;
        let is_optimistic = self.latching == Latching::Optimistic;
        let is_new = !is_optimistic || now != state.value;
        if is_optimistic {
            trace.branch(self.site(LatchSite::NotReferenced), is_new, dep);
        }
        if is_new {
            frames
                .control
                .store(trace, Site::StateStore, place, now, dep);
        }
        coming
    }

    fn add_pin<T: Trace>(self, trace: &mut T, frames: &mut Frames, number: u32, waits: Dep) {
        let pins: Place<u16> = frames.field(number, PINS);
        trace.exchange(self.site(LatchSite::Pin), pins.address, PINS_BYTES, waits);
        frames.count_users(number, 1);
    }

    /// Takes a pin off a frame.
    #[inline]
    pub(super) fn unpin<T: Trace>(self, trace: &mut T, frames: &mut Frames, number: u32) {
        if self.latching == Latching::Optimistic {
            return self.end_reading(trace, frames, number);
        }
        let pins: Place<u16> = frames.field(number, PINS);
        let site = self.site(LatchSite::Unpin);
        trace.exchange(site, pins.address, PINS_BYTES, Dep::NONE);
        frames.count_users(number, -1);
        trace.branch(Site::Changed, false, Dep::NONE);
    }

    /// The number of an empty frame: one never used, or one that CLOCK empties. `write` takes a page that was changed to storage, and with
    /// it the number of its frame.
    pub(super) fn empty<T: Trace>(
        self,
        trace: &mut T,
        frames: &mut Frames,
        write: impl FnOnce(&mut T, u32, u32),
    ) -> u32 {
        let word = |field| -> Place<u32> { frames.field(OF_CLOCK, field) };
        let (latch, hand) = (word(LATCH).address, word(HAND).address);
        let site = self.site(LatchSite::ClockLatch);
        trace.latch(site, latch, Dep::NONE);
        let token = trace.exchange(site, latch, LATCH_BYTES, Dep::NONE);
        self.taken(trace, LatchSite::ClockLatchFree, token);
        let site = self.site(LatchSite::Hand);
        let at = trace.load(site, hand, LATCH_BYTES, 1, Dep::NONE);
        trace.work(STEP);
        let is_left = frames.used < frames.count;
        trace.branch(self.site(LatchSite::FrameLeft), is_left, at.after(1));
        let number = if is_left {
            frames.used += 1;
            frames.used
        } else {
            frames.victim(trace)
        };
        let site = self.site(LatchSite::HandStore);
        trace.store(site, hand, LATCH_BYTES, 1, at.after(1));
        let site = self.site(LatchSite::ClockUnlatch);
        trace.store(site, latch, LATCH_BYTES, 1, Dep::NONE);
        trace.unlatch(latch);
        if !is_left {
            self.leave(trace, frames, number, write);
        }
        number
    }

    /// Takes the page out of a frame and off the page table, under the latch of its chain.
    fn leave<T: Trace>(
        self,
        trace: &mut T,
        frames: &mut Frames,
        number: u32,
        write: impl FnOnce(&mut T, u32, u32),
    ) {
        let page: Place<u32> = frames.field(number, PAGE);
        let page = frames
            .control
            .load(trace, Site::DescriptorPage, page, Dep::NONE);
        let chain = self.latch(trace, frames, page.value, page.token.after(0));
        let pins: Place<u16> = frames.field(number, PINS);
        match self.latching {
            Latching::Pessimistic => {
                let pins = frames.control.load(trace, Site::ClockPins, pins, Dep::NONE);
                let site = self.site(LatchSite::PinnedMeanwhile);
                trace.branch(site, false, pins.token.after(1));
            }
            Latching::Optimistic => self.make_void(trace, pins),
        }
        if self.changing && frames.is_dirty(trace, number) {
            write(trace, page.value, number);
        }
        frames.take_out(trace, number, (chain.head, chain.first));
        self.unlatch(trace, chain);
    }

    /// Puts a page into an empty frame and on the page table, with so many pins and such a state.
    pub(super) fn enter<T: Trace>(
        self,
        trace: &mut T,
        frames: &mut Frames,
        page: u32,
        (number, address): (u32, u64),
        (pins, state): (u16, u16),
    ) -> Frame {
        // Another thread may have brought it meanwhile.
        let chain = self.latch(trace, frames, page, Dep::NONE);
        frames.follow(trace, page, chain.first);
        let next: Place<u32> = frames.field(number, NEXT);
        let first = chain.first;
        frames
            .control
            .store(trace, Site::Link, next, first.value, first.token.after(0));
        frames.describe(trace, page, (number, address), (pins, state));
        // The store that puts the frame at the head of the chain releases the latch.
        frames.control.write(chain.head, number);
        self.unlatch(trace, chain);
        Frame {
            number,
            address,
            dep: Dep::NONE,
        }
    }
}
