//! Cores that want one bus, and lines of each other's caches, stepped side by side cycle by cycle.
//!
//! No line leaves a cache for another: who has a miss handler, the walker, the bus and a line when is all that matters.

use super::stepped_lines::Lines;
use super::stepped_memory::{SteppedMemory, UNKNOWN};
use super::{LINE, PAGE, T1, load, machine};
use crate::multicore::{Programs, on_all_cores_of};
use simcore::spec::{Interval, MachineSpec, MemorySpec, Walker};
use std::collections::{BTreeMap, HashMap};
use traces::{Event, Kind, Layout, OpClass};

/// Misses that a core may have outstanding.
pub const HANDLERS: u32 = 16;
const FAR: u64 = 1 << 30;

/// A machine whose bus begins with a line every `interval` cycles: four cores with nothing else in common, and walks that take no time.
pub fn contended(spec: MachineSpec, interval: u64) -> MachineSpec {
    let mut spec = spec;
    spec.cores = 4;
    spec.dtlb.walk_latency_cycles = 0;
    spec.caches[0].mshrs = Some(HANDLERS);
    spec.memory = MemorySpec::Fixed {
        latency_cycles: T1 as u32,
        interval_cycles: Interval::of_cycles(interval),
        write_backs_use_bus: true,
        write_interval_cycles: None,
    }
    .into();
    spec
}

/// Cycles that each core takes for its events. Where caches are coherent, equal addresses are one place for all.
pub fn core_cycles(spec: &MachineSpec, programs: &[Vec<Event>]) -> Vec<u64> {
    let kind = match spec.coherence {
        Some(_) => Programs::Threads,
        None => Programs::Apart,
    };
    let run = on_all_cores_of(spec, programs, kind, &Layout::default());
    run.cores.iter().map(|core| core.cycles).collect()
}

/// So many lines, one at each of which the pattern of `core` is told.
pub fn program(core: u64, lines: u64, pattern: impl Fn(u64, Event) -> Event) -> Vec<Event> {
    let load_of = |line| load(core * FAR + line * LINE);
    (0..lines)
        .map(|line| pattern(line, load_of(line)))
        .collect()
}

/// A core of [`machine`], step by step. Each page is walked for once.
struct Stepped<'e> {
    number: usize,
    accesses: &'e [Event],
    /// Instructions before each.
    before: Vec<u64>,
    instructions: u64,
    dispatched: u64,
    /// Those that were dispatched two cycles before: an instruction begins a cycle after that, and takes one at least.
    executed: u64,
    graduated: u64,
    /// The first access whose line is not there.
    first: usize,
    /// By access.
    times: Vec<Times>,
    /// By page: the access that walked for it, or does.
    walks: BTreeMap<u64, usize>,
    /// The latest branch that was predicted wrongly, which nothing is dispatched behind before the front end has restarted.
    mispredicted: Option<usize>,
    /// The access that is the oldest instruction of all and has a slot to graduate in, if it waits.
    oldest: Option<usize>,
}

/// Cycles in which something was, or will be, so for an access.
#[derive(Clone, Default)]
struct Times {
    dispatched: Option<u64>,
    /// Its address is to be translated.
    issued: Option<u64>,
    /// Of the line of the page table that it reads, if it walks for its page.
    entry: Line,
    translated: Option<u64>,
    /// A store wants its line when it graduates.
    line: Line,
}

/// Cycles in which a line was wanted, was asked for, as it was there or there was a miss handler, and could be used.
#[derive(Clone, Default)]
struct Line {
    wanted: Option<u64>,
    asked: Option<u64>,
    complete: Option<u64>,
    /// Until when it has a miss handler.
    handled: Option<u64>,
}

/// A line that an access waits for.
#[derive(Clone, Copy)]
struct Miss {
    access: usize,
    is_entry: bool,
}

/// Whether something was so by a cycle.
fn was(time: Option<u64>, cycle: u64) -> bool {
    time.is_some_and(|time| time <= cycle)
}

impl Line {
    fn is_out(&self, cycle: u64) -> bool {
        was(self.asked, cycle) && self.handled.is_some_and(|until| until > cycle)
    }
}

impl<'e> Stepped<'e> {
    fn of(number: usize, accesses: &'e [Event]) -> Self {
        let mut instructions = 0;
        let before = accesses.iter().map(|access| {
            instructions += u64::from(access.instructions) + 1;
            instructions - 1
        });
        Self {
            number,
            before: before.collect(),
            instructions,
            accesses,
            dispatched: 0,
            executed: 0,
            graduated: 0,
            first: 0,
            times: vec![Times::default(); accesses.len()],
            walks: BTreeMap::new(),
            mispredicted: None,
            oldest: None,
        }
    }

    fn has_ended(&self, cycle: u64) -> bool {
        let mut lines = self.times[self.first..].iter().map(|times| &times.line);
        self.graduated == self.instructions && lines.all(|line| was(line.complete, cycle))
    }

    fn is_store(&self, access: usize) -> bool {
        self.accesses[access].kind == Kind::Store
    }

    fn is_prefetch(&self, access: usize) -> bool {
        self.accesses[access].kind == Kind::Prefetch
    }

    fn is_exchange(&self, access: usize) -> bool {
        self.accesses[access].kind == Kind::Exchange
    }

    /// Whether what an access needs is there, a cycle after it was dispatched at the earliest.
    fn is_ready(&self, access: usize, cycle: u64) -> bool {
        let back = self.accesses[access].dep as usize;
        let waits = |other: usize| {
            // Neither a branch nor a prefetch has a result.
            !matches!(self.accesses[other].kind, Kind::Branch | Kind::Prefetch)
                && !self.has_result(other, cycle)
        };
        let has_operand = back == 0 || back > access || !waits(access - back);
        has_operand && was(self.times[access].dispatched, cycle.saturating_sub(1))
    }

    /// A store's is there a cycle after its address has been translated, and nothing of a prefetch is waited for when it has been issued.
    fn has_result(&self, access: usize, cycle: u64) -> bool {
        let times = &self.times[access];
        if self.is_store(access) {
            was(times.translated, cycle.saturating_sub(1))
        } else if self.is_prefetch(access) {
            was(times.issued, cycle.saturating_sub(1))
        } else {
            was(times.line.complete, cycle)
        }
    }

    /// Whether a store has graduated and has not written.
    fn is_unwritten(&self, store: usize, cycle: u64) -> bool {
        let line = &self.times[store].line;
        self.is_store(store) && was(line.wanted, cycle) && !was(line.complete, cycle)
    }

    /// Stores leave the store buffer in their order.
    fn may_graduate(&self, spec: &MachineSpec, access: usize, cycle: u64) -> bool {
        let buffered = (self.first..access)
            .skip_while(|&other| !self.is_unwritten(other, cycle))
            .filter(|&other| self.is_store(other));
        let room = |stores| stores < spec.core.store_buffer_entries as usize;
        self.has_result(access, cycle) && (!self.is_store(access) || room(buffered.count()))
    }

    /// Whether an access can be issued as far as it depends on more than its operand: an exchange that runs alone waits until all before it
    /// have graduated and been written.
    fn may_issue(&self, spec: &MachineSpec, access: usize, cycle: u64) -> bool {
        let is_alone = self.is_exchange(access) && is_alone(spec);
        let mut before = self.first..access;
        !is_alone
            || self.oldest == Some(access) && !before.any(|store| self.is_unwritten(store, cycle))
    }

    /// Cycles that an access takes from when it is issued to when its address is translated at the earliest.
    fn further(&self, spec: &MachineSpec, access: usize) -> u64 {
        let exchange = spec.core.exchange.filter(|_| self.is_exchange(access));
        exchange.map_or(0, |exchange| u64::from(exchange.further_cycles))
    }

    /// When the walk of an access ends, as far as that is known.
    fn end_of_walk(&self, spec: &MachineSpec, access: usize) -> Option<u64> {
        let entry = &self.times[access].entry;
        match spec.dtlb.page_table {
            Some(_) => entry.complete,
            None => entry.wanted,
        }
    }

    /// Walks under way.
    fn walking(&self, spec: &MachineSpec, cycle: u64) -> usize {
        // Who waits for its walk has no line yet.
        let walks = self.walks.values().filter(|&&access| access >= self.first);
        walks
            .filter(|&&access| !was(self.end_of_walk(spec, access), cycle))
            .count()
    }

    /// Whether an access has to wait before it is looked up, or before its page is walked for.
    fn waits_for_walks(&self, spec: &MachineSpec, access: usize, cycle: u64) -> bool {
        let page = self.accesses[access].address / PAGE;
        let most = match (spec.dtlb.walker, spec.dtlb.walkers) {
            (Walker::Blocking, _) => Some(1),
            (Walker::Parallel, _) if self.walks.contains_key(&page) => None,
            (Walker::Parallel, walkers) => walkers,
        };
        most.is_some_and(|most| self.walking(spec, cycle) >= most as usize)
    }

    /// Translates what is ready, the first in the program first, as far as walks let it.
    fn translate(&mut self, spec: &MachineSpec, behind: usize, cycle: u64) {
        for access in self.first..behind {
            if matches!(self.accesses[access].kind, Kind::Branch | Kind::Op) {
                continue;
            }
            if self.times[access].issued.is_none()
                && self.is_ready(access, cycle)
                && self.may_issue(spec, access, cycle)
            {
                self.times[access].issued = Some(cycle + self.further(spec, access));
            }
            let is_due =
                self.times[access].translated.is_none() && was(self.times[access].issued, cycle);
            if !is_due || self.waits_for_walks(spec, access, cycle) {
                continue;
            }
            let page = self.accesses[access].address / PAGE;
            let walker = *self.walks.entry(page).or_insert(access);
            let entry = &mut self.times[walker].entry;
            let latency = u64::from(spec.dtlb.walk_latency_cycles);
            entry.wanted.get_or_insert(cycle + latency);
            if was(self.end_of_walk(spec, walker), cycle) {
                self.times[access].translated = Some(cycle);
            }
        }
    }

    /// Resolves branches whose operands are there, in a cycle, and begins with operations.
    fn resolve(&mut self, spec: &MachineSpec, behind: usize, cycle: u64) {
        for access in self.first..behind {
            let event = &self.accesses[access];
            let latency = match event.kind {
                Kind::Branch => 1,
                Kind::Op if event.size == OpClass::Add as u16 => 1,
                Kind::Op => u64::from(spec.core.multiply_latency_cycles),
                _ => continue,
            };
            if self.times[access].line.complete.is_none() && self.is_ready(access, cycle) {
                self.times[access].line.complete = Some(cycle + latency);
            }
        }
    }

    /// Whether the front end waits for a branch that was predicted wrongly.
    fn is_restarting(&self, spec: &MachineSpec, cycle: u64) -> bool {
        let penalty = u64::from(spec.core.mispredict_penalty_cycles);
        self.mispredicted.is_some_and(|branch| {
            let resolved = self.times[branch].line.complete;
            !was(resolved.map(|resolved| resolved + penalty), cycle)
        })
    }

    /// Whether an exchange that runs alone has not ended: nothing is dispatched behind it.
    fn is_held_up(&self, spec: &MachineSpec, cycle: u64) -> bool {
        let mut exchanges = (self.first..self.accesses.len())
            .take_while(|&access| self.times[access].dispatched.is_some())
            .filter(|&access| self.is_exchange(access));
        is_alone(spec) && exchanges.any(|access| !was(self.times[access].line.complete, cycle))
    }

    /// Puts the cycles in which lines come in the place of names that stood for them.
    fn learn(&mut self, came: &HashMap<u64, u64>) {
        for times in &mut self.times[self.first..] {
            for line in [&mut times.entry, &mut times.line] {
                for time in [&mut line.complete, &mut line.handled] {
                    *time = time.map(|time| came.get(&time).copied().unwrap_or(time));
                }
            }
        }
    }

    /// The first cycle from `after` on in which, or behind which, something may happen even if nothing does in the one before.
    fn turn(&self, spec: &MachineSpec, after: u64) -> Option<u64> {
        let mut first = None;
        let mut look = |time: Option<u64>| {
            let is_turn = |time| (after..UNKNOWN).contains(&time);
            if time.is_some_and(|time| is_turn(time) && first.is_none_or(|first| time < first)) {
                first = time;
            }
        };
        for times in &self.times[self.first..] {
            if times.dispatched.is_none() {
                break;
            }
            look(times.dispatched);
            look(times.issued);
            look(times.translated);
            for line in [&times.entry, &times.line] {
                look(line.wanted);
                look(line.asked);
                look(line.complete);
                look(line.handled);
            }
        }
        let penalty = u64::from(spec.core.mispredict_penalty_cycles);
        let branch = self.mispredicted;
        let resolved = branch.and_then(|branch| self.times[branch].line.complete);
        look(resolved.map(|resolved| resolved + penalty));
        first
    }

    /// Runs a cycle, in which it asks for lines: those that are wanted for longest have the handlers. Says whether any instruction came further.
    fn step(&mut self, spec: &MachineSpec, cycle: u64, caches: &mut Lines) -> bool {
        let before = (self.dispatched, self.executed, self.graduated);
        let is_there = |times: &Times| was(times.line.complete, cycle);
        self.first += self.times[self.first..]
            .iter()
            .take_while(|&times| is_there(times))
            .count();
        let entries = u64::from(spec.core.reorder_buffer.expect("out of order"));
        let access_at = |before: &[u64], instruction: u64| before.binary_search(&instruction).ok();
        let left = self.graduated;
        let executed = std::mem::replace(&mut self.executed, self.dispatched);
        self.oldest = None;
        for _ in 0..spec.core.issue_width {
            let access = access_at(&self.before, self.graduated);
            let waits = access.is_some_and(|access| !self.may_graduate(spec, access, cycle));
            if self.graduated == executed || waits {
                self.oldest = access;
                break;
            }
            if let Some(store) = access.filter(|&access| self.is_store(access)) {
                self.times[store].line.wanted = Some(cycle);
            }
            self.graduated += 1;
        }
        for _ in 0..spec.core.issue_width {
            let is_full = self.dispatched - left == entries;
            let waits = self.is_restarting(spec, cycle) || self.is_held_up(spec, cycle);
            if self.dispatched == self.instructions || is_full || waits {
                break;
            }
            if let Some(access) = access_at(&self.before, self.dispatched) {
                self.times[access].dispatched = Some(cycle);
                // Of branches each of which has a counter of its own, those that are not taken are predicted wrongly.
                let Event { kind, address, .. } = self.accesses[access];
                if kind == Kind::Branch && address == 0 {
                    self.mispredicted = Some(access);
                }
            }
            self.dispatched += 1;
        }
        let behind = self.before.partition_point(|&at| at < self.dispatched);
        self.translate(spec, behind, cycle);
        self.resolve(spec, behind, cycle);
        let accesses = self.times[..behind]
            .iter_mut()
            .zip(self.accesses)
            .skip(self.first);
        for (times, _) in accesses.filter(|(_, access)| access.kind != Kind::Store) {
            times.line.wanted = times.translated;
        }
        self.ask(spec, behind, cycle, caches);
        before != (self.dispatched, self.executed, self.graduated)
    }

    fn line(&self, miss: Miss) -> &Line {
        let times = &self.times[miss.access];
        if miss.is_entry {
            &times.entry
        } else {
            &times.line
        }
    }

    fn line_mut(&mut self, miss: Miss) -> &mut Line {
        let times = &mut self.times[miss.access];
        if miss.is_entry {
            &mut times.entry
        } else {
            &mut times.line
        }
    }

    fn ask(&mut self, spec: &MachineSpec, behind: usize, cycle: u64, caches: &mut Lines) {
        let handlers = spec.caches[0].mshrs.expect("miss handlers") as usize;
        let reads_entries = spec.dtlb.page_table.is_some();
        let of = |is_entry| (self.first..behind).map(move |access| Miss { access, is_entry });
        let mut lines: Vec<Miss> = of(false).collect();
        lines.extend(of(true).filter(|_| reads_entries));
        let out = lines.iter().filter(|&&miss| self.line(miss).is_out(cycle));
        let mut free = handlers - out.count();
        lines.retain(|&miss| {
            let line = self.line(miss);
            was(line.wanted, cycle) && line.asked.is_none()
        });
        lines.sort_by_key(|&miss| (self.line(miss).wanted, miss.access));
        for miss in lines {
            let Event { kind, address, .. } = self.accesses[miss.access];
            let wanted = (self.number, address / LINE, cycle);
            let writes = matches!(kind, Kind::Store | Kind::Exchange);
            let (handled, complete) = if miss.is_entry && free > 0 {
                let there = caches.memory.read(address / LINE, cycle);
                (Some(there), there)
            } else if !miss.is_entry && caches.holds(wanted) {
                (None, caches.use_own(wanted, writes))
            } else if free > 0 {
                let (there, complete) = caches.fetch(wanted, writes);
                (Some(there), complete)
            } else {
                continue;
            };
            free -= usize::from(handled.is_some());
            let line = self.line_mut(miss);
            (line.asked, line.complete) = (Some(cycle), Some(complete));
            line.handled = handled;
        }
    }
}

fn is_alone(spec: &MachineSpec) -> bool {
    spec.core.exchange.is_some_and(|exchange| exchange.alone)
}

/// Cycles that each core takes if memory serves who comes first. Equal addresses are one place for all cores.
pub fn stepped(spec: &MachineSpec, interval: u64, programs: &[Vec<Event>]) -> Vec<u64> {
    stepped_before(spec, interval, programs).0
}

/// The same, and the memory when all have ended.
pub fn stepped_before(
    spec: &MachineSpec,
    interval: u64,
    programs: &[Vec<Event>],
) -> (Vec<u64>, SteppedMemory) {
    let numbered = programs.iter().enumerate();
    let mut cores: Vec<_> = numbered
        .map(|(number, accesses)| Stepped::of(number, accesses))
        .collect();
    let mut ends = vec![None; cores.len()];
    let mut caches = Lines::of(spec, interval);
    let mut cycle = 1;
    loop {
        let mut moves = false;
        for (core, end) in cores.iter_mut().zip(&mut ends) {
            if core.has_ended(cycle) {
                end.get_or_insert(cycle - 1);
            } else {
                moves |= core.step(spec, cycle, &mut caches);
            }
        }
        if let Some(ends) = ends.iter().copied().collect() {
            return (ends, caches.memory);
        }
        cycle = next_turn(spec, (&mut cores, moves), cycle, &mut caches);
    }
}

/// The cycle behind one in which something has moved, or nothing. Steps of cycles in which nothing can happen are left out: most are such
/// where cores wait for memory.
fn next_turn(
    spec: &MachineSpec,
    (cores, moves): (&mut [Stepped<'_>], bool),
    cycle: u64,
    caches: &mut Lines,
) -> u64 {
    loop {
        let turns = cores.iter().map(|core| core.turn(spec, cycle - 1));
        let next = if moves {
            Some(cycle + 1)
        } else {
            turns.flatten().min().map(|turn| turn.max(cycle + 1))
        };
        let came = caches.memory.run(next.unwrap_or(UNKNOWN));
        if came.is_empty() {
            return next.unwrap_or(cycle + 1);
        }
        caches.learn(&came);
        cores.iter_mut().for_each(|core| core.learn(&came));
    }
}

/// Whether each core takes as long as in the model, to within a share.
pub fn assert_near(programs: &[Vec<Event>], interval: u64, share: f64) {
    let spec = contended(machine(), interval);
    let (found, expected) = (
        core_cycles(&spec, programs),
        stepped(&spec, interval, programs),
    );
    let is_near =
        |(found, expected): (&u64, &u64)| (*found as f64 / *expected as f64 - 1.).abs() < share;
    assert!(
        found.iter().zip(&expected).all(is_near),
        "{found:?}, {expected:?} expected"
    );
}
