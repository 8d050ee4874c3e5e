//! Cores that want one bus, stepped side by side cycle by cycle.
//!
//! All accesses miss, and walks take no time: who has a miss handler and the bus when is all that matters.

use super::{LINE, T1, load, machine};
use crate::multicore::{Programs, on_all_cores_of};
use simcore::spec::{MachineSpec, MemorySpec};
use std::collections::VecDeque;
use traces::{Event, Kind, Layout};

/// Misses that a core may have outstanding.
pub const HANDLERS: u32 = 16;
const FAR: u64 = 1 << 30;

/// A machine whose bus begins with a line every `interval` cycles: four cores with nothing else in common.
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

/// A core of [`machine`] whose loads and stores all miss, step by step.
struct Stepped<'e> {
    accesses: &'e [Event],
    /// Instructions before each.
    before: Vec<u64>,
    instructions: u64,
    dispatched: u64,
    graduated: u64,
    /// By access: when it was dispatched, wanted its line, had a miss handler for it, and got it.
    times: Vec<[Option<u64>; 4]>,
}

const DISPATCHED: usize = 0;
/// A store graduates then.
const WANTED: usize = 1;
const ASKED: usize = 2;
const COMPLETE: usize = 3;

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
            times: vec![[None; 4]; accesses.len()],
        }
    }

    fn has_ended(&self, cycle: u64) -> bool {
        let all = 0..self.accesses.len();
        self.graduated == self.instructions
            && all.clone().all(|access| self.was(access, COMPLETE, cycle))
    }

    /// Whether something was so for an access by a cycle.
    fn was(&self, access: usize, what: usize, cycle: u64) -> bool {
        self.times[access][what].is_some_and(|time| time <= cycle)
    }

    fn is_store(&self, access: usize) -> bool {
        self.accesses[access].kind == Kind::Store
    }

    /// Whether what an access needs is there, a cycle after it was dispatched at the earliest.
    fn is_ready(&self, access: usize, cycle: u64) -> bool {
        let back = self.accesses[access].dep as usize;
        let has_operand = back == 0 || back > access || self.has_result(access - back, cycle);
        has_operand && self.was(access, DISPATCHED, cycle.saturating_sub(1))
    }

    /// A store's is there when it has been executed.
    fn has_result(&self, access: usize, cycle: u64) -> bool {
        if self.is_store(access) {
            self.is_ready(access, cycle.saturating_sub(1))
        } else {
            self.was(access, COMPLETE, cycle)
        }
    }

    fn may_graduate(&self, spec: &MachineSpec, access: usize, cycle: u64) -> bool {
        let is_buffered = |&other: &usize| {
            self.is_store(other)
                && self.was(other, WANTED, cycle)
                && !self.was(other, COMPLETE, cycle)
        };
        let room = |stores| stores < spec.core.store_buffer_entries as usize;
        self.has_result(access, cycle)
            && (!self.is_store(access) || room((0..access).filter(is_buffered).count()))
    }

    /// Runs a cycle, and gives the accesses that ask for their lines in it: those that want theirs for longest have the handlers.
    fn step(&mut self, spec: &MachineSpec, cycle: u64) -> Vec<usize> {
        let entries = u64::from(spec.core.reorder_buffer.expect("out of order"));
        let handlers = spec.caches[0].mshrs.expect("miss handlers") as usize;
        let access_at = |before: &[u64], instruction: u64| before.binary_search(&instruction).ok();
        let (dispatched, left) = (self.dispatched, self.graduated);
        for _ in 0..spec.core.issue_width {
            let access = access_at(&self.before, self.graduated);
            let waits = access.is_some_and(|access| !self.may_graduate(spec, access, cycle));
            if self.graduated == dispatched || waits {
                break;
            }
            if let Some(store) = access.filter(|&access| self.is_store(access)) {
                self.times[store][WANTED] = Some(cycle);
            }
            self.graduated += 1;
        }
        for _ in 0..spec.core.issue_width {
            if self.dispatched == self.instructions || self.dispatched - left == entries {
                break;
            }
            if let Some(access) = access_at(&self.before, self.dispatched) {
                self.times[access][DISPATCHED] = Some(cycle);
            }
            self.dispatched += 1;
        }
        let behind = self.before.partition_point(|&at| at < self.dispatched);
        for access in 0..behind {
            if !self.is_store(access)
                && self.times[access][WANTED].is_none()
                && self.is_ready(access, cycle)
            {
                self.times[access][WANTED] = Some(cycle);
            }
        }
        let is_out =
            |&access: &usize| self.was(access, ASKED, cycle) && !self.was(access, COMPLETE, cycle);
        let free = handlers - (0..behind).filter(is_out).count();
        let wants =
            |&access: &usize| self.was(access, WANTED, cycle) && !self.was(access, ASKED, cycle);
        let mut asked: Vec<usize> = (0..behind).filter(wants).collect();
        asked.sort_by_key(|&access| self.times[access][WANTED]);
        asked.truncate(free);
        for &access in &asked {
            self.times[access][ASKED] = Some(cycle);
        }
        asked
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
                queue.extend(asked.into_iter().map(|access| (number, access)));
                ends[number] = cycle;
            }
        }
        if cycle >= free
            && let Some((number, access)) = queue.pop_front()
        {
            cores[number].times[access][COMPLETE] = Some(cycle + T1);
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
