//! What comes into which frame: CLOCK, and the page table's chains.

use super::{
    COMING, DESCRIPTOR, DIRTY, FRAME, FRAME_UNIT, Fixed, HASH, Home, NEXT, PAGE, PINS, Pool,
    REFERENCED, STATE, STEP, Site,
};
use crate::place::{Extent, Place};
use crate::tracer::{Dep, Trace};
use std::ops::Range;

impl Pool {
    /// Brings a page into a frame.
    #[cold]
    pub(super) fn miss<T: Trace>(&mut self, trace: &mut T, page: u32) -> Fixed {
        let (number, home) = self.bring(trace, page);
        trace.page_read(page.into(), self.frame(home));
        self.enter(trace, page, number, home, (1, REFERENCED))
    }

    /// Asks storage for a page that somebody will pin later.
    #[cold]
    pub(super) fn ask_ahead<T: Trace>(&mut self, trace: &mut T, page: u32) {
        let (number, home) = self.bring(trace, page);
        trace.page_prefetch(page.into());
        self.prefetches += 1;
        self.enter(trace, page, number, home, (0, REFERENCED | COMING));
    }

    /// Empties a frame and copies a page into it.
    fn bring<T: Trace>(&mut self, trace: &mut T, page: u32) -> (u32, Home) {
        debug_assert!(self.store.is_some(), "page {page} has no frame");
        let number = self.free_frame(trace);
        let home = self.frame_of(number);
        self.reads += 1;
        let bytes = self.page_bytes as usize;
        let built = Self::extent(self.homes[page as usize], bytes);
        let store = self.store.as_ref().expect("only such pools miss pages");
        store.read(
            page,
            built,
            self.memory.bytes_mut(Self::extent(home, bytes)),
        );
        (number, home)
    }

    /// The number of an empty frame: one never used, or one that CLOCK empties.
    pub(super) fn free_frame<T: Trace>(&mut self, trace: &mut T) -> u32 {
        if self.used < self.frames {
            self.used += 1;
            return self.used;
        }
        let number = self.victim(trace);
        self.leave(trace, number);
        number
    }

    /// The first frame from the hand on that nobody has pinned and that was not referenced since the hand came by.
    fn victim<T: Trace>(&mut self, trace: &mut T) -> u32 {
        // Two rounds clear every reference.
        for _ in 0..=2 * self.frames {
            let number = self.hand;
            self.hand = number % self.frames + 1;
            trace.work(DESCRIPTOR + 2 * STEP);
            let pins: Place<u16> = self.field(number, PINS);
            let pins = self.control.load(trace, Site::ClockPins, pins, Dep::NONE);
            trace.branch(Site::ClockPinned, pins.value > 0, pins.token.after(1));
            if pins.value > 0 {
                continue;
            }
            let place: Place<u16> = self.field(number, STATE);
            let state = self.control.load(trace, Site::State, place, Dep::NONE);
            let referenced = state.value & REFERENCED > 0;
            trace.work(STEP);
            trace.branch(Site::ClockReferenced, referenced, state.token.after(1));
            if !referenced {
                return number;
            }
            let dep = state.token.after(1);
            self.control.store(
                trace,
                Site::StateStore,
                place,
                state.value & !REFERENCED,
                dep,
            );
        }
        panic!("every frame of the buffer pool is pinned");
    }

    /// Takes the page out of a frame: to storage if it was changed, and off the page table.
    fn leave<T: Trace>(&mut self, trace: &mut T, number: u32) {
        let page: Place<u32> = self.field(number, PAGE);
        let page = self
            .control
            .load(trace, Site::DescriptorPage, page, Dep::NONE);
        let state: Place<u16> = self.field(number, STATE);
        let state = self.control.load(trace, Site::State, state, Dep::NONE);
        let dirty = state.value & DIRTY > 0;
        trace.work(STEP);
        trace.branch(Site::ClockChanged, dirty, state.token.after(1));
        if dirty {
            trace.page_write(page.value.into());
            self.writes += 1;
            let extent = Self::extent(self.frame_of(number), self.page_bytes as usize);
            let bytes = self.memory.bytes(extent);
            self.store
                .as_mut()
                .expect("only such pools empty frames")
                .write(page.value, bytes);
        }
        trace.work(HASH);
        let mut link = self.head(page.value);
        let mut entry =
            self.control
                .load(trace, Site::TableEntry, link, page.token.after(HASH as u8));
        while entry.value != number {
            trace.work(DESCRIPTOR + STEP);
            trace.branch(Site::PageFound, false, entry.token.after(1));
            let waits = entry.token.after(DESCRIPTOR as u8);
            link = self.field(entry.value, NEXT);
            entry = self.control.load(trace, Site::DescriptorNext, link, waits);
        }
        trace.branch(Site::PageFound, true, entry.token.after(1));
        let next: Place<u32> = self.field(number, NEXT);
        let next = self
            .control
            .load(trace, Site::DescriptorNext, next, Dep::NONE);
        self.control
            .store(trace, Site::Unlink, link, next.value, next.token.after(0));
    }

    /// Puts a page that is in a frame on the page table, with so many pins and such a state.
    pub(super) fn enter<T: Trace>(
        &mut self,
        trace: &mut T,
        page: u32,
        number: u32,
        home: Home,
        (pins, state): (u16, u16),
    ) -> Fixed {
        trace.work(HASH + DESCRIPTOR);
        let head = self.head(page);
        let first = self.control.load(trace, Site::TableEntry, head, Dep::NONE);
        let next: Place<u32> = self.field(number, NEXT);
        self.control
            .store(trace, Site::Link, next, first.value, first.token.after(0));
        self.control
            .store(trace, Site::Link, head, number, Dep::NONE);
        let frame = (home.address / FRAME_UNIT) as u32;
        for (field, value) in [(PAGE, page), (FRAME, frame)] {
            let place: Place<u32> = self.field(number, field);
            self.control
                .store(trace, Site::DescriptorStore, place, value, Dep::NONE);
        }
        for (field, value) in [(PINS, pins), (STATE, state)] {
            let place: Place<u16> = self.field(number, field);
            self.control
                .store(trace, Site::DescriptorStore, place, value, Dep::NONE);
        }
        Fixed {
            page,
            descriptor: number,
            segment: home.segment,
            address: home.address,
            dep: Dep::NONE,
        }
    }

    /// Where frame `number` is, in a pool of few frames.
    pub(super) fn frame_of(&self, number: u32) -> Home {
        let base = self.memory.segments()[0].base;
        Home {
            segment: 0,
            address: base + u64::from(number - 1) * u64::from(self.page_bytes),
        }
    }

    /// The addresses of a page that is at `home`.
    pub(super) fn frame(&self, home: Home) -> Range<u64> {
        home.address..home.address + u64::from(self.page_bytes)
    }

    pub(super) fn extent(home: Home, bytes: usize) -> Extent {
        Extent {
            segment: home.segment,
            address: home.address,
            bytes,
        }
    }
}
