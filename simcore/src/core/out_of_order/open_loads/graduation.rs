//! Graduation behind open loads: in the order of the program, as far as it is known when.

use super::{Graduation, OutOfOrder, Store, WaitsFor};
use crate::core::machinery::Machinery;
use crate::core::timing::Timing;
use crate::hierarchy::Hierarchy;
use crate::memory::Memory;

impl OutOfOrder {
    pub(super) fn graduate_later(
        &mut self,
        machinery: &Machinery,
        before: u64,
        leaves: bool,
        waits_for: WaitsFor,
    ) {
        self.open_loads.queue.push_back(Graduation {
            number: self.results.number(),
            before,
            up_to: self.slots.instructions(),
            leaves,
            waits_for,
            place: machinery.ledger.place(),
            restarted: self.restarted,
            fetched: self.fetched,
        });
    }

    /// Graduates up to the first that waits for what is not known.
    pub(super) fn graduate_known(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy) {
        while let Some(&first) = self.open_loads.queue.front()
            && self.may_graduate(&caches.memory, first.waits_for)
        {
            self.open_loads.queue.pop_front();
            self.graduate(machinery, caches, &first);
        }
    }

    /// Whether it is known when the first in the queue graduates.
    fn may_graduate(&self, memory: &Memory, waits_for: WaitsFor) -> bool {
        match waits_for {
            WaitsFor::Line { .. } | WaitsFor::Operand(..) | WaitsFor::Handler => false,
            WaitsFor::Store(store) => !store.needs_open && self.knows_room(memory, &store.event),
            WaitsFor::Units { .. } | WaitsFor::End(_) => true,
        }
    }

    fn graduate(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, first: &Graduation) {
        let position = self.slots.graduates(first.before);
        match first.waits_for {
            WaitsFor::Units { plain, slot } if slot > position => {
                let front_end = (first.restarted, first.fetched);
                let mut account = machinery.ledger.at(first.place);
                self.charge_front_end(&mut account, front_end, plain, position..slot);
                self.slots.graduate_from(first.before, slot);
            }
            WaitsFor::End(timing) => self.graduate_at(machinery, first, timing),
            WaitsFor::Store(store) => {
                self.open_loads.later -= 1;
                self.graduate_at(machinery, first, store.timing);
                self.enter_store_buffer(machinery, caches, first, store);
            }
            _ => {}
        }
        if first.leaves {
            let left = self.slots.graduates(first.up_to);
            self.reorder_buffer.leave(first.up_to, left);
        }
    }

    /// An event graduates when it has ended.
    fn graduate_at(&mut self, machinery: &mut Machinery, first: &Graduation, timing: Timing) {
        if self.slots.graduates_before(first.before, timing.complete) {
            let front_end = (first.restarted, first.fetched);
            self.wait_at(machinery, first.place, timing, first.before, front_end);
        }
    }

    /// A store that graduates enters the store buffer when that has room. Then it asks for its line.
    fn enter_store_buffer(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        first: &Graduation,
        Store { event, start, .. }: Store,
    ) {
        let place = first.place;
        self.wait_for_store_buffer(machinery, caches, start, 0, place);
        let graduated = self.slots.graduation(first.before);
        self.store_asks((event, first.number, place), start.dispatched, graduated);
        for word in 1..u64::from(event.words) {
            if self.store_buffer.oldest_is_unasked() {
                // It has more words than the store buffer entries.
                self.ask_for_all(machinery, caches);
            }
            self.wait_for_store_buffer(machinery, caches, start, word, place);
            self.store_buffer.put_word(0);
        }
    }
}
