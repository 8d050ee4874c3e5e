//! The in-order pipeline: issues in order, stalls at the first use of a result that is not there.
//!
//! Loads do not stall by themselves, so an empty slot is charged to the load whose result is waited for, not to the
//! instruction that waits. Only a load or prefetch that finds no miss handler free stops the pipeline: nothing overtakes it.

mod routines;

use super::machinery::Machinery;
use super::timing::Timing;
use super::units::{Results, SlotClock, StoreBuffer};
use super::{Clocked, Turn};
use crate::hierarchy::{Cycles, Hierarchy, Purpose, When};
use crate::ledger::Cause;
use crate::spec::{CoreSpec, ExchangeSpec, MachineSpec};
use traces::{Event, Kind, OpClass};

/// Events whose results are remembered: far more than can be issued during a miss.
const REMEMBERED: usize = 1023;

/// A result and who is charged by those that wait for it.
#[derive(Clone, Copy, Debug, Default)]
struct Produced {
    timing: Timing,
    place: u32,
}

/// A functional unit used in order: so many operations per cycle.
#[derive(Clone, Debug)]
struct InOrderUnit {
    per_cycle: u32,
    cycle: u64,
    started: u32,
}

impl InOrderUnit {
    fn new(per_cycle: u32) -> Self {
        Self {
            per_cycle,
            cycle: 0,
            started: 0,
        }
    }

    /// The first cycle at or after `ready`, which never falls, with a free place.
    #[inline]
    fn start(&mut self, ready: u64) -> u64 {
        if ready > self.cycle {
            self.cycle = ready;
            self.started = 0;
        } else if self.started == self.per_cycle {
            self.cycle += 1;
            self.started = 0;
        }
        self.started += 1;
        self.cycle
    }
}

/// State of the pipeline.
#[derive(Clone, Debug)]
pub(crate) struct InOrder {
    width: u64,
    multiply_latency: u64,
    divide_latency: u64,
    mispredict_penalty: u64,
    issue: SlotClock,
    integer: SlotClock,
    memory_ports: InOrderUnit,
    branch_units: InOrderUnit,
    divider_free: u64,
    exchange: ExchangeSpec,
    store_buffer: StoreBuffer,
    results: Results<Produced>,
    /// Of all results so far, the last to come.
    latest: Produced,
    instructions: u64,
}

impl InOrder {
    pub(crate) fn new(spec: &MachineSpec) -> Self {
        let core: &CoreSpec = &spec.core;
        Self {
            width: u64::from(core.issue_width),
            multiply_latency: u64::from(core.multiply_latency_cycles),
            divide_latency: u64::from(core.divide_latency_cycles),
            mispredict_penalty: u64::from(core.mispredict_penalty_cycles),
            issue: SlotClock::new(core.issue_width),
            integer: SlotClock::new(core.integer_units),
            memory_ports: InOrderUnit::new(core.memory_ports),
            branch_units: InOrderUnit::new(core.branch_units),
            divider_free: 0,
            exchange: core.exchange.unwrap_or_default(),
            store_buffer: StoreBuffer::new(core.store_buffer_entries),
            results: Results::new(REMEMBERED),
            latest: Produced::default(),
            instructions: 0,
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
        for (place, event) in events.iter().enumerate() {
            turn.foresee(machinery, caches, &events[place + 1..]);
            if !event.kind.is_instruction() || !turn.includes(self, machinery, caches, event) {
                return place;
            }
            self.step(machinery, caches, event);
        }
        events.len()
    }

    #[inline(always)]
    fn step(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, event: &Event) {
        let plain = u64::from(event.instructions);
        if plain > 0 {
            self.run_plain(machinery, plain);
        }
        self.instructions += event.own_instructions();
        self.wait_for_operand(machinery, event);
        match event.kind {
            Kind::Load => self.load(machinery, caches, event),
            Kind::Exchange => self.exchange(machinery, caches, event),
            Kind::Store | Kind::StoreNta => self.store(machinery, caches, event),
            Kind::Prefetch | Kind::PrefetchNta => self.prefetch(machinery, caches, event),
            Kind::Branch => self.branch(machinery, event),
            _ => self.op(machinery, event),
        }
    }

    /// Lets an event pass that is no instruction, but has plain ones before it, and gives the instructions run so far.
    /// Later events count it when they name their producer.
    pub(crate) fn pass(&mut self, machinery: &mut Machinery, plain: u64) -> u64 {
        if plain > 0 {
            self.run_plain(machinery, plain);
        }
        self.results.push(Produced::default());
        self.instructions
    }

    /// Issues plain instructions.
    #[inline]
    fn run_plain(&mut self, machinery: &mut Machinery, plain: u64) {
        self.instructions += plain;
        self.integer.wait_until(self.issue.cycle());
        let last = self.integer.take(plain);
        self.issue.take(plain);
        self.wait(machinery, last, Cause::Other);
    }

    /// Leaves slots empty until `cycle`.
    #[inline]
    fn wait(&mut self, machinery: &mut Machinery, cycle: u64, cause: Cause) {
        if self.issue.is_before(cycle) {
            let position = self.issue.position;
            self.issue.wait_until(cycle);
            machinery
                .ledger
                .charge(cause, self.issue.position - position);
        }
    }

    /// Leaves slots empty until the operand that the event names is there.
    #[inline]
    fn wait_for_operand(&mut self, machinery: &mut Machinery, event: &Event) {
        let Some(&Produced { timing, place }) = self.results.get(event.dep) else {
            return;
        };
        self.wait_for(machinery, &timing, place);
        self.wait(
            machinery,
            timing.complete + u64::from(event.chain),
            Cause::Other,
        );
    }

    /// Issues the event's own instructions, one to a port, and gives the cycle of the last.
    #[inline]
    fn issue_to_ports(&mut self, machinery: &mut Machinery, words: u16) -> u64 {
        for _ in 0..words {
            let free = machinery.after_walk(self.issue.cycle());
            self.wait(machinery, free, Cause::Dtlb);
            let port = self.memory_ports.start(self.issue.cycle());
            self.wait(machinery, port, Cause::Other);
            self.issue.take(1);
        }
        self.memory_ports.cycle
    }

    #[inline]
    fn produce(&mut self, machinery: &Machinery, timing: Timing) {
        let place = machinery.ledger.place();
        let produced = Produced { timing, place };
        if timing.complete > self.latest.timing.complete {
            self.latest = produced;
        }
        self.results.push(produced);
    }

    #[inline]
    fn load(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, event: &Event) {
        machinery.touch(event, self.instructions - event.own_instructions());
        let issue = self.issue_to_ports(machinery, event.words);
        let timing = machinery.load(caches, event, issue, issue, Purpose::Load);
        self.produce(machinery, timing);
        self.wait_for_handler(machinery, timing);
    }

    #[inline]
    fn store(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, event: &Event) {
        machinery.touch(event, self.instructions - event.own_instructions());
        let issue = self.issue_to_ports(machinery, event.words);
        let timing = machinery.translate_store(caches, event, issue, issue);
        self.produce(machinery, timing);
        let entered = self.wait_for_store_buffer(machinery, issue);
        let written = timing.translated.max(entered);
        let when = When::ahead(written, issue);
        let served = if event.kind == Kind::StoreNta {
            machinery.write_past(caches, event, when)
        } else {
            machinery.write(caches, event, when)
        };
        let behind = machinery.handled_behind(served);
        self.store_buffer.put(served, behind, None);
        for _ in 1..event.words {
            self.wait_for_store_buffer(machinery, issue);
            self.store_buffer.put_word(served.level);
        }
    }

    /// Reads and writes at once. What it takes beyond a load comes before its access.
    fn exchange(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, event: &Event) {
        machinery.touch(event, self.instructions - event.own_instructions());
        let place = machinery.ledger.place();
        if self.exchange.alone {
            self.wait_for_results(machinery);
            let stores = Timing::of_store(self.store_buffer.empty());
            self.wait_for(machinery, &stores, place);
        }
        let now = self.issue_to_ports(machinery, event.words);
        let issue = now + u64::from(self.exchange.further_cycles);
        let timing = machinery.load(caches, event, issue, now, Purpose::Store);
        self.produce(machinery, timing);
        if self.exchange.alone {
            self.wait_for(machinery, &timing, place);
        }
        self.wait_for_handler(machinery, timing);
    }

    /// The cycle in which an exchange that could issue in cycle `ready` would ask for its line.
    fn exchange_begins(&self, mut ready: u64) -> u64 {
        if self.exchange.alone {
            let written = self.store_buffer.empty();
            ready = ready.max(self.results_there()).max(written.cycle);
        }
        ready + u64::from(self.exchange.further_cycles)
    }

    /// Leaves slots empty until the access that was issued last has a miss handler, if it needs one.
    #[inline]
    fn wait_for_handler(&mut self, machinery: &mut Machinery, timing: Timing) {
        let handled = Timing {
            complete: timing.behind.cycle(),
            ..timing
        };
        let place = machinery.ledger.place();
        self.wait_for(machinery, &handled, place);
    }

    /// Leaves slots empty until `timing` completes, which `place` is charged for.
    #[inline]
    fn wait_for(&mut self, machinery: &mut Machinery, timing: &Timing, place: u32) {
        if self.issue.is_before(timing.complete) {
            let position = self.issue.position;
            timing.charge(&mut machinery.ledger, place, position, 0, 0, self.width);
            self.issue.wait_until(timing.complete);
        }
    }

    /// The cycle in which all results are there.
    pub(crate) fn results_there(&self) -> u64 {
        self.latest.timing.complete
    }

    /// Leaves slots empty until all results are there, which who gives the last is charged for.
    pub(crate) fn wait_for_results(&mut self, machinery: &mut Machinery) {
        let Produced { timing, place } = self.latest;
        self.wait_for(machinery, &timing, place);
    }

    /// Leaves slots empty until the store buffer has room for a store that issued in cycle `issue`, and gives the cycle in which it has.
    #[inline]
    fn wait_for_store_buffer(&mut self, machinery: &mut Machinery, issue: u64) -> u64 {
        let full = Timing::of_store(self.store_buffer.free());
        let place = machinery.ledger.place();
        self.wait_for(machinery, &full, place);
        full.complete.max(issue)
    }

    /// Leaves slots empty until all stores are written, one behind the other. Each counts as the wait for the line that it waits for.
    pub(crate) fn wait_until_written(&mut self, machinery: &mut Machinery) {
        let place = machinery.ledger.place();
        let releases: Vec<_> = self.store_buffer.releases().collect();
        for store in releases {
            self.wait_for(machinery, &Timing::of_store(store), place);
        }
    }

    #[inline]
    fn prefetch(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, event: &Event) {
        machinery.touch(event, self.instructions - event.own_instructions());
        let issue = self.issue_to_ports(machinery, 1);
        let timing = machinery.prefetch::<Cycles>(caches, event, issue, issue);
        self.produce(machinery, Timing::default());
        self.wait_for_handler(machinery, timing);
    }

    #[inline]
    fn branch(&mut self, machinery: &mut Machinery, event: &Event) {
        let issue = self.branch_units.start(self.issue.cycle());
        self.wait(machinery, issue, Cause::Other);
        self.issue.take(1);
        self.produce(machinery, Timing::default());
        if !machinery.predict(event) {
            self.wait(
                machinery,
                issue + 1 + self.mispredict_penalty,
                Cause::Branch,
            );
        }
    }

    fn op(&mut self, machinery: &mut Machinery, event: &Event) {
        let latency = if event.size == OpClass::Divide as u16 {
            self.wait(machinery, self.divider_free, Cause::Other);
            self.divider_free = self.issue.cycle() + self.divide_latency;
            self.divide_latency
        } else if event.size == OpClass::Add as u16 {
            1
        } else {
            self.multiply_latency
        };
        let complete = self.issue.cycle() + latency;
        self.issue.take(1);
        self.produce(
            machinery,
            Timing {
                issue: complete,
                complete,
                ..Timing::default()
            },
        );
    }

    /// Issues nothing before the code is there, in cycle `fetched`.
    pub(crate) fn wait_for_code(&mut self, machinery: &mut Machinery, fetched: u64) {
        self.wait(machinery, fetched, Cause::Icache);
    }

    /// Issues nothing before cycle `cycle`, in which what the whole core waits for is there.
    pub(crate) fn wait_until(&mut self, machinery: &mut Machinery, cycle: u64, cause: Cause) {
        self.wait(machinery, cycle, cause);
    }

    /// Later events count one more event when they name their producer; nothing waits for it.
    pub(crate) fn skip_result(&mut self) {
        self.results.push(Produced::default());
    }

    /// Everything issued has ended, but for stores and prefetches on their way; nothing later overlaps with what came before.
    pub(crate) fn flush(&mut self, machinery: &mut Machinery) {
        self.wait_for_results(machinery);
        self.store_buffer.clear();
        self.results = Results::new(REMEMBERED);
        self.latest = Produced::default();
    }

    /// Instructions run so far.
    pub(crate) fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Slots filled or charged so far.
    pub(crate) fn position(&self) -> u64 {
        self.issue.position
    }

    /// The cycle in which the last store leaves the store buffer.
    pub(crate) fn stores_drained(&self) -> u64 {
        self.store_buffer.drained()
    }
}

impl Clocked for InOrder {
    #[inline]
    fn now(&self) -> u64 {
        self.issue.cycle()
    }

    /// The cycle in which it would issue if its operand were there.
    fn dispatches(&self, event: &Event) -> u64 {
        let plain = u64::from(event.instructions);
        let (mut issue, mut integer) = (self.issue, self.integer);
        if plain > 0 {
            integer.wait_until(issue.cycle());
            let last = integer.take(plain);
            issue.take(plain);
            issue.wait_until(last);
        }
        issue.cycle()
    }

    #[inline]
    fn begins(&self, now: u64, machinery: &Machinery, event: &Event) -> u64 {
        if !(event.kind.is_access() || event.kind.wants_latch()) {
            return now;
        }
        let operand = self.results.get(event.dep);
        let operand = operand.map_or(0, |operand| {
            operand.timing.complete + u64::from(event.chain)
        });
        let mut ready = self.dispatches(event).max(operand);
        if matches!(event.kind, Kind::Store | Kind::StoreNta) {
            let room = self.store_buffer.free().cycle;
            ready = ready.max(room);
        }
        // A latch is taken when its exchange could ask.
        if matches!(event.kind, Kind::Exchange | Kind::Latch | Kind::ShareLatch) {
            ready = self.exchange_begins(ready);
        }
        machinery.handler_free(ready)
    }
}
