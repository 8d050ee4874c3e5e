//! When the next event will ask the caches for something.

use super::{OutOfOrder, Slots};
use crate::core::{Clocked, Machinery};
use traces::{Event, Kind};

impl Clocked for OutOfOrder {
    #[inline]
    fn now(&self) -> u64 {
        self.slots.next_dispatch()
    }

    /// Where it has several instructions of its own, the cycle of the first.
    fn dispatches(&self, event: &Event) -> u64 {
        self.slots.cycle(self.foresee_first(event))
    }

    #[inline]
    fn begins(&self, now: u64, machinery: &Machinery, event: &Event) -> u64 {
        if !(event.kind.is_access() || event.kind.wants_latch()) {
            return now;
        }
        let mut ready = self.issues(event);
        // Bus and handlers it leaves to those that ask before it graduates, but lines it has at once.
        let has_its_turn = match event.kind {
            Kind::Store => !self.stores_stay_open,
            kind => kind == Kind::StoreNta,
        };
        if self.others_see_lines && has_its_turn {
            let room = self.store_buffer.free().cycle;
            // It is translated in a cycle, and graduates behind that.
            ready = (ready + 1).max(self.foresee_graduation(event)).max(room);
        }
        // A latch is taken when its exchange could ask.
        if matches!(event.kind, Kind::Exchange | Kind::Latch | Kind::ShareLatch) {
            ready = self.exchange_begins(ready, event);
        }
        machinery.handler_free(ready)
    }
}

impl OutOfOrder {
    /// The cycle in which the next event could issue, as far as it is known when its operand is there.
    #[inline]
    pub(super) fn issues(&self, event: &Event) -> u64 {
        // It asks when its last instruction has been dispatched.
        let last = self.foresee_first(event) + event.own_instructions().max(1) - 1;
        (self.slots.cycle(last) + 1).max(self.known_operand(event))
    }

    /// The cycle in which the exchange of an event, whose operands are there in cycle `ready`, would ask for its line.
    fn exchange_begins(&self, mut ready: u64, event: &Event) -> u64 {
        if self.exchange.alone {
            let written = self.store_buffer.empty();
            ready = (ready.max(self.foresee_graduation(event))).max(written.cycle);
        }
        ready + u64::from(self.exchange.further_cycles)
    }

    /// The cycle in which the first of the next event's own instructions would graduate at the earliest: behind the plain ones before it.
    #[inline]
    fn foresee_graduation(&self, event: &Event) -> u64 {
        let behind = self.slots.graduates(self.slots.instructions());
        self.slots.cycle(behind + u64::from(event.instructions))
    }

    /// The slot in which the first of the next event's own instructions would be dispatched.
    #[inline]
    fn foresee_first(&self, event: &Event) -> u64 {
        let plain = u64::from(event.instructions);
        let own = event.own_instructions();
        let next = self.slots.dispatched();
        if self.slots.have_room(plain + own) {
            return next + plain;
        }
        if plain > self.slots.largest_group() {
            return self.foresee_groups(plain, own);
        }
        let instructions = plain + own;
        let last = self.slots.instructions() + instructions;
        let left = self.reorder_buffer.foresee_left_before(last);
        next.max(self.first_slot_behind(left, instructions)) + plain
    }

    /// The same where the plain instructions are run in groups, as by [`OutOfOrder::start`].
    #[inline(never)]
    fn foresee_groups(&self, mut plain: u64, own: u64) -> u64 {
        let group = self.slots.largest_group();
        let mut slots = self.slots.clone();
        let mut graduated = Vec::new();
        while plain > group {
            self.foresee_entries(&mut slots, group, &graduated);
            slots.dispatch(group);
            let last = slots.instructions();
            if slots.execute(group, 0) {
                slots.graduate_from(last, slots.executed(last, 0));
            }
            graduated.push(slots.graduates(last));
            plain -= group;
        }
        self.foresee_entries(&mut slots, plain + own, &graduated);
        slots.dispatched() + plain
    }

    /// Dispatches nothing before the reorder buffer would have entries for so many instructions, when groups of plain ones before
    /// them, that have not been run, have graduated up to these slots.
    fn foresee_entries(&self, slots: &mut Slots, instructions: u64, graduated: &[u64]) {
        let last = slots.instructions() + instructions;
        let leave = last.saturating_sub(self.reorder_buffer.entries);
        let foreseen = leave.saturating_sub(self.slots.instructions());
        let group = slots.largest_group();
        let groups = ((foreseen / group) as usize).min(graduated.len());
        let left = match groups.checked_sub(1) {
            Some(number) => graduated[number] + (foreseen - groups as u64 * group),
            None => self.reorder_buffer.foresee_left_before(last),
        };
        slots.dispatch_from(self.first_slot_behind(left, instructions));
    }
}
