//! Cores that want one bus, stepped side by side cycle by cycle.
//!
//! All accesses miss: who has a miss handler, the walker and the bus when is all that matters.

use super::{LINE, PAGE, T1, load, machine};
use crate::multicore::{Programs, on_all_cores_of};
use simcore::spec::{MachineSpec, MemorySpec, Walker};
use std::collections::{BTreeMap, VecDeque};
use traces::{Event, Kind, Layout};

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
        interval_cycles: interval as u32,
        write_backs_use_bus: true,
    }
    .into();
    spec
}

/// Cycles that each core takes for its events.
pub fn core_cycles(spec: &MachineSpec, programs: &[Vec<Event>]) -> Vec<u64> {
    let run = on_all_cores_of(spec, programs, Programs::Apart, &Layout::default());
    run.cores.iter().map(|core| core.cycles).collect()
}

/// So many lines, one at each of which the pattern of `core` is told.
pub fn program(core: u64, lines: u64, pattern: impl Fn(u64, Event) -> Event) -> Vec<Event> {
    let load_of = |line| load(core * FAR + line * LINE);
    (0..lines)
        .map(|line| pattern(line, load_of(line)))
        .collect()
}

/// A core of [`machine`] whose loads and stores all miss, step by step. Each page is walked for once.
struct Stepped<'e> {
    accesses: &'e [Event],
    /// Instructions before each.
    before: Vec<u64>,
    instructions: u64,
    dispatched: u64,
    graduated: u64,
    /// The first access whose line is not there.
    first: usize,
    /// By access.
    times: Vec<Times>,
    /// By page: the access that walked for it, or does.
    walks: BTreeMap<u64, usize>,
    /// The latest branch that was predicted wrongly, which nothing is dispatched behind before the front end has restarted.
    mispredicted: Option<usize>,
}

/// Cycles in which something was, or will be, so for an access.
#[derive(Clone, Default)]
struct Times {
    dispatched: Option<u64>,
    /// Of the line of the page table that it reads, if it walks for its page.
    entry: Line,
    translated: Option<u64>,
    /// A store wants its line when it graduates.
    line: Line,
}

/// Cycles in which a line was wanted, had a miss handler, and came.
#[derive(Clone, Default)]
struct Line {
    wanted: Option<u64>,
    asked: Option<u64>,
    complete: Option<u64>,
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
        was(self.asked, cycle) && !was(self.complete, cycle)
    }
}

impl<'e> Stepped<'e> {
    fn of(accesses: &'e [Event]) -> Self {
        let mut instructions = 0;
        let before = accesses.iter().map(|access| {
            instructions += u64::from(access.instructions) + 1;
            instructions - 1
        });
        Self {
            before: before.collect(),
            instructions,
            accesses,
            dispatched: 0,
            graduated: 0,
            first: 0,
            times: vec![Times::default(); accesses.len()],
            walks: BTreeMap::new(),
            mispredicted: None,
        }
    }

    fn has_ended(&self, cycle: u64) -> bool {
        let mut lines = self.times[self.first..].iter().map(|times| &times.line);
        self.graduated == self.instructions && lines.all(|line| was(line.complete, cycle))
    }

    fn is_store(&self, access: usize) -> bool {
        self.accesses[access].kind == Kind::Store
    }

    /// Whether what an access needs is there, a cycle after it was dispatched at the earliest.
    fn is_ready(&self, access: usize, cycle: u64) -> bool {
        let back = self.accesses[access].dep as usize;
        let waits = |other: usize| {
            // A branch has no result.
            self.accesses[other].kind != Kind::Branch && !self.has_result(other, cycle)
        };
        let has_operand = back == 0 || back > access || !waits(access - back);
        has_operand && was(self.times[access].dispatched, cycle.saturating_sub(1))
    }

    /// A store's is there a cycle after its address has been translated.
    fn has_result(&self, access: usize, cycle: u64) -> bool {
        let times = &self.times[access];
        if self.is_store(access) {
            was(times.translated, cycle.saturating_sub(1))
        } else {
            was(times.line.complete, cycle)
        }
    }

    fn may_graduate(&self, spec: &MachineSpec, access: usize, cycle: u64) -> bool {
        let is_buffered = |&other: &usize| {
            let line = &self.times[other].line;
            self.is_store(other) && was(line.wanted, cycle) && !was(line.complete, cycle)
        };
        let room = |stores| stores < spec.core.store_buffer_entries as usize;
        self.has_result(access, cycle)
            && (!self.is_store(access) || room((self.first..access).filter(is_buffered).count()))
    }

    /// When the walk of an access ends, as far as that is known.
    fn end_of_walk(&self, spec: &MachineSpec, access: usize) -> Option<u64> {
        let entry = &self.times[access].entry;
        match spec.dtlb.page_table {
            Some(_) => entry.complete,
            None => entry.wanted,
        }
    }

    fn is_walking(&self, spec: &MachineSpec, cycle: u64) -> bool {
        // Who waits for its walk has no line yet.
        let walks = self.walks.values().filter(|&&access| access >= self.first);
        walks
            .copied()
            .any(|access| !was(self.end_of_walk(spec, access), cycle))
    }

    /// Translates what is ready, the first in the program first, as far as walks let it.
    fn translate(&mut self, spec: &MachineSpec, behind: usize, cycle: u64) {
        for access in self.first..behind {
            if self.accesses[access].kind == Kind::Branch {
                continue;
            }
            let is_due = self.times[access].translated.is_none() && self.is_ready(access, cycle);
            let blocks = spec.dtlb.walker == Walker::Blocking;
            if !is_due || blocks && self.is_walking(spec, cycle) {
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

    /// Resolves branches whose operands are there, in a cycle.
    fn resolve(&mut self, behind: usize, cycle: u64) {
        for access in self.first..behind {
            let is_open = self.times[access].line.complete.is_none();
            if self.accesses[access].kind == Kind::Branch && is_open && self.is_ready(access, cycle)
            {
                self.times[access].line.complete = Some(cycle + 1);
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

    /// Runs a cycle, and gives the lines that are asked for in it: those that are wanted for longest have the handlers.
    fn step(&mut self, spec: &MachineSpec, cycle: u64) -> Vec<Miss> {
        let is_there = |times: &Times| was(times.line.complete, cycle);
        self.first += self.times[self.first..]
            .iter()
            .take_while(|&times| is_there(times))
            .count();
        let entries = u64::from(spec.core.reorder_buffer.expect("out of order"));
        let access_at = |before: &[u64], instruction: u64| before.binary_search(&instruction).ok();
        let (dispatched, left) = (self.dispatched, self.graduated);
        for _ in 0..spec.core.issue_width {
            let access = access_at(&self.before, self.graduated);
            let waits = access.is_some_and(|access| !self.may_graduate(spec, access, cycle));
            if self.graduated == dispatched || waits {
                break;
            }
            if let Some(store) = access.filter(|&access| self.is_store(access)) {
                self.times[store].line.wanted = Some(cycle);
            }
            self.graduated += 1;
        }
        for _ in 0..spec.core.issue_width {
            let is_full = self.dispatched - left == entries;
            if self.dispatched == self.instructions || is_full || self.is_restarting(spec, cycle) {
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
        self.resolve(behind, cycle);
        let accesses = self.times[..behind]
            .iter_mut()
            .zip(self.accesses)
            .skip(self.first);
        for (times, _) in accesses.filter(|(_, access)| access.kind != Kind::Store) {
            times.line.wanted = times.translated;
        }
        self.ask(spec, behind, cycle)
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

    fn ask(&mut self, spec: &MachineSpec, behind: usize, cycle: u64) -> Vec<Miss> {
        let handlers = spec.caches[0].mshrs.expect("miss handlers") as usize;
        let reads_entries = spec.dtlb.page_table.is_some();
        let of = |is_entry| (self.first..behind).map(move |access| Miss { access, is_entry });
        let mut lines: Vec<Miss> = of(false).collect();
        lines.extend(of(true).filter(|_| reads_entries));
        let out = lines.iter().filter(|&&miss| self.line(miss).is_out(cycle));
        let free = handlers - out.count();
        lines.retain(|&miss| {
            let line = self.line(miss);
            was(line.wanted, cycle) && line.asked.is_none()
        });
        lines.sort_by_key(|&miss| (self.line(miss).wanted, miss.access));
        lines.truncate(free);
        for &miss in &lines {
            self.line_mut(miss).asked = Some(cycle);
        }
        lines
    }
}

/// Cycles that each core takes if the bus serves who comes first.
pub fn stepped(spec: &MachineSpec, interval: u64, programs: &[Vec<Event>]) -> Vec<u64> {
    let mut cores: Vec<_> = programs.iter().map(|loads| Stepped::of(loads)).collect();
    let mut ends = vec![0; cores.len()];
    let (mut queue, mut free) = (VecDeque::new(), 0);
    for cycle in 1.. {
        for (number, core) in cores.iter_mut().enumerate() {
            if !core.has_ended(cycle) {
                let asked = core.step(spec, cycle);
                queue.extend(asked.into_iter().map(|miss| (number, miss)));
                ends[number] = cycle;
            }
        }
        if cycle >= free
            && let Some((number, miss)) = queue.pop_front()
        {
            cores[number].line_mut(miss).complete = Some(cycle + T1);
            free = cycle + interval;
        }
        if cores.iter().all(|core| core.has_ended(cycle)) {
            break;
        }
    }
    ends
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
