//! Waits for lines where there are other cores: these have their turns until it is known when the line comes.
//!
//! A core alone has the memory simulated until it knows what it needs. Beside others that would be too far: they may have asked for something
//! meanwhile. So whatever the next event needs is looked up before it begins, and it does not begin before that is known.

use super::{Graduation, OutOfOrder, WaitsFor};
use crate::core::machinery::Machinery;
use crate::hierarchy::Hierarchy;
use crate::memory::{Memory, PENDING, is_pending};
use traces::{Event, Kind};

impl OutOfOrder {
    /// Whether the next event, if there is one, has to wait until it is known when a line comes: gives the cycle until which it may have to,
    /// [`PENDING`] or later if that is unknown, too.
    pub(crate) fn waits_for_line(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: Option<&Event>,
    ) -> Option<u64> {
        let until = if self.knows_lines(machinery, caches, event) {
            event.and_then(|event| self.waits_for_handler(machinery, caches, event))
        } else {
            Some(PENDING)
        };
        self.open_loads.waits = until.is_some();
        until
    }

    /// Whether the core has stopped before an event that waits.
    pub(crate) fn is_waiting(&self) -> bool {
        self.open_loads.waits
    }

    /// A cycle that no line comes before whose load is open.
    pub(crate) fn asks_from(&self, now: u64) -> u64 {
        let first = self
            .open_loads
            .queue
            .iter()
            .find_map(|one| match one.waits_for {
                WaitsFor::Line { settled, .. } => Some(settled),
                _ => None,
            });
        first.map_or(now, |settled| settled.min(now))
    }

    /// Whether all is known that the next event needs to know when it begins, or the program when it ends. It is learned then.
    fn knows_lines(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: Option<&Event>,
    ) -> bool {
        self.learn_known_lines(machinery, caches);
        if let Some(branch) = self.open_loads.unresolved {
            if !self.is_known(&caches.memory, branch) {
                return false;
            }
            self.resolve_branch(caches);
        }
        let Some(event) = event else {
            return self.all_ends_known(machinery, caches);
        };
        let last =
            self.slots.instructions() + u64::from(event.instructions) + event.own_instructions();
        let taken_over = last.saturating_sub(self.reorder_buffer.entries);
        if !self.graduate_known_up_to(machinery, caches, taken_over) {
            return false;
        }
        match event.kind {
            Kind::Exchange if self.exchange.alone => self.all_ends_known(machinery, caches),
            Kind::Load | Kind::Exchange | Kind::Prefetch | Kind::PrefetchNta => {
                if self.has_unknown_operand(&caches.memory, event) {
                    return false;
                }
                if is_pending(self.operand(event)) {
                    self.learn_result(caches, self.results.number() - event.dep as usize);
                }
                true
            }
            Kind::Branch | Kind::Op => true,
            Kind::Store
                if !self.open_loads.are_none() && self.has_at_once(machinery, caches, event) =>
            {
                true
            }
            Kind::Store | Kind::StoreNta => {
                self.graduate_known_up_to(machinery, caches, u64::MAX)
                    && self.knows_room(&mut caches.memory, event)
            }
            _ => self.all_ends_known(machinery, caches),
        }
    }

    /// Graduates all, if it is known when, and says whether that is known of all stores, too.
    fn all_ends_known(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy) -> bool {
        let memory = &caches.memory;
        let knows = |pending| !is_pending(memory.known(pending));
        self.store_buffer.all_pending().all(knows)
            && self.graduate_known_up_to(machinery, caches, u64::MAX)
    }

    /// Whether it is known when the store buffer has room for a store.
    fn knows_room(&mut self, memory: &mut Memory, event: &Event) -> bool {
        let knows = self.knows_entries(memory, event);
        if knows {
            self.store_buffer
                .learn_oldest(|pending| memory.wait(pending));
        }
        knows
    }

    fn knows_entries(&self, memory: &Memory, store: &Event) -> bool {
        let words = usize::from(store.words.max(1));
        let knows = |pending| !is_pending(memory.known(pending));
        self.store_buffer.pending(words).all(knows)
    }

    /// Graduates instructions up to one, as far as it is known when, and says whether that was all.
    fn graduate_known_up_to(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        last: u64,
    ) -> bool {
        while let Some(first) = self.open_loads.queue.front()
            && first.up_to <= last
        {
            if !self.ends_known(&caches.memory, first) {
                return false;
            }
            self.graduate_first(machinery, caches);
        }
        true
    }

    /// Whether it is not known, and cannot be computed, when the operand of the next event is there.
    pub(super) fn has_unknown_operand(&self, memory: &Memory, event: &Event) -> bool {
        is_pending(self.operand(event))
            && !self.is_known(memory, self.results.number() - event.dep as usize)
    }

    /// Whether it is known when a result is there that was open, or can be computed.
    fn is_known(&self, memory: &Memory, number: usize) -> bool {
        let open = &self.open_loads;
        open.learned(number).is_some()
            || self.ends_known(memory, &open.queue[open.place_of(number)])
    }

    fn ends_known(&self, memory: &Memory, graduation: &Graduation) -> bool {
        let knows_operand = |event: &Event| {
            let operand = graduation.number - event.dep as usize;
            self.is_known(memory, operand)
        };
        match graduation.waits_for {
            WaitsFor::Line { timing, .. } => !is_pending(memory.known(timing.complete)),
            WaitsFor::Operand(event, _) => knows_operand(&event),
            WaitsFor::Store(store) => {
                (!store.needs_open || knows_operand(&store.event))
                    && self.knows_entries(memory, &store.event)
            }
            WaitsFor::Units { .. } | WaitsFor::End(_) => true,
        }
    }

    /// The front end restarts behind the branch that was predicted wrongly, if there is one.
    pub(super) fn resolve_branch(&mut self, caches: &mut Hierarchy) {
        let Some(branch) = self.open_loads.unresolved.take() else {
            return;
        };
        if self.open_loads.learned(branch).is_none() {
            self.learn_result(caches, branch);
        }
        let resolved = self.open_loads.learned(branch);
        let resolved = resolved.expect("it has been learned");
        self.restart(resolved + self.mispredict_penalty);
    }

    /// Until which cycle it may be unknown whether there is a miss handler for an event.
    fn waits_for_handler(
        &self,
        machinery: &mut Machinery,
        caches: &Hierarchy,
        event: &Event,
    ) -> Option<u64> {
        if !event.kind.is_access() {
            return None;
        }
        machinery.handler_unknown_until(caches, event, self.issues(event))
    }
}
