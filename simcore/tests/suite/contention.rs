//! Cores that want one bus, beside what can be counted by hand and beside a model that steps all of them cycle by cycle.
//!
//! All loads miss, and walks take no time: what is tested is who has the bus when.

use crate::common::stepped_core::*;
use crate::common::*;
use proptest::prelude::*;
use traces::{Event, Kind, OpClass};

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
    let alone = core_cycles(&spec, std::slice::from_ref(&first))[0];
    assert!(alone < 4800, "{alone}");
    let beside = core_cycles(&spec, &[first, second])[0];
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
        let waited = core_cycles(&spec, &programs)[0];
        let expected = lines * each;
        assert!(
            waited.abs_diff(expected) * 100 < expected * 2,
            "{hogs} {:?}: {waited}, {expected} expected",
            spec.core.kind
        );
    }
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
        let found = core_cycles(&spec, &[loads])[0];
        prop_assert!(found.abs_diff(expected) <= most, "{} instead of {}", found, expected);
    }
}

#[test]
fn cores_have_the_bus_in_the_order_in_which_they_ask() {
    let hog = |core| stream(core, 1800, 0);
    for interval in [T_NEXT, 2 * T_NEXT] {
        for programs in [
            vec![hog(0), hog(1), stream(2, 300, 20), stream(3, 300, 60)],
            vec![chase(0, 60), hog(1), hog(2)],
            vec![chase(0, 60), stream(1, 600, 20), stream(2, 300, 60)],
            vec![stream(0, 300, 60), stream(1, 600, 20), stream(2, 600, 20)],
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
