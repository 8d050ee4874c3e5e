//! The out-of-order pipeline: dispatch in order, issue when operands are there, graduate in order.
//!
//! One event costs a constant amount of work: the plain instructions before it are dispatched and graduated in closed
//! form, and the reorder buffer is a table of when its entries are free, looked up once per event.

mod routines;

use super::machinery::{Machinery, Timing};
use super::units::{IntegerUnits, Results, SlotClock, StoreBuffer, Unit};
use crate::ledger::Cause;
use crate::spec::{CoreSpec, MachineSpec};
use traces::{Event, Kind, OpClass};

/// Records that are kept: more than the widest reorder buffer has entries; a power of two.
const RECORDS: usize = 2048;

/// When the entry of an instruction can be taken over by a later one.
#[derive(Clone, Copy, Debug, Default)]
struct Departure {
    /// Instructions that have graduated, counted from 1.
    instructions: u64,
    /// The slot after the last of them.
    slot: u64,
}

/// The reorder buffer: when the latest events left it.
///
/// An event leaves with its last instruction; the plain instructions before it take the slot of the event before them.
#[derive(Clone, Debug)]
struct ReorderBuffer {
    entries: u64,
    /// By number modulo a power of two; the first stands for the time before all instructions.
    departures: [Departure; RECORDS],
    /// Keeps the ring short, so that it stays in the first-level cache of the host.
    mask: usize,
    next: usize,
    /// The latest departure that was looked up. Later questions are never about an earlier one.
    found: usize,
}

impl ReorderBuffer {
    fn new(entries: u32) -> Self {
        Self {
            entries: u64::from(entries),
            departures: [Departure::default(); RECORDS],
            mask: (entries as usize + 2).next_power_of_two().min(RECORDS) - 1,
            next: 1,
            found: 0,
        }
    }

    #[inline]
    fn place(&self, number: usize) -> usize {
        number & (self.mask % RECORDS)
    }

    /// The slot after those in which everything graduated whose entries are taken over up to `instruction`; 0 if the
    /// entries had nobody before.
    #[inline(never)]
    fn left_before(&mut self, instruction: u64) -> u64 {
        // The first instructions find entries that nobody had before.
        let Some(leaves) = instruction.checked_sub(self.entries) else {
            return 0;
        };
        // Each event has an instruction at least, so that no older one can be the last to leave in time.
        let oldest = self.next.saturating_sub(1 + self.entries as usize);
        let mut found = self.found.max(oldest);
        while found + 1 < self.next && self.departures[self.place(found + 1)].instructions <= leaves
        {
            found += 1;
        }
        self.found = found;
        self.departures[self.place(found)].slot
    }

    /// All of `instructions` have graduated, in slots before `slot`; their entries are taken over a cycle of slots later.
    #[inline]
    fn leave(&mut self, instructions: u64, slot: u64) {
        self.departures[self.place(self.next)] = Departure { instructions, slot };
        self.next += 1;
    }
}

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

/// State of the pipeline.
#[derive(Clone, Debug)]
pub(crate) struct OutOfOrder {
    width: u64,
    multiply_latency: u64,
    divide_latency: u64,
    mispredict_penalty: u64,
    /// Largest group of instructions handled at once.
    largest_group: u64,
    /// Slots by which graduation may be ahead of dispatch before the reorder buffer can be full.
    slack: u64,
    dispatch: SlotClock,
    graduate: SlotClock,
    integer: IntegerUnits,
    memory_ports: Unit,
    branch_units: Unit,
    divider_free: u64,
    reorder_buffer: ReorderBuffer,
    store_buffer: StoreBuffer,
    results: Results<u64>,
    /// Issue of the first instruction after the latest misprediction.
    restarted: u64,
    /// Completion, at the earliest, of the first instruction after the latest wait for code.
    fetched: u64,
    instructions: u64,
}

impl OutOfOrder {
    pub(crate) fn new(spec: &MachineSpec, entries: u32) -> Self {
        let core: &CoreSpec = &spec.core;
        Self {
            width: u64::from(core.issue_width),
            multiply_latency: u64::from(core.multiply_latency_cycles),
            divide_latency: u64::from(core.divide_latency_cycles),
            mispredict_penalty: u64::from(core.mispredict_penalty_cycles),
            largest_group: u64::from(entries / 4).max(1),
            slack: u64::from(entries - core.issue_width) + 1,
            dispatch: SlotClock::new(core.issue_width),
            graduate: SlotClock::new(core.issue_width),
            integer: IntegerUnits::new(core.integer_units, core.issue_width),
            memory_ports: Unit::new(core.memory_ports),
            branch_units: Unit::new(core.branch_units),
            divider_free: 0,
            reorder_buffer: ReorderBuffer::new(entries),
            store_buffer: StoreBuffer::new(core.store_buffer_entries),
            results: Results::new(entries as usize),
            restarted: 0,
            fetched: 0,
            instructions: 0,
        }
    }

    /// Runs events up to the first that is no instruction and gives its place.
    pub(crate) fn run(&mut self, machinery: &mut Machinery, events: &[Event]) -> usize {
        let mut rest = events.iter();
        while let Some(event) = rest.next() {
            match event.kind {
                Kind::Load => self.step(machinery, event, Self::load),
                Kind::Store => self.step(machinery, event, Self::store),
                Kind::Prefetch | Kind::PrefetchNta => self.step(machinery, event, Self::prefetch),
                Kind::Branch => self.step(machinery, event, Self::branch),
                Kind::Op => self.step(machinery, event, Self::op),
                _ => return events.len() - rest.len() - 1,
            }
        }
        events.len()
    }

    /// Runs the plain instructions before an event, and the event by `execute`: one copy of the code for each kind.
    #[inline(always)]
    fn step(
        &mut self,
        machinery: &mut Machinery,
        event: &Event,
        execute: impl FnOnce(&mut Self, &mut Machinery, &Event, Start),
    ) {
        let mut plain = u64::from(event.instructions);
        while plain > self.largest_group {
            self.run_plain(machinery, self.largest_group);
            plain -= self.largest_group;
        }
        let own = event.own_instructions();
        let dispatched = self.dispatch_group(plain + own);
        if plain > 0 {
            self.graduate_plain(machinery, plain, self.dispatch.position - plain - own);
        }
        let start = Start {
            before: self.instructions - own,
            dispatched,
            ready: (dispatched + 1).max(self.operand(event)),
        };
        execute(self, machinery, event, start);
        self.leave_reorder_buffer();
    }

    /// Lets an event pass that is no instruction, but has plain ones before it, and gives the instructions run so far.
    /// Later events count it when they name their producer.
    pub(crate) fn pass(&mut self, machinery: &mut Machinery, mut plain: u64) -> u64 {
        while plain > 0 {
            let group = plain.min(self.largest_group);
            self.run_plain(machinery, group);
            plain -= group;
        }
        self.results.skip();
        self.instructions
    }

    #[cold]
    #[inline(never)]
    fn run_plain(&mut self, machinery: &mut Machinery, plain: u64) {
        self.dispatch_group(plain);
        self.graduate_plain(machinery, plain, self.dispatch.position - plain);
        self.leave_reorder_buffer();
    }

    /// Dispatches so many instructions and gives the cycle of the last.
    #[inline]
    fn dispatch_group(&mut self, instructions: u64) -> u64 {
        self.instructions += instructions;
        // Graduation takes a slot per instruction at least. If the whole buffer, graduated back to back, would have been
        // left in time, it has been: no need to look up when.
        if self.graduate.position + instructions > self.dispatch.position + self.slack {
            let entry = match self.reorder_buffer.left_before(self.instructions) {
                0 => 0,
                left => left + self.width - 1,
            };
            self.dispatch.position = self.dispatch.position.max(entry);
        }
        self.dispatch.take(instructions)
    }

    /// The instructions run so far have graduated; their entries are taken over a cycle of slots later.
    #[inline]
    fn leave_reorder_buffer(&mut self) {
        self.reorder_buffer
            .leave(self.instructions, self.graduate.position);
    }

    /// Executes and graduates plain instructions, the first of which was dispatched into slot `first`.
    #[inline(always)]
    fn graduate_plain(&mut self, machinery: &mut Machinery, plain: u64, first: u64) {
        let done = self.integer.execute(plain, first);
        self.graduate.position += plain;
        if self.integer.is_after(done, self.graduate.position) {
            self.wait_for_integer(machinery, self.integer.slot(done), plain);
        }
    }

    /// Leaves slots empty until the latest plain instructions, so many, have been executed.
    #[inline(never)]
    fn wait_for_integer(&mut self, machinery: &mut Machinery, slot: u64, plain: u64) {
        let position = self.graduate.position;
        let restarted = (self.restarted * self.width).clamp(position, slot);
        let fetched = (self.fetched * self.width + plain).clamp(restarted, slot);
        let place = machinery.ledger.place();
        let mut account = machinery.ledger.at(place);
        account.charge(Cause::Branch, restarted - position);
        account.charge(Cause::Icache, fetched - restarted);
        account.charge(Cause::Other, slot - fetched);
        self.graduate.position = slot;
    }

    /// When the operand that the event names is there.
    #[inline]
    fn operand(&self, event: &Event) -> u64 {
        self.results
            .get(event.dep)
            .map_or(0, |&ready| ready + u64::from(event.chain))
    }

    /// Leaves slots empty until `timing` completes and charges them.
    #[inline(never)]
    fn wait(&mut self, machinery: &mut Machinery, timing: &Timing, restarted: u64) {
        let place = machinery.ledger.place();
        let position = self.graduate.position;
        timing.charge(
            &mut machinery.ledger,
            place,
            position,
            restarted,
            self.fetched,
            self.width,
        );
        self.graduate.wait_until(timing.complete);
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
    fn load(&mut self, machinery: &mut Machinery, event: &Event, start: Start) {
        machinery.ledger.touch(event.address, start.before);
        let issue = self.ports(event.words, start.ready);
        let timing = machinery.load(event, issue, start.dispatched);
        self.results.push(timing.complete);
        if self.graduate.is_before(timing.complete) {
            self.wait(machinery, &Timing { ..timing }, self.restarted);
        }
        self.graduate.position += u64::from(event.words);
    }

    #[inline(always)]
    fn store(&mut self, machinery: &mut Machinery, event: &Event, start: Start) {
        machinery.ledger.touch(event.address, start.before);
        let issue = self.ports(event.words, start.ready);
        let timing = machinery.translate_store(event, issue, start.dispatched);
        self.results.push(timing.complete);
        if self.graduate.is_before(timing.complete) {
            self.wait(machinery, &Timing { ..timing }, self.restarted);
        }
        self.wait_for_store_buffer(machinery);
        let served = machinery.write(event, self.graduate.cycle(), start.dispatched);
        for word in 0..event.words {
            if word > 0 {
                self.wait_for_store_buffer(machinery);
            }
            self.store_buffer.put(served.complete, served.level);
            self.graduate.position += 1;
        }
    }

    /// Leaves slots empty until the store buffer has room; they count as waiting for the line it waits for.
    #[inline]
    fn wait_for_store_buffer(&mut self, machinery: &mut Machinery) {
        let (free, level) = self.store_buffer.free();
        if self.graduate.is_before(free) {
            let full = Timing {
                complete: free,
                level,
                ..Timing::default()
            };
            self.wait(machinery, &full, 0);
        }
    }

    #[inline(always)]
    fn prefetch(&mut self, machinery: &mut Machinery, event: &Event, start: Start) {
        machinery.ledger.touch(event.address, start.before);
        let issue = self.memory_ports.start(start.ready);
        machinery.prefetch(event, issue, start.dispatched);
        self.results.skip();
        self.finish(machinery, issue, issue + 1);
    }

    #[inline(always)]
    fn branch(&mut self, machinery: &mut Machinery, event: &Event, start: Start) {
        let issue = self.branch_units.start(start.ready);
        let resolved = issue + 1;
        let right = machinery.predict(event);
        self.results.skip();
        self.finish(machinery, issue, resolved);
        if !right {
            self.restart(resolved + self.mispredict_penalty);
        }
    }

    /// Dispatches nothing before the front end has restarted, in cycle `restarted`.
    ///
    /// Out of line: the host would otherwise replace the jump by arithmetic, and the next events' times would wait for
    /// this one's where nothing was mispredicted.
    #[inline(never)]
    fn restart(&mut self, restarted: u64) {
        self.dispatch.wait_until(restarted);
        self.restarted = restarted + 1;
    }

    fn op(&mut self, machinery: &mut Machinery, event: &Event, start: Start) {
        let (issue, latency) = if event.size == OpClass::Divide as u16 {
            let issue = start.ready.max(self.divider_free);
            self.divider_free = issue + self.divide_latency;
            (issue, self.divide_latency)
        } else {
            (start.ready, self.multiply_latency)
        };
        self.results.push(issue + latency);
        self.finish(machinery, issue, issue + latency);
    }

    /// Graduates a one-instruction event that waits for no data.
    #[inline]
    fn finish(&mut self, machinery: &mut Machinery, issue: u64, complete: u64) {
        if self.graduate.is_before(complete) {
            let timing = Timing {
                issue,
                complete,
                ..Timing::default()
            };
            self.wait(machinery, &timing, self.restarted);
        }
        self.graduate.position += 1;
    }

    /// Cycle in which the next instruction is dispatched at the earliest.
    pub(crate) fn now(&self) -> u64 {
        self.dispatch.cycle()
    }

    /// Dispatches nothing before the code is there, in cycle `fetched`.
    pub(crate) fn wait_for_code(&mut self, fetched: u64) {
        if self.dispatch.is_before(fetched) {
            self.dispatch.wait_until(fetched);
            self.fetched = fetched + 2;
        }
    }

    /// Later events count one more event when they name their producer; nothing waits for it.
    pub(crate) fn skip_result(&mut self) {
        self.results.skip();
    }

    /// The pipeline runs empty, and so does the store buffer: nothing later overlaps with what came before.
    pub(crate) fn flush(&mut self) {
        self.dispatch.wait_until(self.graduate.cycle() + 1);
        self.store_buffer.clear();
    }

    /// Instructions run so far.
    pub(crate) fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Slots filled or charged so far.
    pub(crate) fn position(&self) -> u64 {
        self.graduate.position
    }

    /// The cycle in which the last store leaves the store buffer.
    pub(crate) fn stores_drained(&self) -> u64 {
        self.store_buffer.drained()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_are_free_when_a_list_of_departures_says_so(
            entries in 8_u32..64,
            events in prop::collection::vec((1_u64..8, 0_u64..40, any::<bool>()), 1..300),
        ) {
            let mut buffer = ReorderBuffer::new(entries);
            let (mut departures, mut graduated, mut slot) = (vec![(0, 0)], 0, 0);
            for (instructions, idle, asks) in events {
                let instruction: u64 = graduated + instructions;
                let expected = instruction.checked_sub(u64::from(entries)).map_or(0, |leaves| {
                    let left = departures.iter().rev().find(|(last, _)| *last <= leaves);
                    left.map_or(0, |&(_, slot)| slot)
                });
                if asks {
                    prop_assert_eq!(buffer.left_before(instruction), expected);
                }
                graduated = instruction;
                slot += instructions + idle;
                buffer.leave(graduated, slot);
                departures.push((graduated, slot));
            }
        }
    }
}
