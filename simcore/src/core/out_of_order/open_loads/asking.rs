//! Accesses that ask for lines when their times have come and there are miss handlers: loads, prefetches, and stores that have graduated.

use super::{OutOfOrder, Start, WaitsFor};
use crate::clock;
use crate::core::machinery::Machinery;
use crate::core::timing::Timing;
use crate::hierarchy::{Cycles, Hierarchy, Purpose, When};
use crate::memory::is_pending;
use traces::{Event, Kind};

/// An access that has not asked for its line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// Number of its event's result.
    number: usize,
    event: Event,
    /// When it asks if there is a miss handler.
    time: u64,
    dispatched: u64,
    /// The place of the ledger that it is counted for.
    place: u32,
    /// A store's in the store buffer. Others have none.
    entry: Option<usize>,
}

/// Those in the order in which they ask. Who wants a miss handler first has it first; of those that want one together, the first in the program.
#[derive(Clone, Debug, Default)]
pub(super) struct Asking {
    /// The first is the last.
    accesses: Vec<Access>,
}

impl Asking {
    fn push(&mut self, access: Access) {
        let order = |one: &Access| (one.time, one.number);
        let behind = |other: &Access| order(other) > order(&access);
        let place = self.accesses.partition_point(behind);
        self.accesses.insert(place, access);
    }

    /// The first, if it asks by cycle `now`.
    fn first_by(&self, now: u64) -> Option<&Access> {
        self.accesses.last().filter(|first| first.time <= now)
    }

    /// When the first asks.
    pub(super) fn first(&self) -> Option<u64> {
        self.accesses.last().map(|first| first.time)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.accesses.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.accesses.len()
    }
}

impl OutOfOrder {
    /// Loads, to write at the same time if it is an exchange, or prefetches. An access has the number of its result, and is counted for a place of
    /// the ledger.
    pub(super) fn access(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        (event, number, place): (&Event, usize, u32),
        start: Start,
    ) -> WaitsFor {
        let is_prefetch = matches!(event.kind, Kind::Prefetch | Kind::PrefetchNta);
        let words = if is_prefetch { 1 } else { event.words };
        let mut issue = self.ports(words, start.ready);
        if event.kind == Kind::Exchange {
            issue += u64::from(self.exchange.further_cycles);
        }
        let access = Access {
            number,
            event: *event,
            time: issue,
            dispatched: start.dispatched,
            place,
            entry: None,
        };
        if !is_prefetch && !machinery.may_miss(caches, event) {
            return self.load_line(machinery, caches, &access);
        }
        self.open_loads.asking.push(access);
        if is_prefetch {
            WaitsFor::End(Timing::of_units(issue, issue + 1))
        } else {
            WaitsFor::Handler
        }
    }

    /// A store that has its place in the store buffer asks for its line from cycle `graduated` on.
    pub(super) fn store_asks(
        &mut self,
        (event, number, place): (Event, usize, u32),
        dispatched: u64,
        graduated: u64,
    ) {
        self.open_loads.asking.push(Access {
            number,
            event,
            time: graduated,
            dispatched,
            place,
            entry: Some(self.store_buffer.put_unasked()),
        });
    }

    /// Asks for lines up to cycle `now`, as far as it is known when there are miss handlers.
    pub(super) fn ask(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, now: u64) {
        while self.open_loads.lacks_handler.is_none() {
            let Some(&one) = self.open_loads.asking.first_by(now) else {
                return;
            };
            if machinery.may_miss(caches, &one.event) {
                self.open_loads.lacks_handler = machinery.handler_unknown_until(caches, one.time);
                if self.open_loads.lacks_handler.is_some() {
                    return;
                }
            }
            self.open_loads.asking.accesses.pop();
            self.ask_for(machinery, caches, &one);
        }
    }

    /// Asks for all lines, and has the memory simulated until there are miss handlers for them.
    pub(super) fn ask_for_all(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy) {
        loop {
            self.ask(machinery, caches, u64::MAX);
            let Some(until) = self.open_loads.lacks_handler.take() else {
                return;
            };
            caches.memory.advance(until.min(clock::END));
        }
    }

    fn ask_for(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, one: &Access) {
        let Access {
            number,
            event,
            time,
            dispatched,
            place,
            entry,
        } = *one;
        if let Some(entry) = entry {
            let served = machinery.on_behalf(place, |machinery| {
                machinery.write_open(caches, &event, When::ahead(time, dispatched))
            });
            let behind = machinery.handled_behind(served);
            let earliest = time + caches.first_latency(&machinery.port);
            let entry = (entry, event.words);
            self.store_buffer.answer(entry, served, behind, earliest);
        } else if matches!(event.kind, Kind::Prefetch | Kind::PrefetchNta) {
            machinery.on_behalf(place, |machinery| {
                machinery.prefetch::<Cycles>(caches, &event, time, dispatched)
            });
        } else {
            let waits_for = self.load_line(machinery, caches, one);
            self.open_loads.of_result(number).waits_for = waits_for;
            if let WaitsFor::End(timing) = waits_for {
                self.set_result(number, timing.complete);
                // Nothing needs the latest yet.
                self.open_loads.answered |= number + 1 < self.results.number();
            }
        }
    }

    /// Loads, and finds out when the line comes if that is known.
    fn load_line(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        load: &Access,
    ) -> WaitsFor {
        let Access {
            event,
            time,
            dispatched,
            ..
        } = *load;
        let purpose = if event.kind == Kind::Exchange {
            Purpose::Store
        } else {
            Purpose::Load
        };
        let timing = machinery.on_behalf(load.place, |machinery| {
            machinery.load_open(caches, &event, time, dispatched, purpose)
        });
        if !is_pending(timing.complete) {
            return WaitsFor::End(timing);
        }
        let earliest = timing.translated + caches.first_latency(&machinery.port);
        let came = caches.memory.known(timing.complete);
        if !is_pending(came) {
            return WaitsFor::End(timing.complete_at(came.max(earliest)));
        }
        self.open_loads.lines.push(timing.complete);
        WaitsFor::Line {
            timing,
            earliest,
            settled: caches.settled_by(dispatched),
        }
    }
}
