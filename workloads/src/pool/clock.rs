//! CLOCK: which frame is emptied for a page that comes.

use super::frames::{COMING, DESCRIPTOR, DIRTY, Frames, NEXT, PAGE, PINS, REFERENCED, STATE};
use super::{HASH, STEP, Site};
use crate::place::{Loaded, Place};
use crate::tracer::{Dep, Trace};

impl Frames {
    /// The number of an empty frame: one never used, or one that CLOCK empties. `write` takes a page that was changed to storage, and
    /// with it the number of its frame.
    pub(super) fn empty<T: Trace>(
        &mut self,
        trace: &mut T,
        write: impl FnOnce(&mut T, u32, u32),
    ) -> u32 {
        if self.used < self.count {
            self.used += 1;
            return self.used;
        }
        let number = self.victim(trace);
        self.leave(trace, number, write);
        number
    }

    /// The first frame from the hand on that nobody has pinned, that was not referenced since the hand came by, and whose page is there.
    pub(super) fn victim<T: Trace>(&mut self, trace: &mut T) -> u32 {
        // Two rounds clear every reference. If all that are left are on their way, one of them was asked for in vain.
        for step in 0..=3 * self.count {
            let stays = if step <= 2 * self.count {
                REFERENCED | COMING
            } else {
                REFERENCED
            };
            let number = self.hand;
            self.hand = number % self.count + 1;
            trace.work(DESCRIPTOR + 2 * STEP);
            let pins: Place<u16> = self.field(number, PINS);
            let pins = self.control.load(trace, Site::ClockPins, pins, Dep::NONE);
            trace.branch(Site::ClockPinned, pins.value > 0, pins.token.after(1));
            if pins.value > 0 {
                continue;
            }
            let place: Place<u16> = self.field(number, STATE);
            let state = self.control.load(trace, Site::State, place, Dep::NONE);
            // A page on its way is there for whoever asked for it: one comparison tells both.
            let stays = state.value & stays > 0;
            trace.work(STEP);
            trace.branch(Site::ClockReferenced, stays, state.token.after(1));
            if !stays {
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
    fn leave<T: Trace>(
        &mut self,
        trace: &mut T,
        number: u32,
        write: impl FnOnce(&mut T, u32, u32),
    ) {
        let page: Place<u32> = self.field(number, PAGE);
        let page = self
            .control
            .load(trace, Site::DescriptorPage, page, Dep::NONE);
        if self.is_dirty(trace, number) {
            write(trace, page.value, number);
        }
        trace.work(HASH);
        let head = self.head(page.value);
        let dep = page.token.after(HASH as u8);
        let first = self.control.load(trace, Site::TableEntry, head, dep);
        self.take_out(trace, number, (head, first));
    }

    /// Whether the page of a frame was changed.
    pub(super) fn is_dirty<T: Trace>(&self, trace: &mut T, number: u32) -> bool {
        let state: Place<u16> = self.field(number, STATE);
        let state = self.control.load(trace, Site::State, state, Dep::NONE);
        let dirty = state.value & DIRTY > 0;
        trace.work(STEP);
        trace.branch(Site::ClockChanged, dirty, state.token.after(1));
        dirty
    }

    /// Takes a frame out of the chain that begins at a place of the page table.
    pub(super) fn take_out<T: Trace>(
        &mut self,
        trace: &mut T,
        number: u32,
        (mut link, mut entry): (Place<u32>, Loaded<u32>),
    ) {
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
}
