//! Loads that stay open: nobody knows yet when their lines come, and the core goes on behind them.
//!
//! A simulated DRAM says when a line comes once it has been simulated until then, and has to have heard by that time of all that asks for
//! lines before. So a load is not waited for until something needs its time: an address that is computed from it, a branch that was
//! predicted wrongly, the reorder buffer that is full behind it, or what happens when all before has graduated, as in stores. Until then
//! events behind it are dispatched, issued and ask the caches as ever. What comes after that waits in a queue: results that are computed
//! from it, the graduation of all, and who pays for the slots that it leaves empty.

mod graduation;
mod waits;

use super::{OutOfOrder, Start};
use crate::core::Turn;
use crate::core::machinery::Machinery;
use crate::core::timing::Timing;
use crate::core::turn::Closed;
use crate::hierarchy::{Cycles, Hierarchy, Purpose, When};
use crate::memory::{PENDING, is_pending};
use std::collections::VecDeque;
use traces::{Event, Kind};

/// When a result is there of which only the queue knows what it waits for.
const OPEN: u64 = PENDING;

/// Graduation of instructions that waits for that of others.
#[derive(Clone, Copy, Debug)]
struct Graduation {
    /// Number of their event's result.
    number: usize,
    /// Instructions that graduate before.
    before: u64,
    /// All instructions up to there.
    up_to: u64,
    /// Whether these leave the reorder buffer with it.
    leaves: bool,
    waits_for: WaitsFor,
    /// The place of the ledger that pays, and when the front end had restarted and had its code.
    place: u32,
    restarted: u64,
    fetched: u64,
}

/// What instructions wait for before they graduate.
#[derive(Clone, Copy, Debug)]
enum WaitsFor {
    /// So many plain ones for their integer units, until a slot.
    Units { plain: u64, slot: u64 },
    /// A load for its line, whose time is pending, but until cycle `earliest` in any case: it may turn out to have been there. When it was looked
    /// up, all lines that come by cycle `settled` were known.
    Line {
        timing: Timing,
        earliest: u64,
        settled: u64,
    },
    /// An operation, or a branch that was predicted right, for an open result.
    Operand(Event, Start),
    /// An event for its end.
    End(Timing),
    /// A store for its operand, which may be open, and for room in the store buffer.
    Store(Store),
}

/// A store whose line and translation are there, which is written behind open loads.
#[derive(Clone, Copy, Debug)]
struct Store {
    event: Event,
    start: Start,
    /// By an operand that is open this is too early.
    timing: Timing,
    needs_open: bool,
    /// Cycles from when it graduates until it is written.
    latency: u64,
}

impl WaitsFor {
    fn is_open(self) -> bool {
        match self {
            Self::Line { .. } | Self::Operand(..) => true,
            Self::Store(store) => store.needs_open,
            Self::Units { .. } | Self::End(_) => false,
        }
    }
}

/// Graduations from that of the first open load on, in the order of the program.
#[derive(Clone, Debug)]
pub(super) struct OpenLoads {
    queue: VecDeque<Graduation>,
    /// Loads among them whose lines are on their way.
    lines: usize,
    /// When results are there that were open, with their numbers. What waits for one may be as many events behind it as the reorder buffer
    /// has entries, and as many others behind that when it is asked for: the core itself need not remember the result by then.
    learned: Box<[(usize, u64)]>,
    /// Pending times that the memory had learned when the queue was looked through last.
    seen: u64,
    /// Number of the branch, predicted wrongly, that nothing is dispatched behind before its operand is known: others have their turns meanwhile.
    unresolved: Option<usize>,
    /// Whether the next event waits until it is known when a line comes.
    waits: bool,
}

impl OpenLoads {
    /// None, of a reorder buffer with so many entries.
    pub(super) fn new(entries: u32) -> Self {
        let nothing = (usize::MAX, 0);
        Self {
            queue: VecDeque::new(),
            lines: 0,
            seen: 0,
            unresolved: None,
            waits: false,
            learned: vec![nothing; 2 * entries as usize + 1].into_boxed_slice(),
        }
    }

    fn keep(&mut self, number: usize, complete: u64) {
        let place = number % self.learned.len();
        self.learned[place] = (number, complete);
    }

    /// When a result is there that was open; nothing if it still is.
    fn learned(&self, number: usize) -> Option<u64> {
        let (learned, complete) = self.learned[number % self.learned.len()];
        (learned == number).then_some(complete)
    }

    pub(super) fn are_none(&self) -> bool {
        self.queue.is_empty()
    }

    /// The place in the queue of what the event of a result graduates with, which has not.
    fn place_of(&self, number: usize) -> usize {
        // Plain instructions before an event graduate by themselves.
        let behind = self
            .queue
            .partition_point(|graduation| graduation.number <= number);
        behind - 1
    }

    fn of_result(&mut self, number: usize) -> &mut Graduation {
        let place = self.place_of(number);
        &mut self.queue[place]
    }
}

impl OutOfOrder {
    /// The same as [`OutOfOrder::run`] where loads may stay open. Where there are other cores, it ends, too, before the first event that has to
    /// wait until it is known when a line comes.
    #[inline(never)]
    pub(super) fn run_open(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        events: &[Event],
        turn: &impl Turn,
    ) -> usize {
        let has_others = caches.are_of_several();
        let mut taken = 0;
        while let Some(event) = events.get(taken) {
            if has_others
                && (self
                    .waits_for_line(machinery, caches, Some(event))
                    .is_some()
                    || !turn.includes(self, machinery, caches, event))
            {
                return taken;
            }
            match event.kind {
                Kind::Load => self.load_open(machinery, caches, event, Purpose::Load),
                Kind::Exchange if self.may_stay_open(event) => {
                    self.load_open(machinery, caches, event, Purpose::Store);
                }
                kind if self.open_loads.are_none() && kind.is_instruction() => {
                    // Nothing is open before the next load.
                    let others = &events[taken..];
                    let loads = others.iter().position(|other| self.may_stay_open(other));
                    let others = match loads {
                        _ if has_others => &others[..1],
                        None => others,
                        Some(load) => &others[..load],
                    };
                    let run = self.run(machinery, caches, others, &Closed);
                    taken += run;
                    if run < others.len() {
                        return taken;
                    }
                    continue;
                }
                Kind::Branch => self.branch_behind_open(machinery, caches, event),
                Kind::Op => self.op_behind_open(machinery, caches, event),
                Kind::Prefetch | Kind::PrefetchNta => {
                    self.prefetch_behind_open(machinery, caches, event);
                }
                Kind::Store if self.has_at_once(machinery, caches, event) => {
                    self.store_behind_open(machinery, caches, event);
                }
                kind => {
                    self.close_loads(machinery, caches);
                    if !kind.is_instruction() {
                        return taken;
                    }
                    continue;
                }
            }
            taken += 1;
        }
        taken
    }

    /// Whether the core goes on behind a load, or an exchange, before it is known when its line comes.
    fn may_stay_open(&self, event: &Event) -> bool {
        event.kind == Kind::Load || event.kind == Kind::Exchange && !self.exchange.alone
    }

    /// Waits for all open loads, and for what graduates behind them.
    pub(crate) fn close_loads(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy) {
        self.resolve_branch(caches);
        while !self.open_loads.are_none() {
            self.graduate_first(machinery, caches);
        }
    }

    /// Loads, to write at the same time if it is an exchange.
    fn load_open(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
        purpose: Purpose,
    ) {
        let start = self.start_behind_open(machinery, caches, event);
        let start = self.await_operand(caches, event, start);
        machinery.touch(event, start.before);
        let mut issue = self.ports(event.words, start.ready);
        if purpose == Purpose::Store {
            issue += u64::from(self.exchange.further_cycles);
        }
        self.learn_lines(machinery, caches, start.dispatched);
        let timing = machinery.load_open(caches, event, issue, start.dispatched, purpose);
        let waits_for = if is_pending(timing.complete) {
            self.open_loads.lines += 1;
            WaitsFor::Line {
                timing,
                earliest: timing.translated + caches.first_latency(&machinery.port),
                settled: caches.settled_by(start.dispatched),
            }
        } else {
            WaitsFor::End(timing)
        };
        self.end_behind_open(machinery, caches, (event, start), waits_for);
    }

    fn branch_behind_open(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
    ) {
        let start = self.start_behind_open(machinery, caches, event);
        if machinery.predict(event) {
            self.compute_behind_open(machinery, caches, event, start);
            return;
        }
        if caches.are_of_several() && self.has_unknown_operand(&caches.memory, event) {
            self.open_loads.unresolved = Some(self.results.number());
            self.compute_behind_open(machinery, caches, event, start);
            return;
        }
        let start = self.await_operand(caches, event, start);
        let timing = self.compute(event, start);
        self.end_behind_open(machinery, caches, (event, start), WaitsFor::End(timing));
        self.restart(timing.complete + self.mispredict_penalty);
    }

    fn op_behind_open(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, event: &Event) {
        let start = self.start_behind_open(machinery, caches, event);
        self.compute_behind_open(machinery, caches, event, start);
    }

    fn prefetch_behind_open(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
    ) {
        let start = self.start_behind_open(machinery, caches, event);
        let start = self.await_operand(caches, event, start);
        machinery.touch(event, start.before);
        let issue = self.memory_ports.start(start.ready);
        self.learn_lines(machinery, caches, start.dispatched);
        machinery.prefetch::<Cycles>(caches, event, issue, start.dispatched);
        let timing = Timing::of_units(issue, issue + 1);
        self.end_behind_open(machinery, caches, (event, start), WaitsFor::End(timing));
    }

    /// Whether a store finds its line, and its translation, at once.
    fn has_at_once(
        &self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
    ) -> bool {
        let (address, size) = (event.address, u64::from(event.size));
        let now = self.slots.next_dispatch();
        caches.find_lines(now);
        caches.has_at_once(&machinery.port, (address, size), now) && machinery.tlb_holds(event)
    }

    /// What the store does to its line comes in the order of the program; its place in the store buffer it has when it graduates.
    fn store_behind_open(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
    ) {
        let start = self.start_behind_open(machinery, caches, event);
        machinery.touch(event, start.before);
        let issue = self.ports(event.words, start.ready);
        self.learn_lines(machinery, caches, start.dispatched);
        let timing = machinery.translate_store(caches, event, issue, start.dispatched);
        let when = When::behind_earlier(timing.complete, start.dispatched);
        let served = machinery.write(caches, event, when);
        let store = Store {
            event: *event,
            start,
            timing,
            needs_open: is_pending(self.operand(event)),
            latency: served.complete - timing.complete,
        };
        self.end_behind_open(machinery, caches, (event, start), WaitsFor::Store(store));
    }

    /// Computes what an operation or a branch does when its operand is there, which need not be known.
    fn compute_behind_open(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
        start: Start,
    ) {
        let waits_for = if is_pending(self.operand(event)) {
            WaitsFor::Operand(*event, start)
        } else {
            WaitsFor::End(self.compute(event, start))
        };
        self.end_behind_open(machinery, caches, (event, start), waits_for);
    }

    fn compute(&mut self, event: &Event, start: Start) -> Timing {
        match event.kind {
            Kind::Branch => self.resolve(start),
            _ => self.operate(event, start),
        }
    }

    /// The same as [`OutOfOrder::start`] behind open loads, without the wait for an operand that is open.
    fn start_behind_open(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
    ) -> Start {
        let (mut plain, own) = (u64::from(event.instructions), event.own_instructions());
        let group = self.slots.largest_group();
        while plain > group {
            self.enter_behind_open(machinery, caches, group);
            self.slots.dispatch(group);
            self.execute_behind_open(machinery, (group, 0), self.slots.instructions());
            plain -= group;
        }
        self.enter_behind_open(machinery, caches, plain + own);
        let dispatched = self.slots.dispatch(plain + own);
        let before = self.slots.instructions() - own;
        if plain == 0 {
            self.slots.leave_idle(own);
        } else {
            self.execute_behind_open(machinery, (plain, own), before);
        }
        Start {
            before,
            dispatched,
            ready: (dispatched + 1).max(self.known_operand(event)),
        }
    }

    /// The same start when the operand is there.
    fn await_operand(&mut self, caches: &mut Hierarchy, event: &Event, start: Start) -> Start {
        if !is_pending(self.operand(event)) {
            return start;
        }
        self.learn_result(caches, self.results.number() - event.dep as usize);
        Start {
            ready: start.ready.max(self.operand(event)),
            ..start
        }
    }

    /// Finds out when an open result is there.
    fn learn_result(&mut self, caches: &mut Hierarchy, number: usize) {
        let timing = match self.open_loads.of_result(number).waits_for {
            WaitsFor::Line {
                timing, earliest, ..
            } => {
                self.open_loads.lines -= 1;
                Timing {
                    complete: caches.memory.wait(timing.complete).max(earliest),
                    ..timing
                }
            }
            WaitsFor::Operand(event, start) => {
                let ready = self.learn_operand(caches, number, &event).max(start.ready);
                self.compute(&event, Start { ready, ..start })
            }
            WaitsFor::Store(mut store) => {
                let ready = self.learn_operand(caches, number, &store.event);
                store.timing = store.timing.later(ready.saturating_sub(store.start.ready));
                store.needs_open = false;
                self.open_loads.of_result(number).waits_for = WaitsFor::Store(store);
                self.set_result(number, store.timing.complete);
                return;
            }
            WaitsFor::Units { .. } | WaitsFor::End(_) => return,
        };
        self.open_loads.of_result(number).waits_for = WaitsFor::End(timing);
        self.set_result(number, timing.complete);
    }

    /// An open result is there in cycle `complete`. A branch has none.
    fn set_result(&mut self, number: usize, complete: u64) {
        self.open_loads.keep(number, complete);
        if is_pending(self.results.of(number)) {
            self.results.set(number, complete);
        }
    }

    /// Finds out when the operand of an event is there, whose result has this number.
    fn learn_operand(&mut self, caches: &mut Hierarchy, number: usize, event: &Event) -> u64 {
        let operand = number - event.dep as usize;
        if self.open_loads.learned(operand).is_none() {
            self.learn_result(caches, operand);
        }
        let ready = self.open_loads.learned(operand);
        ready.expect("it was open, and is known now") + u64::from(event.chain)
    }

    /// Waits for those whose entries of the reorder buffer so many instructions take over, and dispatches nothing before.
    fn enter_behind_open(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        instructions: u64,
    ) {
        let last = self.slots.instructions() + instructions;
        let taken_over = last.saturating_sub(self.reorder_buffer.entries);
        while let Some(first) = self.open_loads.queue.front()
            && first.up_to <= taken_over
        {
            self.graduate_first(machinery, caches);
        }
        self.wait_for_entries(instructions);
    }

    /// Executes plain instructions that were just dispatched, with `own` of an event behind them, the last being number `before`.
    fn execute_behind_open(
        &mut self,
        machinery: &Machinery,
        (plain, own): (u64, u64),
        before: u64,
    ) {
        self.slots.execute(plain, own);
        let waits_for = WaitsFor::Units {
            plain,
            slot: self.slots.executed(before, own),
        };
        self.graduate_later(machinery, before, own == 0, waits_for);
    }

    /// An event goes on to graduate when those before it have, which may be at once.
    fn end_behind_open(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        (event, start): (&Event, Start),
        waits_for: WaitsFor,
    ) {
        self.graduate_later(machinery, start.before, true, waits_for);
        match (event.kind, waits_for) {
            (Kind::Branch | Kind::Prefetch | Kind::PrefetchNta, _) => self.results.skip(),
            (_, WaitsFor::End(timing)) => self.results.push(timing.complete),
            (_, WaitsFor::Store(store)) if !store.needs_open => {
                self.results.push(store.timing.complete);
            }
            _ => self.results.push(OPEN),
        }
        self.graduate_known(machinery, caches);
    }
}
