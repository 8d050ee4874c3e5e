//! What goes on when lines have come: results, accesses to addresses that are computed from them, and graduation.

use super::{OpenLoads, OutOfOrder, Start, WaitsFor};
use crate::clock;
use crate::core::machinery::Machinery;
use crate::hierarchy::Hierarchy;
use crate::memory::{Memory, is_pending};
use traces::Event;

impl OpenLoads {
    /// When something may ask for a line next, if none comes before.
    pub(super) fn next_ask(&self) -> u64 {
        let next = self.lacks_handler.or_else(|| self.asking.first());
        next.unwrap_or(u64::MAX)
    }

    /// Whether something is known that was not when this was asked last: then it may be known when there is a miss handler.
    fn hear(&mut self, memory: &Memory) -> bool {
        let reached = |until| memory.has_reached(until);
        let has_news = self.seen != memory.learned() || self.lacks_handler.is_some_and(reached);
        if has_news {
            self.seen = memory.learned();
            self.lacks_handler = None;
        }
        has_news
    }

    /// Whether something in the queue may go on: a load has had its line at once, or one of the lines has come.
    fn has_answers(&mut self, memory: &Memory) -> bool {
        let under_way = self.lines.len();
        self.lines.retain(|&line| is_pending(memory.known(line)));
        std::mem::take(&mut self.answered) || self.lines.len() < under_way
    }
}

impl OutOfOrder {
    /// Has all go on that waited for lines which are known to have come by now, and asks for lines up to cycle `now`: nothing later in the program
    /// asks for any before.
    pub(crate) fn go_on(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, now: u64) {
        if self.open_loads.are_closed() {
            return;
        }
        loop {
            if self.open_loads.hear(&caches.memory) | self.open_loads.answered
                && self.open_loads.has_answers(&caches.memory)
            {
                for place in 0..self.open_loads.queue.len() {
                    self.go_on_at(machinery, caches, place);
                }
            }
            self.ask(machinery, caches, now);
            let asking = self.open_loads.asking.len();
            self.graduate_known(machinery, caches);
            // Stores that have graduated ask, and what has gone on may have had the memory simulated further.
            if self.open_loads.asking.len() == asking
                && !self.open_loads.answered
                && self.open_loads.seen == caches.memory.learned()
            {
                return;
            }
        }
    }

    /// The same up to cycle `now`, as far as other cores ask for nothing before.
    pub(super) fn go_on_until(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        now: u64,
    ) {
        let settled = caches.settled_by(now);
        while self.step(machinery, caches, settled) {}
        self.go_on(machinery, caches, now);
    }

    /// Has the memory simulated until another line comes, or something asks for one, and that goes on: what asks for lines does so in the order of
    /// time. Says whether there was any such thing by cycle `limit`.
    fn step(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, limit: u64) -> bool {
        let asks = self.open_loads.next_ask();
        if caches.memory.advance(asks.min(limit)) {
            self.go_on(machinery, caches, 0);
            return true;
        }
        if asks <= limit {
            self.go_on(machinery, caches, asks);
        }
        asks <= limit
    }

    /// The same of what has this place in the queue. What it needs comes before it.
    fn go_on_at(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, place: usize) {
        let graduation = self.open_loads.queue[place];
        let number = graduation.number;
        let waits_for = match graduation.waits_for {
            WaitsFor::Line {
                timing, earliest, ..
            } => {
                let came = caches.memory.known(timing.complete);
                if is_pending(came) {
                    return;
                }
                WaitsFor::End(timing.complete_at(came.max(earliest)))
            }
            WaitsFor::Operand(event, start) => {
                let Some(start) = self.learned_start(number, &event, start) else {
                    return;
                };
                if event.kind.is_access() {
                    self.open_loads.later -= 1;
                    let event = (&event, number, graduation.place);
                    self.access(machinery, caches, event, start)
                } else {
                    WaitsFor::End(self.compute(&event, start))
                }
            }
            WaitsFor::Store(mut store) if store.needs_open => {
                let Some(start) = self.learned_start(number, &store.event, store.start) else {
                    return;
                };
                store.timing = store.timing.later(start.ready - store.start.ready);
                store.needs_open = false;
                self.set_result(number, store.timing.complete);
                WaitsFor::Store(store)
            }
            _ => return,
        };
        self.open_loads.queue[place].waits_for = waits_for;
        if let WaitsFor::End(timing) = waits_for {
            self.set_result(number, timing.complete);
        }
    }

    /// The start of an event, whose result has this number, when its operand is there that was open; nothing if that still is.
    fn learned_start(&self, number: usize, event: &Event, start: Start) -> Option<Start> {
        let operand = self.open_loads.learned(number - event.dep as usize)?;
        Some(Start {
            ready: start.ready.max(operand + u64::from(event.chain)),
            ..start
        })
    }

    /// Waits for an open result.
    pub(super) fn await_result(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        number: usize,
    ) {
        self.wait_while(machinery, caches, |core| {
            core.open_loads.learned(number).is_none()
        });
    }

    /// Waits until all instructions up to one have graduated.
    pub(super) fn await_graduation(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        last: u64,
    ) {
        self.wait_while(machinery, caches, |core| !core.have_graduated(last));
    }

    /// Waits until something is so no longer.
    fn wait_while(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        is_so: impl Fn(&Self) -> bool,
    ) {
        self.go_on(machinery, caches, 0);
        while is_so(self) {
            let goes_on = self.step(machinery, caches, clock::END);
            assert!(goes_on, "a line that was asked for comes");
        }
    }

    /// Whether all instructions up to one have graduated.
    pub(super) fn have_graduated(&self, last: u64) -> bool {
        let first = self.open_loads.queue.front();
        first.is_none_or(|first| first.up_to > last)
    }

    /// The front end restarts behind the branch that was predicted wrongly, whose operand is known.
    pub(super) fn resolve_branch(&mut self) {
        let branch = self.open_loads.unresolved.take();
        let resolved = branch.and_then(|branch| self.open_loads.learned(branch));
        let resolved = resolved.expect("a branch waits, and its operand is known");
        self.restart(resolved + self.mispredict_penalty);
    }
}
