//! Cores that want one bus, beside what can be counted by hand and beside a model that steps all of them cycle by cycle.
//!
//! All loads miss, and walks take no time: what is tested is who has the bus when.

use crate::common::*;
use crate::multicore::{Programs, on_cores_with};
use proptest::prelude::*;
use simcore::spec::{MachineSpec, MemorySpec};
use std::collections::VecDeque;
use traces::{Event, Kind, OpClass};

/// Misses that a core may have outstanding.
const HANDLERS: u32 = 16;
const FAR: u64 = 1 << 30;

/// A machine whose bus begins with a line every `interval` cycles.
fn contended(spec: MachineSpec, interval: u64) -> MachineSpec {
    let mut spec = spec;
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
fn cycles(spec: &MachineSpec, programs: &[Vec<Event>]) -> Vec<u64> {
    let cores = on_cores_with(spec, programs, Programs::Apart).cores;
    cores.iter().map(|core| core.cycles).collect()
}

/// So many lines, one at each of which the pattern of `core` is told.
fn program(core: u64, lines: u64, pattern: impl Fn(u64, Event) -> Event) -> Vec<Event> {
    let load_of = |line| load(core * FAR + line * LINE);
    (0..lines)
        .map(|line| pattern(line, load_of(line)))
        .collect()
}

/// Each load needs the one before it.
fn chase(core: u64, lines: u64) -> Vec<Event> {
    program(core, lines, |_, load| after(1, load))
}

/// No load needs any other; so many instructions lie between two.
fn stream(core: u64, lines: u64, between: u16) -> Vec<Event> {
    program(core, lines, |_, load| plain(between, load))
}

/// Pairs of loads, the second of which needs the first.
fn pairs(core: u64, lines: u64) -> Vec<Event> {
    program(core, lines, |line, load| match line % 2 {
        0 => plain(20, load),
        _ => after(1, plain(10, load)),
    })
}

/// The first core's next event waits for a chain up to cycle 4250. Behind it is a load that needs nothing, and asks in cycle 21: when what the
/// second core does until then and long after it has been simulated. It has the bus when the lines before and after its time have left no gap.
#[test]
fn who_asks_for_a_time_that_others_have_simulated_finds_the_bus_as_it_was() {
    let interval = 500;
    let mut spec = contended(machine(), interval);
    spec.core.reorder_buffer = Some(1000);
    // 50 cycles each.
    let division = Event {
        size: OpClass::Divide as u16,
        ..after(1, Event::new(Kind::Op, 0))
    };
    let chain = [
        vec![load(0)],
        vec![division; 80],
        vec![after(1, load(9 * LINE))],
    ]
    .concat();
    let behind = [vec![load(8 * LINE)], delay(3600)].concat();
    let first = [chain, behind].concat();
    // Its first line begins in cycle 600; the others come long after it, and before cycle 4250.
    let second = [2400, 6000, 6000].map(|before| plain(before, load(0)));
    let second: Vec<Event> = (0..)
        .zip(second)
        .map(|(line, load)| Event {
            address: line * LINE,
            ..load
        })
        .collect();
    let alone = cycles(&spec, std::slice::from_ref(&first))[0];
    assert!(alone < 4800, "{alone}");
    let beside = cycles(&spec, &[first, second])[0];
    assert!(beside.abs_diff(600 + interval + T1 + 3600) <= 8, "{beside}");
}

#[test]
fn a_chain_of_misses_waits_for_the_bus_like_all_others() {
    let lines = 200;
    for (hogs, kind) in [1, 2, 3]
        .into_iter()
        .flat_map(|hogs| [(hogs, machine()), (hogs, in_order())])
    {
        let spec = contended(kind, T_NEXT);
        let mut programs = vec![chase(0, lines)];
        programs.extend((1..=hogs).map(|core| stream(core, 20_000, 0)));
        // All that can be outstanding is: each line takes its turn behind all others, or comes after a latency.
        let outstanding = hogs * u64::from(HANDLERS) + 1;
        let each = (outstanding * T_NEXT).max(T1);
        let waited = cycles(&spec, &programs)[0];
        let expected = lines * each;
        assert!(
            waited.abs_diff(expected) * 100 < expected * 2,
            "{hogs} {:?}: {waited}, {expected} expected",
            spec.core.kind
        );
    }
}

/// A core of [`machine`] whose loads all miss, step by step.
struct Stepped<'e> {
    loads: &'e [Event],
    /// Instructions before each.
    before: Vec<u64>,
    instructions: u64,
    dispatched: u64,
    graduated: u64,
    /// By load: when it was dispatched, asked for its line and got it.
    times: Vec<[Option<u64>; 3]>,
}

const DISPATCHED: usize = 0;
const ASKED: usize = 1;
const COMPLETE: usize = 2;

impl<'e> Stepped<'e> {
    fn of(loads: &'e [Event]) -> Self {
        let mut instructions = 0;
        let before = loads.iter().map(|load| {
            instructions += u64::from(load.instructions) + 1;
            instructions - 1
        });
        Self {
            before: before.collect(),
            instructions,
            loads,
            dispatched: 0,
            graduated: 0,
            times: vec![[None; 3]; loads.len()],
        }
    }

    fn has_ended(&self) -> bool {
        self.graduated == self.instructions
    }

    /// Whether something was so for a load by a cycle.
    fn was(&self, load: usize, what: usize, cycle: u64) -> bool {
        self.times[load][what].is_some_and(|time| time <= cycle)
    }

    /// Runs a cycle, and gives the loads that ask for their lines in it.
    fn step(&mut self, spec: &MachineSpec, cycle: u64) -> Vec<usize> {
        let entries = u64::from(spec.core.reorder_buffer.expect("out of order"));
        let handlers = spec.caches[0].mshrs.expect("miss handlers") as usize;
        let load_at = |instruction: u64| self.before.binary_search(&instruction).ok();
        let (dispatched, left) = (self.dispatched, self.graduated);
        for _ in 0..spec.core.issue_width {
            let waits =
                load_at(self.graduated).is_some_and(|load| !self.was(load, COMPLETE, cycle));
            if self.graduated == dispatched || waits {
                break;
            }
            self.graduated += 1;
        }
        for _ in 0..spec.core.issue_width {
            if self.dispatched == self.instructions || self.dispatched - left == entries {
                break;
            }
            if let Some(load) = load_at(self.dispatched) {
                self.times[load][DISPATCHED] = Some(cycle);
            }
            self.dispatched += 1;
        }
        let first = self.before.partition_point(|&at| at < self.graduated);
        let behind = self.before.partition_point(|&at| at < self.dispatched);
        let is_out =
            |&load: &usize| self.was(load, ASKED, cycle) && !self.was(load, COMPLETE, cycle);
        let free = handlers - (first..behind).filter(is_out).count();
        let asks = |&load: &usize| {
            let back = self.loads[load].dep as usize;
            let has_operand = back == 0 || back > load || self.was(load - back, COMPLETE, cycle);
            has_operand && self.was(load, DISPATCHED, cycle - 1) && !self.was(load, ASKED, cycle)
        };
        let asked: Vec<usize> = (first..behind).filter(asks).take(free).collect();
        for &load in &asked {
            self.times[load][ASKED] = Some(cycle);
        }
        asked
    }
}

/// Cycles that each core takes if the bus serves who comes first.
fn stepped(spec: &MachineSpec, interval: u64, programs: &[Vec<Event>]) -> Vec<u64> {
    let mut cores: Vec<_> = programs.iter().map(|loads| Stepped::of(loads)).collect();
    let mut ends = vec![0; cores.len()];
    let (mut queue, mut free) = (VecDeque::new(), 0);
    for cycle in 1.. {
        for (number, core) in cores.iter_mut().enumerate() {
            if !core.has_ended() {
                let asked = core.step(spec, cycle);
                queue.extend(asked.into_iter().map(|load| (number, load)));
                ends[number] = cycle;
            }
        }
        if cycle >= free
            && let Some((number, load)) = queue.pop_front()
        {
            cores[number].times[load][COMPLETE] = Some(cycle + T1);
            free = cycle + interval;
        }
        if cores.iter().all(Stepped::has_ended) {
            break;
        }
    }
    ends
}

/// Whether each core takes as long as in the model, to within a share.
fn assert_near(programs: &[Vec<Event>], interval: u64, share: f64) {
    let spec = contended(machine(), interval);
    let (found, expected) = (cycles(&spec, programs), stepped(&spec, interval, programs));
    let is_near =
        |(found, expected): (&u64, &u64)| (*found as f64 / *expected as f64 - 1.).abs() < share;
    assert!(
        found.iter().zip(&expected).all(is_near),
        "{found:?}, {expected:?} expected"
    );
}

/// One by one: a load, the plain instructions before it, and how many loads back that is which it needs; 0 if it needs none.
type Step = (u16, u32);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let back = prop_oneof![2 => Just(0_u32), 1 => 1_u32..6];
    prop::collection::vec((0_u16..70, back), 1..60)
}

proptest! {
    /// As many ports as loads in a cycle, and a miss handler for each in the reorder buffer. Of loads that become ready in one cycle the core
    /// takes the first in the program, and the model who was ready first: that is worth a few cycles where any load needs another.
    #[test]
    fn a_core_takes_the_cycles_of_one_that_is_stepped_instruction_by_instruction(
        steps in steps(),
        entries in prop::sample::select(vec![32_u32, 128, 256]),
        width in 1_u32..7,
    ) {
        let mut spec = contended(machine(), 1);
        spec.caches[0].mshrs = Some(entries);
        spec.core.reorder_buffer = Some(entries);
        spec.core.issue_width = width;
        (spec.core.integer_units, spec.core.memory_ports) = (width, width);
        let back = |line: u64| steps[line as usize].1.min(line as u32);
        let loads = program(0, steps.len() as u64, |line, load| {
            after(back(line), plain(steps[line as usize].0, load))
        });
        let expected = stepped(&spec, 1, std::slice::from_ref(&loads))[0];
        let most = if loads.iter().any(|load| load.dep > 0) { 5 } else { 0 };
        let found = cycles(&spec, &[loads])[0];
        prop_assert!(found.abs_diff(expected) <= most, "{} instead of {}", found, expected);
    }
}

#[test]
fn cores_have_the_bus_in_the_order_in_which_they_ask() {
    let hog = |core| stream(core, 6000, 0);
    for interval in [T_NEXT, 2 * T_NEXT] {
        for programs in [
            vec![hog(0), hog(1), stream(2, 1000, 20), stream(3, 1000, 60)],
            vec![chase(0, 200), hog(1), hog(2)],
            vec![chase(0, 200), stream(1, 2000, 20), stream(2, 1000, 60)],
            vec![
                stream(0, 1000, 60),
                stream(1, 2000, 20),
                stream(2, 2000, 20),
            ],
        ] {
            assert_near(&programs, interval, 0.002);
        }
    }
}

/// Who needs the line before stands before who does not, in the program, and a core takes its events in that order: what comes behind it is late
/// where others fill the bus meanwhile. Among equals nobody is favoured.
#[test]
fn loads_that_stand_behind_others_share_the_bus_among_equals() {
    for interval in [T_NEXT, 2 * T_NEXT, 4 * T_NEXT] {
        assert_near(&[0, 1, 2, 3].map(|core| pairs(core, 1000)), interval, 0.05);
    }
}

/// In a DRAM nobody counts by hand. But a chain has one load under way on either kind of core, and waits as long on both.
#[cfg(feature = "dramsim3")]
#[test]
fn a_chain_of_misses_waits_for_a_dram_as_long_on_either_kind_of_core() {
    let lines = 200;
    for hogs in 1..=3 {
        let mut programs = vec![chase(0, lines)];
        programs.extend((1..=hogs).map(|core| stream(core, 5000, 0)));
        let takes = |kind: MachineSpec| {
            let spec = crate::dram::with_dram(contended(kind, T_NEXT), crate::dram::DDR4);
            let alone = cycles(&spec, &programs[..1])[0];
            let beside = cycles(&spec, &programs)[0];
            assert!(beside * 2 > alone * 3, "{hogs}: {beside}, {alone} alone");
            beside
        };
        let (one, other) = (takes(machine()), takes(in_order()));
        assert!(one.abs_diff(other) * 20 < one, "{hogs}: {one} and {other}");
    }
}
