//! The out-of-order pipeline: dispatch in order, issue when operands are there, graduate in order.
//!
//! One event costs a constant amount of work: the plain instructions before it are dispatched and graduated in closed
//! form, and the reorder buffer is a ring of events, not of instructions.

use super::machinery::{Machinery, Timing};
use super::units::{Results, SlotClock, StoreBuffer, Unit};
use crate::ledger::Cause;
use crate::spec::{CoreSpec, MachineSpec};
use traces::{Event, Kind, OpClass};

/// The last instruction of an event, and when it graduated.
#[derive(Clone, Copy, Debug, Default)]
struct Graduated {
    instruction: u64,
    cycle: u64,
}

/// The reorder buffer: events whose instructions may still hold entries, oldest first.
#[derive(Clone, Debug)]
struct ReorderBuffer {
    entries: u64,
    ring: Box<[Graduated]>,
    head: usize,
    tail: usize,
    /// Graduation of the latest instruction known to have left.
    freed: u64,
}

impl ReorderBuffer {
    fn new(entries: u32) -> Self {
        let ring = (entries as usize + 2).next_power_of_two();
        Self {
            entries: u64::from(entries),
            ring: vec![Graduated::default(); ring].into_boxed_slice(),
            head: 0,
            tail: 0,
            freed: 0,
        }
    }

    /// The first cycle in which `instruction`, counted from 1, finds an entry.
    #[inline]
    fn entry_for(&mut self, instruction: u64) -> u64 {
        let leaves = instruction.saturating_sub(self.entries);
        let mask = self.ring.len() - 1;
        while self.tail != self.head {
            let oldest = self.ring[self.tail & mask];
            if oldest.instruction > leaves {
                break;
            }
            self.freed = oldest.cycle + 1;
            self.tail = self.tail.wrapping_add(1);
        }
        self.freed
    }

    #[inline]
    fn push(&mut self, graduated: Graduated) {
        let mask = self.ring.len() - 1;
        self.ring[self.head & mask] = graduated;
        self.head = self.head.wrapping_add(1);
    }
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
    dispatch: SlotClock,
    graduate: SlotClock,
    integer: SlotClock,
    memory_ports: Unit,
    branch_units: Unit,
    divider_free: u64,
    reorder_buffer: ReorderBuffer,
    store_buffer: StoreBuffer,
    results: Results<u64>,
    /// When the latest instruction graduated.
    graduated: u64,
    /// Issue of the first instruction after the latest misprediction.
    restarted: u64,
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
            dispatch: SlotClock::new(core.issue_width),
            graduate: SlotClock::new(core.issue_width),
            integer: SlotClock::new(core.integer_units),
            memory_ports: Unit::new(core.memory_ports),
            branch_units: Unit::new(core.branch_units),
            divider_free: 0,
            reorder_buffer: ReorderBuffer::new(entries),
            store_buffer: StoreBuffer::new(core.store_buffer_entries),
            results: Results::new(),
            graduated: 0,
            restarted: 0,
            instructions: 0,
        }
    }

    /// Runs one event that is an instruction.
    #[inline]
    pub(crate) fn step(&mut self, machinery: &mut Machinery, event: &Event) {
        let mut plain = u64::from(event.instructions);
        while plain > self.largest_group {
            self.run_plain(machinery, self.largest_group);
            plain -= self.largest_group;
        }
        let own = event.own_instructions();
        let dispatched = self.dispatch_group(plain + own);
        if plain > 0 {
            self.graduate_plain(machinery, plain, dispatched);
        }
        let ready = (dispatched + 1).max(self.operand(event));
        match event.kind {
            Kind::Load => self.load(machinery, event, ready),
            Kind::Store => self.store(machinery, event, ready),
            Kind::Prefetch | Kind::PrefetchNta => self.prefetch(machinery, event, ready),
            Kind::Branch => self.branch(machinery, event, ready),
            _ => self.op(machinery, event, ready),
        }
        self.reorder_buffer.push(Graduated {
            instruction: self.instructions,
            cycle: self.graduated,
        });
    }

    /// A marker takes no slot, but later events count it when they name their producer.
    #[inline]
    pub(crate) fn pass(&mut self) {
        self.results.push(0);
    }

    /// Instructions of a marker are plain ones.
    pub(crate) fn run_all_plain(&mut self, machinery: &mut Machinery, mut plain: u64) {
        while plain > 0 {
            let group = plain.min(self.largest_group);
            self.run_plain(machinery, group);
            plain -= group;
        }
    }

    fn run_plain(&mut self, machinery: &mut Machinery, plain: u64) {
        let dispatched = self.dispatch_group(plain);
        self.graduate_plain(machinery, plain, dispatched);
        self.reorder_buffer.push(Graduated {
            instruction: self.instructions,
            cycle: self.graduated,
        });
    }

    /// Dispatches so many instructions and gives the cycle of the last.
    #[inline]
    fn dispatch_group(&mut self, instructions: u64) -> u64 {
        self.instructions += instructions;
        let entry = self.reorder_buffer.entry_for(self.instructions);
        self.dispatch.wait_until(entry);
        self.dispatch.take(instructions)
    }

    /// Graduates plain instructions, the last of which was dispatched at `dispatched` or before.
    #[inline]
    fn graduate_plain(&mut self, machinery: &mut Machinery, plain: u64, dispatched: u64) {
        let first = dispatched.saturating_sub(plain / self.width) + 1;
        self.integer.wait_until(first);
        let done = self.integer.take(plain) + 1;
        self.graduated = self.graduate.take(plain);
        machinery.ledger.charge(Cause::Busy, plain);
        if done > self.graduate.cycle {
            let timing = Timing {
                complete: done,
                ..Timing::default()
            };
            self.wait(machinery, &timing, self.restarted);
        }
    }

    /// When the operand that the event names is there.
    #[inline]
    fn operand(&self, event: &Event) -> u64 {
        self.results
            .get(event.dep)
            .map_or(0, |&ready| ready + u64::from(event.chain))
    }

    /// Leaves slots empty until `timing` completes and charges them.
    fn wait(&mut self, machinery: &mut Machinery, timing: &Timing, restarted: u64) {
        let place = machinery.ledger.place();
        let position = self.graduate.position();
        timing.charge(
            &mut machinery.ledger,
            place,
            position,
            restarted,
            self.width,
        );
        self.graduate.wait_until(timing.complete);
    }

    /// Waits until `timing` completes, then graduates the event's own instructions.
    #[inline]
    fn graduate(&mut self, machinery: &mut Machinery, timing: &Timing, own: u64) {
        if timing.complete > self.graduate.cycle {
            self.wait(machinery, timing, self.restarted);
        }
        self.graduated = self.graduate.take(own);
        machinery.ledger.charge(Cause::Busy, own);
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

    #[inline]
    fn load(&mut self, machinery: &mut Machinery, event: &Event, ready: u64) {
        machinery.ledger.touch(event.address);
        let issue = self.ports(event.words, ready);
        let timing = machinery.load(event, issue, self.dispatch.cycle);
        self.results.push(timing.complete);
        self.graduate(machinery, &timing, u64::from(event.words));
    }

    #[inline]
    fn store(&mut self, machinery: &mut Machinery, event: &Event, ready: u64) {
        machinery.ledger.touch(event.address);
        let issue = self.ports(event.words, ready);
        let timing = machinery.translate_store(event, issue);
        self.results.push(timing.complete);
        if timing.complete > self.graduate.cycle {
            self.wait(machinery, &timing, self.restarted);
        }
        self.wait_for_store_buffer(machinery);
        let served = machinery.write(event, self.graduate.cycle, self.dispatch.cycle);
        for word in 0..event.words {
            if word > 0 {
                self.wait_for_store_buffer(machinery);
            }
            self.store_buffer.put(served.complete, served.level);
            self.graduated = self.graduate.take(1);
        }
        machinery.ledger.charge(Cause::Busy, u64::from(event.words));
    }

    /// Leaves slots empty until the store buffer has room; they count as waiting for the line it waits for.
    #[inline]
    fn wait_for_store_buffer(&mut self, machinery: &mut Machinery) {
        let (free, level) = self.store_buffer.free();
        if free > self.graduate.cycle {
            let full = Timing {
                complete: free,
                level,
                ..Timing::default()
            };
            self.wait(machinery, &full, 0);
        }
    }

    #[inline]
    fn prefetch(&mut self, machinery: &mut Machinery, event: &Event, ready: u64) {
        machinery.ledger.touch(event.address);
        let issue = self.memory_ports.start(ready);
        machinery.prefetch(event, issue, self.dispatch.cycle);
        self.finish(machinery, issue, issue + 1);
    }

    #[inline]
    fn branch(&mut self, machinery: &mut Machinery, event: &Event, ready: u64) {
        let issue = self.branch_units.start(ready);
        let resolved = issue + 1;
        let right = machinery.predict(event);
        self.finish(machinery, issue, resolved);
        if !right {
            let dispatched = resolved + self.mispredict_penalty;
            self.dispatch.wait_until(dispatched);
            self.restarted = dispatched + 1;
        }
    }

    fn op(&mut self, machinery: &mut Machinery, event: &Event, ready: u64) {
        let (issue, latency) = if event.size == OpClass::Divide as u16 {
            let issue = ready.max(self.divider_free);
            self.divider_free = issue + self.divide_latency;
            (issue, self.divide_latency)
        } else {
            (ready, self.multiply_latency)
        };
        self.finish(machinery, issue, issue + latency);
    }

    /// Records and graduates a one-instruction event that waits for no data.
    #[inline]
    fn finish(&mut self, machinery: &mut Machinery, issue: u64, complete: u64) {
        self.results.push(complete);
        let timing = Timing {
            issue,
            complete,
            ..Timing::default()
        };
        self.graduate(machinery, &timing, 1);
    }

    /// The pipeline runs empty, and so does the store buffer: nothing later overlaps with what came before.
    pub(crate) fn flush(&mut self) {
        self.dispatch.wait_until(self.graduate.cycle + 1);
        self.store_buffer.clear();
    }

    /// Instructions run so far.
    pub(crate) fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Slots filled or charged so far.
    pub(crate) fn position(&self) -> u64 {
        self.graduate.position()
    }

    /// The cycle in which the last store leaves the store buffer.
    pub(crate) fn stores_drained(&self) -> u64 {
        self.store_buffer.drained()
    }
}
