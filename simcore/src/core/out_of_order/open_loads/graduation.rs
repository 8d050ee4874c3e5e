//! Graduation behind open loads: in the order of the program, as far as it is known when.

use super::{Graduation, OutOfOrder, Store, WaitsFor};
use crate::core::machinery::Machinery;
use crate::core::timing::Timing;
use crate::hierarchy::{Hierarchy, Served};
use crate::memory::is_pending;
use crate::miss_end::MissEnd;

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

    /// Finds out which lines have come by cycle `now`, before which nobody asks for anything any more. The memory forgets these.
    pub(super) fn learn_lines(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        now: u64,
    ) {
        caches.find_lines(now);
        self.learn_known_lines(machinery, caches);
    }

    /// Finds out which lines are known to have come by now.
    pub(super) fn learn_known_lines(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy) {
        let learned = caches.memory.learned();
        if self.open_loads.lines == 0 || self.open_loads.seen == learned {
            return;
        }
        self.open_loads.seen = learned;
        for place in 0..self.open_loads.queue.len() {
            let Graduation {
                number, waits_for, ..
            } = self.open_loads.queue[place];
            if let WaitsFor::Line { timing, .. } = waits_for
                && !is_pending(caches.memory.known(timing.complete))
            {
                self.learn_result(caches, number);
            }
        }
        self.graduate_known(machinery, caches);
    }

    /// Graduates up to the first that waits for what is open.
    pub(super) fn graduate_known(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy) {
        while let Some(first) = self.open_loads.queue.front()
            && !first.waits_for.is_open()
        {
            self.graduate_first(machinery, caches);
        }
    }

    pub(super) fn graduate_first(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy) {
        if let Some(first) = self.open_loads.queue.front()
            && first.waits_for.is_open()
        {
            self.learn_result(caches, first.number);
        }
        let Some(first) = self.open_loads.queue.pop_front() else {
            return;
        };
        let position = self.slots.graduates(first.before);
        match first.waits_for {
            WaitsFor::Units { plain, slot } if slot > position => {
                let front_end = (first.restarted, first.fetched);
                let mut account = machinery.ledger.at(first.place);
                self.charge_front_end(&mut account, front_end, plain, position..slot);
                self.slots.graduate_from(first.before, slot);
            }
            WaitsFor::End(timing) => self.graduate_at(machinery, &first, timing),
            WaitsFor::Store(store) => {
                self.graduate_at(machinery, &first, store.timing);
                self.enter_store_buffer(machinery, caches, &first, store);
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

    /// A store that graduates enters the store buffer when that has room.
    fn enter_store_buffer(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        first: &Graduation,
        store: Store,
    ) {
        let (start, place) = (store.start, first.place);
        self.wait_for_store_buffer(machinery, caches, start, 0, place);
        let written = Served {
            complete: self.slots.graduation(first.before) + store.latency,
            level: 0,
        };
        self.store_buffer.put(written, MissEnd::default(), None);
        for word in 1..u64::from(store.event.words) {
            self.wait_for_store_buffer(machinery, caches, start, word, place);
            self.store_buffer.put_word(written.level);
        }
    }
}
