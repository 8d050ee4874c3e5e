//! Loads that stay open: nobody knows yet when their lines come, and the core goes on behind them.
//!
//! A simulated DRAM says when a line comes once it has been simulated until then, and has to have heard by that time of all that asks for
//! lines before. So a load is not waited for until something needs its time: a branch that was predicted wrongly, the reorder buffer that is
//! full behind it, or what happens when all before has graduated. Until then events behind it are dispatched, and those that need nothing ask
//! the caches as ever. What needs it waits in a queue: results that are computed from it, accesses to addresses that are, the graduation of
//! all, stores that ask when they graduate, and who pays for the slots that it leaves empty. Whenever a line is known to have come, what
//! waited for it goes on, and asks the DRAM before that is simulated any further.

mod arrivals;
mod asking;
mod graduation;
mod waits;

use self::asking::Asking;
use super::{OutOfOrder, Start};
use crate::core::Turn;
use crate::core::machinery::Machinery;
use crate::core::timing::Timing;
use crate::core::turn::Closed;
use crate::hierarchy::Hierarchy;
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
    /// An operation, a branch that was predicted right, or an access whose address is computed, for an open result.
    Operand(Event, Start),
    /// A load, or an exchange, for a miss handler: see [`Asking`].
    Handler,
    /// An event for its end.
    End(Timing),
    /// A store for its operand, which may be open, and for room in the store buffer.
    Store(Store),
}

/// A store that has been translated, and asks for its line when it graduates.
#[derive(Clone, Copy, Debug)]
struct Store {
    event: Event,
    start: Start,
    /// By an operand that is open this is too early.
    timing: Timing,
    needs_open: bool,
}

impl WaitsFor {
    /// Whether it will want a miss handler.
    fn will_ask(self) -> bool {
        match self {
            Self::Operand(event, _) => event.kind.is_access(),
            Self::Store(_) => true,
            Self::Line { .. } | Self::Units { .. } | Self::Handler | Self::End(_) => false,
        }
    }

    /// A cycle up to which all lines were known when it was looked up, or before which it asks for none; nothing, if it needs none.
    fn settled(self) -> Option<u64> {
        match self {
            Self::Line { settled, .. } => Some(settled),
            Self::Operand(event, start) if event.kind.is_access() => Some(start.dispatched),
            Self::Store(store) => Some(store.start.dispatched),
            Self::Operand(..) | Self::Units { .. } | Self::Handler | Self::End(_) => None,
        }
    }
}

/// Graduations from that of the first open load on, in the order of the program.
#[derive(Clone, Debug)]
pub(super) struct OpenLoads {
    queue: VecDeque<Graduation>,
    /// When results are there that were open, with their numbers. What waits for one may be as many events behind it as the reorder buffer
    /// has entries, and as many others behind that when it is asked for: the core itself need not remember the result by then.
    learned: Box<[(usize, u64)]>,
    /// Pending times that the memory had learned when the queue was looked through last.
    seen: u64,
    /// Number of the branch, predicted wrongly, that nothing is dispatched behind before its operand is known: others have their turns meanwhile.
    unresolved: Option<usize>,
    /// Pending times of lines that loads in the queue wait for. To look through that whenever a line comes for anybody took a fifth of a run.
    lines: Vec<u64>,
    /// Accesses that have not asked for their lines, of those in the queue and of others.
    asking: Asking,
    /// Until which cycle it may be unknown when there is one.
    lacks_handler: Option<u64>,
    /// Whether a load that something may depend on has had its line at once since the queue was looked through.
    answered: bool,
    /// Whether the next event waits until it is known when a line comes.
    waits: bool,
    /// How many in the queue will want miss handlers.
    later: usize,
}

impl OpenLoads {
    /// None, of a reorder buffer with so many entries.
    pub(super) fn new(entries: u32) -> Self {
        let nothing = (usize::MAX, 0);
        Self {
            queue: VecDeque::new(),
            seen: 0,
            unresolved: None,
            lines: Vec::new(),
            asking: Asking::default(),
            lacks_handler: None,
            answered: false,
            waits: false,
            later: 0,
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

    /// What the event of a result graduates with, which has not.
    fn of_result(&mut self, number: usize) -> &mut Graduation {
        // Plain instructions before an event graduate by themselves.
        let behind = self
            .queue
            .partition_point(|graduation| graduation.number <= number);
        &mut self.queue[behind - 1]
    }

    /// Whether all has graduated.
    pub(super) fn are_none(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether all has graduated, and has asked for its lines.
    fn are_closed(&self) -> bool {
        self.queue.is_empty() && self.asking.is_empty()
    }
}

/// The first events, as far as they access nothing.
fn computing(events: &[Event]) -> &[Event] {
    let others = events.iter();
    let computing = others.take_while(|event| matches!(event.kind, Kind::Branch | Kind::Op));
    &events[..computing.count()]
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
                && (self.waits_for_line(machinery, caches, Some(event))
                    || !turn.includes(self, machinery, caches, event))
            {
                return taken;
            }
            match event.kind {
                Kind::Store => self.store_open(machinery, caches, event),
                _ if self.may_stay_open(event) => self.access_open(machinery, caches, event),
                Kind::Branch | Kind::Op if self.open_loads.are_none() => {
                    let others = if has_others {
                        &events[taken..=taken]
                    } else {
                        computing(&events[taken..])
                    };
                    taken += self.run(machinery, caches, others, &Closed);
                    continue;
                }
                Kind::Branch => self.branch_behind_open(machinery, caches, event),
                Kind::Op => self.op_behind_open(machinery, caches, event),
                kind => {
                    self.close_loads(machinery, caches);
                    if !kind.is_instruction() {
                        return taken;
                    }
                    self.run(machinery, caches, &events[taken..=taken], &Closed);
                }
            }
            taken += 1;
        }
        taken
    }

    /// Whether the core goes on behind an access before it is known when its line comes.
    fn may_stay_open(&self, event: &Event) -> bool {
        match event.kind {
            Kind::Load | Kind::Store | Kind::Prefetch | Kind::PrefetchNta => true,
            Kind::Exchange => !self.exchange.alone,
            _ => false,
        }
    }

    /// Waits for all open loads, and for what graduates behind them. All has been asked for then.
    pub(crate) fn close_loads(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy) {
        if let Some(branch) = self.open_loads.unresolved {
            self.await_result(machinery, caches, branch);
            self.resolve_branch();
        }
        self.await_graduation(machinery, caches, u64::MAX);
        self.ask_for_all(machinery, caches);
    }

    /// Loads or prefetches, as soon as its address is known.
    fn access_open(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, event: &Event) {
        let start = self.start_access(machinery, caches, event);
        let waits_for = if is_pending(self.operand(event)) {
            WaitsFor::Operand(*event, start)
        } else {
            let (number, place) = (self.results.number(), machinery.ledger.place());
            self.access(machinery, caches, (event, number, place), start)
        };
        self.end_behind_open(machinery, caches, (event, start), waits_for);
        // What comes later in the program is dispatched no earlier, and asks a cycle later.
        self.go_on(machinery, caches, start.dispatched + 1);
    }

    /// Translates a store. It asks for its line when it graduates.
    fn store_open(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, event: &Event) {
        let start = self.start_access(machinery, caches, event);
        let issue = self.ports(event.words, start.ready);
        let store = Store {
            event: *event,
            start,
            timing: machinery.translate_store(caches, event, issue, start.dispatched),
            needs_open: is_pending(self.operand(event)),
        };
        self.end_behind_open(machinery, caches, (event, start), WaitsFor::Store(store));
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
        if caches.are_of_several() && is_pending(self.operand(event)) {
            self.open_loads.unresolved = Some(self.results.number());
            self.compute_behind_open(machinery, caches, event, start);
            return;
        }
        let start = self.await_operand(machinery, caches, event, start);
        let timing = self.compute(event, start);
        self.end_behind_open(machinery, caches, (event, start), WaitsFor::End(timing));
        self.restart(timing.complete + self.mispredict_penalty);
    }

    fn op_behind_open(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, event: &Event) {
        let start = self.start_behind_open(machinery, caches, event);
        self.compute_behind_open(machinery, caches, event, start);
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

    /// The same of an access, for whose data structure all is counted from now on. All lines are known that have come.
    fn start_access(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
    ) -> Start {
        let start = self.start_behind_open(machinery, caches, event);
        machinery.touch(event, start.before);
        self.go_on_until(machinery, caches, start.dispatched + 1);
        self.when_ready(event, start)
    }

    /// The same start as far as it is known by now when the operand is there.
    fn when_ready(&self, event: &Event, start: Start) -> Start {
        Start {
            ready: start.ready.max(self.known_operand(event)),
            ..start
        }
    }

    /// The same start when the operand is there.
    fn await_operand(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
        start: Start,
    ) -> Start {
        if is_pending(self.operand(event)) {
            let operand = self.results.number() - event.dep as usize;
            self.await_result(machinery, caches, operand);
        }
        self.when_ready(event, start)
    }

    /// An open result is there in cycle `complete`. A branch has none.
    fn set_result(&mut self, number: usize, complete: u64) {
        self.open_loads.keep(number, complete);
        if is_pending(self.results.of(number)) {
            self.results.set(number, complete);
        }
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
        self.await_graduation(machinery, caches, taken_over);
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
        self.open_loads.later += usize::from(waits_for.will_ask());
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
