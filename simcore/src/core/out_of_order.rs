//! The out-of-order pipeline: dispatch in order, issue when operands are there, graduate in order.
//!
//! One event costs a constant amount of work: the plain instructions before it are dispatched and graduated in closed
//! form, and the reorder buffer is a table of when its entries are free, looked up once per event.

mod next_event;
mod open_loads;
mod reorder_buffer;
mod routines;
mod slots;
mod stores;

use super::machinery::Machinery;
use super::timing::Timing;
use super::units::{Results, StoreBuffer, Unit};
use super::{EventTimes, Turn};
use crate::calendar::{Calendar, Claim};
use crate::hierarchy::{Cycles, Hierarchy, Purpose};
use crate::ledger::{Account, Cause};
use crate::memory::is_pending;
use crate::spec::{CoreSpec, ExchangeSpec, Interval, MachineSpec};
use open_loads::OpenLoads;
use reorder_buffer::ReorderBuffer;
use slots::Slots;
use std::ops::Range;
use traces::{Event, Kind, OpClass};

/// What an event begins with.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// Instructions run before the event's own.
    before: u64,
    /// Cycle in which the event was dispatched. No later access to the caches is earlier.
    dispatched: u64,
    /// Cycle in which its operands are there.
    ready: u64,
}

/// When an event got on.
#[derive(Clone, Copy, Debug)]
struct Seen {
    timing: Timing,
    /// The line that it accessed was there.
    arrived: u64,
    mispredicted: bool,
}

impl Seen {
    /// An event that waits for its own line, or for none.
    fn of(timing: Timing) -> Self {
        Self {
            timing,
            arrived: timing.complete,
            mispredicted: false,
        }
    }
}

/// State of the pipeline.
#[derive(Clone, Debug)]
pub(crate) struct OutOfOrder {
    width: u64,
    multiply_latency: u64,
    divide_latency: u64,
    mispredict_penalty: u64,
    exchange: ExchangeSpec,
    /// Whether some cache is shared, or coherent: then it matters who comes for a line first.
    others_see_lines: bool,
    /// Whether stores are no events that ask for lines, but do so when they graduate, whatever comes behind them: before a DRAM.
    stores_stay_open: bool,
    slots: Slots,
    memory_ports: Unit,
    branch_units: Unit,
    /// One division at a time: whose operands are there first has the unit first, as lines have the bus.
    divider: Calendar,
    reorder_buffer: ReorderBuffer,
    store_buffer: StoreBuffer,
    results: Results<u64>,
    /// Before a memory of fixed times there are none.
    open_loads: OpenLoads,
    /// Issue of the first instruction after the latest misprediction.
    restarted: u64,
    /// Completion, at the earliest, of the first instruction after the latest wait for code.
    fetched: u64,
}

impl OutOfOrder {
    /// An empty pipeline. The specification has been validated.
    pub(crate) fn new(spec: &MachineSpec) -> Self {
        let core: &CoreSpec = &spec.core;
        let entries = core.reorder_buffer.expect("an out-of-order core has one");
        Self {
            width: u64::from(core.issue_width),
            multiply_latency: u64::from(core.multiply_latency_cycles),
            divide_latency: u64::from(core.divide_latency_cycles),
            mispredict_penalty: u64::from(core.mispredict_penalty_cycles),
            exchange: core.exchange.unwrap_or_default(),
            others_see_lines: spec.coherence.is_some()
                || spec.caches.iter().any(|cache| cache.shared),
            stores_stay_open: spec.leaves_loads_open(),
            slots: Slots::new(core.issue_width, core.integer_units, entries),
            memory_ports: Unit::new(core.memory_ports),
            branch_units: Unit::new(core.branch_units),
            divider: Calendar::new(Interval::of_cycles(u64::from(core.divide_latency_cycles))),
            reorder_buffer: ReorderBuffer::new(entries),
            store_buffer: StoreBuffer::new(core.store_buffer_entries),
            results: Results::new(entries as usize),
            open_loads: OpenLoads::new(entries),
            restarted: 0,
            fetched: 0,
        }
    }

    /// Runs events as long as the turn lasts, up to the first that is no instruction, and gives how many.
    pub(crate) fn run(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        events: &[Event],
        turn: &impl Turn,
    ) -> usize {
        if turn.leaves_loads_open() && caches.leave_loads_open() {
            return self.run_open(machinery, caches, events, turn);
        }
        let mut rest = events.iter();
        while let Some(event) = rest.next() {
            turn.foresee(machinery, caches, rest.as_slice());
            if !turn.includes(self, machinery, caches, event) {
                return events.len() - rest.len() - 1;
            }
            // Other kinds are rare: told here, they would lengthen what every event runs through.
            match event.kind {
                Kind::Load => {
                    let start = self.start(machinery, event);
                    let times = self.load(machinery, caches, event, start);
                    turn.saw(|| self.seen(machinery, start, times));
                }
                Kind::Branch => {
                    let start = self.start(machinery, event);
                    let times = self.branch(machinery, event, start);
                    turn.saw(|| self.seen(machinery, start, times));
                }
                Kind::Store => {
                    let start = self.start(machinery, event);
                    let times = self.store::<false>(machinery, caches, event, start);
                    turn.saw(|| self.seen(machinery, start, times));
                }
                Kind::Prefetch | Kind::PrefetchNta => {
                    let start = self.start(machinery, event);
                    let times = self.prefetch(machinery, caches, event, start);
                    turn.saw(|| self.seen(machinery, start, times));
                }
                _ => {
                    if !self.run_rarer(machinery, caches, event, turn) {
                        return events.len() - rest.len() - 1;
                    }
                }
            }
            self.leave_reorder_buffer();
        }
        events.len()
    }

    /// Runs an event of a kind that programs have fewer of; false if it is no instruction.
    #[inline(never)]
    fn run_rarer(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
        turn: &impl Turn,
    ) -> bool {
        if !event.kind.is_instruction() {
            return false;
        }
        let start = self.start(machinery, event);
        let times = match event.kind {
            Kind::StoreNta => self.store::<true>(machinery, caches, event, start),
            Kind::Exchange => self.exchange(machinery, caches, event, start),
            _ => self.op(machinery, event, start),
        };
        turn.saw(|| self.seen(machinery, start, times));
        true
    }

    /// Runs the plain instructions before an event. One copy of the code for each kind: a function that several kinds and turns
    /// share would be called.
    #[inline(always)]
    fn start(&mut self, machinery: &mut Machinery, event: &Event) -> Start {
        let mut plain = u64::from(event.instructions);
        let own = event.own_instructions();
        if !self.slots.have_room(plain + own) {
            plain = self.make_room(machinery, plain, own);
        }
        let dispatched = self.slots.dispatch(plain + own);
        let before = self.slots.instructions() - own;
        if plain == 0 {
            self.slots.leave_idle(own);
        } else if self.slots.execute(plain, own) {
            self.wait_for_integer(machinery, plain, before, own);
        }
        Start {
            before,
            dispatched,
            ready: (dispatched + 1).max(self.operand(event)),
        }
    }

    /// What is known of an event that has run. The buffer has been left up to the event before it.
    fn seen(&self, machinery: &Machinery, start: Start, seen: Seen) -> EventTimes {
        let Seen {
            timing,
            arrived,
            mispredicted,
        } = seen;
        EventTimes {
            dispatched: start.dispatched,
            ready: start.ready,
            issued: timing.issue,
            translated: timing.translated.max(timing.issue),
            walks: machinery.walks(),
            walk_began: machinery.walk_began(),
            complete: timing.complete,
            arrived,
            graduated_slot: self.position(),
            behind: timing.behind.cycle(),
            behind_level: timing.behind.level(),
            level: timing.level,
            mispredicted,
        }
    }

    /// Lets an event pass that is no instruction, but has plain ones before it, and gives the instructions run so far.
    /// Later events count it when they name their producer.
    pub(crate) fn pass(&mut self, machinery: &mut Machinery, mut plain: u64) -> u64 {
        while plain > 0 {
            let group = plain.min(self.slots.largest_group());
            self.run_plain(machinery, group);
            plain -= group;
        }
        self.results.skip();
        self.slots.instructions()
    }

    /// Runs all but the last group of plain instructions, and waits for entries for that and `own` more. Gives the plain
    /// instructions that are left.
    #[inline(never)]
    fn make_room(&mut self, machinery: &mut Machinery, mut plain: u64, own: u64) -> u64 {
        let group = self.slots.largest_group();
        while plain > group {
            self.run_plain(machinery, group);
            plain -= group;
        }
        self.wait_for_entries(plain + own);
        plain
    }

    #[cold]
    #[inline(never)]
    fn run_plain(&mut self, machinery: &mut Machinery, plain: u64) {
        self.dispatch(plain);
        if self.slots.execute(plain, 0) {
            self.wait_for_integer(machinery, plain, self.slots.instructions(), 0);
        }
        self.leave_reorder_buffer();
    }

    /// Dispatches so many instructions when there are entries for them.
    fn dispatch(&mut self, instructions: u64) {
        self.wait_for_entries(instructions);
        self.slots.dispatch(instructions);
    }

    /// Dispatches so many instructions no earlier than that the last of them has an entry of the reorder buffer.
    fn wait_for_entries(&mut self, instructions: u64) {
        let last = self.slots.instructions() + instructions;
        let left = self.reorder_buffer.left_before(last);
        self.slots
            .dispatch_from(self.first_slot_behind(left, instructions));
    }

    /// The first of the slots of so many instructions, when the last of them takes the entry of one that has graduated before slot `left`;
    /// 0 if nobody had it before. An entry is taken over a cycle of slots later. Those of the others are free by then: instructions graduate
    /// in slots of their own.
    fn first_slot_behind(&self, left: u64, instructions: u64) -> u64 {
        if left == 0 {
            return 0;
        }
        (left + self.width).saturating_sub(instructions)
    }

    /// The instructions run so far have graduated.
    #[inline]
    fn leave_reorder_buffer(&mut self) {
        let instructions = self.slots.instructions();
        self.reorder_buffer
            .leave(instructions, self.slots.graduates(instructions));
    }

    /// Leaves slots empty until plain instructions, up to instruction `graduated`, have been executed; `others` were
    /// dispatched behind them.
    #[inline(never)]
    fn wait_for_integer(
        &mut self,
        machinery: &mut Machinery,
        plain: u64,
        graduated: u64,
        others: u64,
    ) {
        let position = self.slots.graduates(graduated);
        let slot = self.slots.executed(graduated, others);
        let front_end = self.restarted.max(self.fetched) * self.width + plain;
        if front_end <= position {
            machinery.ledger.charge(Cause::Other, slot - position);
        } else {
            let place = machinery.ledger.place();
            let mut account = machinery.ledger.at(place);
            let front_end = (self.restarted, self.fetched);
            self.charge_front_end(&mut account, front_end, plain, position..slot);
        }
        self.slots.graduate_from(graduated, slot);
    }

    /// Charges slots, before whose end plain instructions are done, to the front end while it had not delivered them: it had restarted, and
    /// had its code, in these cycles.
    #[inline(never)]
    fn charge_front_end(
        &self,
        account: &mut Account<'_>,
        (restarted, fetched): (u64, u64),
        plain: u64,
        slots: Range<u64>,
    ) {
        let restarted = (restarted * self.width).clamp(slots.start, slots.end);
        let fetched = (fetched * self.width + plain).clamp(restarted, slots.end);
        account.charge(Cause::Branch, restarted - slots.start);
        account.charge(Cause::Icache, fetched - restarted);
        account.charge(Cause::Other, slots.end - fetched);
    }

    /// When the operand that the event names is there.
    #[inline]
    fn operand(&self, event: &Event) -> u64 {
        self.results
            .get(event.dep)
            .map_or(0, |&ready| ready + u64::from(event.chain))
    }

    /// The same, and nothing if that is not known.
    #[inline]
    fn known_operand(&self, event: &Event) -> u64 {
        let operand = self.operand(event);
        if is_pending(operand) { 0 } else { operand }
    }

    /// Leaves slots empty until `timing` completes and charges them; all before instruction `graduated` have graduated.
    #[inline(never)]
    fn wait(&mut self, machinery: &mut Machinery, timing: Timing, graduated: u64, restarted: u64) {
        let place = machinery.ledger.place();
        self.wait_at(
            machinery,
            place,
            timing,
            graduated,
            (restarted, self.fetched),
        );
    }

    /// The same, charged to `place`, the front end having restarted and had its code in these cycles.
    #[inline]
    fn wait_at(
        &mut self,
        machinery: &mut Machinery,
        place: u32,
        timing: Timing,
        graduated: u64,
        (restarted, fetched): (u64, u64),
    ) {
        timing.charge(
            &mut machinery.ledger,
            place,
            self.slots.graduates(graduated),
            restarted,
            fetched,
            self.width,
        );
        let slot = timing.complete * self.width;
        self.slots.graduate_from(graduated, slot);
    }

    /// Takes a memory port for each word and gives the cycle of the last.
    #[inline]
    fn ports(&mut self, words: u16, ready: u64) -> u64 {
        let mut issue = self.memory_ports.start(ready);
        for _ in 1..words {
            issue = self.memory_ports.start(issue);
        }
        issue
    }

    #[inline(always)]
    fn load(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
        start: Start,
    ) -> Seen {
        machinery.touch(event, start.before);
        let issue = self.ports(event.words, start.ready);
        let timing = machinery.load(caches, event, issue, start.dispatched, Purpose::Load);
        self.arrive(machinery, timing, start);
        Seen::of(timing)
    }

    /// Keeps the result of an access for what depends on it. Slots stay empty if the access cannot graduate yet.
    #[inline(always)]
    fn arrive(&mut self, machinery: &mut Machinery, timing: Timing, start: Start) {
        self.results.push(timing.complete);
        if self.slots.graduates_before(start.before, timing.complete) {
            self.wait(machinery, timing, start.before, self.restarted);
        }
    }

    /// Reads and writes at once. What it takes beyond a load comes before its access: none of that is charged to the level that serves it.
    fn exchange(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
        start: Start,
    ) -> Seen {
        machinery.touch(event, start.before);
        let mut ready = start.ready;
        if self.exchange.alone {
            self.settle_stores(machinery, caches);
            let empty = self.store_buffer.empty();
            let place = machinery.ledger.place();
            self.wait_for_stores(machinery, start.before, empty, place);
            ready = ready.max(self.slots.graduation(start.before));
        }
        let issue = self.ports(event.words, ready) + u64::from(self.exchange.further_cycles);
        let timing = machinery.load(caches, event, issue, start.dispatched, Purpose::Store);
        self.arrive(machinery, timing, start);
        if self.exchange.alone {
            self.slots.dispatch_from(timing.complete * self.width);
        }
        Seen::of(timing)
    }

    #[inline(always)]
    fn prefetch(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
        start: Start,
    ) -> Seen {
        machinery.touch(event, start.before);
        let issue = self.memory_ports.start(start.ready);
        let served = machinery.prefetch::<Cycles>(caches, event, issue, start.dispatched);
        self.results.skip();
        self.finish(machinery, start.before, Timing::of_units(issue, issue + 1));
        Seen {
            arrived: served.complete,
            timing: Timing {
                complete: issue + 1,
                ..served
            },
            mispredicted: false,
        }
    }

    #[inline(always)]
    fn branch(&mut self, machinery: &mut Machinery, event: &Event, start: Start) -> Seen {
        let timing = self.resolve(start);
        let right = machinery.predict(event);
        self.results.skip();
        self.finish(machinery, start.before, timing);
        if !right {
            self.restart(timing.complete + self.mispredict_penalty);
        }
        Seen {
            mispredicted: !right,
            ..Seen::of(timing)
        }
    }

    /// When a branch is resolved.
    #[inline(always)]
    fn resolve(&mut self, start: Start) -> Timing {
        let issue = self.branch_units.start(start.ready);
        Timing::of_units(issue, issue + 1)
    }

    /// Dispatches nothing before the front end has restarted, in cycle `restarted`.
    ///
    /// Out of line: the host would otherwise replace the jump by arithmetic, and the next events' times would wait for
    /// this one's where nothing was mispredicted.
    #[inline(never)]
    fn restart(&mut self, restarted: u64) {
        self.slots.dispatch_from(restarted * self.width);
        self.restarted = restarted + 1;
    }

    #[inline(always)]
    fn op(&mut self, machinery: &mut Machinery, event: &Event, start: Start) -> Seen {
        let timing = self.operate(event, start);
        self.results.push(timing.complete);
        self.finish(machinery, start.before, timing);
        Seen::of(timing)
    }

    /// When an operation is done.
    #[inline(always)]
    fn operate(&mut self, event: &Event, start: Start) -> Timing {
        let (issue, latency) = if event.size == OpClass::Divide as u16 {
            let issue = self
                .divider
                .reserve(Claim::ahead(start.ready, start.dispatched));
            (issue, self.divide_latency)
        } else if event.size == OpClass::Add as u16 {
            (start.ready, 1)
        } else {
            (start.ready, self.multiply_latency)
        };
        Timing::of_units(issue, issue + latency)
    }

    /// Graduates a one-instruction event that waits for no data.
    #[inline]
    fn finish(&mut self, machinery: &mut Machinery, graduated: u64, timing: Timing) {
        if self.slots.graduates_before(graduated, timing.complete) {
            self.wait(machinery, timing, graduated, self.restarted);
        }
    }

    /// Dispatches nothing before the code is there, in cycle `fetched`.
    pub(crate) fn wait_for_code(&mut self, fetched: u64) {
        let slot = fetched * self.width;
        if self.slots.dispatched() < slot {
            self.slots.dispatch_from(slot);
            self.fetched = fetched + 2;
        }
    }

    /// Dispatches nothing before cycle `cycle`, in which what the whole core waits for is there.
    pub(crate) fn wait_until(&mut self, machinery: &mut Machinery, cycle: u64, cause: Cause) {
        let (position, slot) = (self.position(), cycle * self.width);
        if position < slot {
            machinery.ledger.charge(cause, slot - position);
            self.slots.graduate_from(self.slots.instructions(), slot);
        }
        self.slots.dispatch_from(slot);
    }

    /// Later events count one more event when they name their producer; nothing waits for it.
    pub(crate) fn skip_result(&mut self) {
        self.results.skip();
    }

    /// The pipeline runs empty, and so does the store buffer: nothing later overlaps with what came before.
    pub(crate) fn flush(&mut self) {
        let last = self.slots.graduation(self.slots.instructions());
        self.slots.dispatch_from((last + 1) * self.width);
        self.store_buffer.clear();
    }

    /// Instructions run so far.
    pub(crate) fn instructions(&self) -> u64 {
        self.slots.instructions()
    }

    /// Slots filled or charged so far.
    pub(crate) fn position(&self) -> u64 {
        debug_assert!(self.open_loads.are_none(), "nobody knows when they end");
        self.slots.graduates(self.slots.instructions())
    }

    /// The cycle in which the last store leaves the store buffer.
    pub(crate) fn stores_drained(&self) -> u64 {
        self.store_buffer.drained()
    }
}
