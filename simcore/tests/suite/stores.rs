//! Stores of an out-of-order core ask for their lines when they have graduated: loads behind them that ask earlier go first.

use crate::common::stepped_core::*;
use crate::common::*;
use proptest::collection::vec;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use traces::{Event, Kind};

/// A load that keeps stores from graduating for a memory latency, 8 of these, and 16 loads that need nothing, before a chain.
#[test]
fn loads_go_before_the_stores_before_them() {
    let spec = contended(machine(), T_NEXT);
    let events = program(0, 28, |line, load| match line {
        0 => load,
        1..=8 => store(load.address),
        9..=24 => load,
        _ => after(1, load),
    });
    let expected = stepped(&spec, T_NEXT, std::slice::from_ref(&events));
    assert_eq!(core_cycles(&spec, &[events]), expected);
}

/// Two handlers, and a load that needs another one's line beside those that need nothing.
#[test]
fn the_handler_that_was_used_last_is_taken_for_later() {
    let mut spec = contended(machine(), 1);
    spec.caches[0].mshrs = Some(2);
    let events = program(0, 4, |line, load| after(u32::from(line == 1), load));
    let expected = stepped(&spec, 1, std::slice::from_ref(&events));
    // Two rounds of a memory latency.
    assert!(expected[0].abs_diff(2 * T1) < 10, "{expected:?}");
    assert_eq!(core_cycles(&spec, &[events]), expected);
}

/// Of ten accesses, how many are stores and how many need one of the five before them; the most plain instructions between two.
#[derive(Clone, Copy, Debug)]
struct Mix {
    stores: u32,
    needs: u32,
    between: u16,
}

impl Mix {
    fn program(self, runner: &mut TestRunner, core: u64) -> Vec<Event> {
        let steps = vec((0..10_u32, 0..10_u32, 1..6_u32, 0..self.between), 150);
        let steps = steps.new_tree(runner).expect("no filter").current();
        program(core, steps.len() as u64, |line, load| {
            let (kind, need, back, between) = steps[line as usize];
            let back = if need < self.needs {
                back.min(line as u32)
            } else {
                0
            };
            let kind = if kind < self.stores {
                Kind::Store
            } else {
                Kind::Load
            };
            after(back, plain(between, Event { kind, ..load }))
        })
    }
}

/// In percent, how much longer random programs of a mix take than in the model: on the average, and the most of them in either direction.
fn errors(mix: Mix, handlers: u32, entries: u32, cores: u64) -> (f64, f64) {
    let mut spec = contended(machine(), T_NEXT);
    spec.caches[0].mshrs = Some(handlers);
    spec.core.store_buffer_entries = entries;
    spec.core.memory_ports = spec.core.issue_width;
    let mut runner = TestRunner::deterministic();
    let mut errors = Vec::new();
    for _ in 0..20 {
        let programs: Vec<_> = (0..cores)
            .map(|core| mix.program(&mut runner, core))
            .collect();
        let expected = stepped(&spec, T_NEXT, &programs);
        for (found, expected) in core_cycles(&spec, &programs).into_iter().zip(expected) {
            errors.push((found as f64 / expected as f64 - 1.) * 100.);
        }
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    (mean, errors.into_iter().map(f64::abs).fold(0., f64::max))
}

/// A full bus, and few miss handlers, are given to loads in the order of the program: there single programs differ by more.
#[test]
fn mixes_of_loads_and_stores_take_as_long_as_step_by_step() {
    let dense = |stores, needs| Mix {
        stores,
        needs,
        between: 40,
    };
    let sparse = |stores| Mix {
        stores,
        needs: 3,
        between: 200,
    };
    for (mix, handlers, entries, cores, mean, most) in [
        (dense(1, 3), 16, 24, 1, 0.3, 2.),
        (dense(4, 3), 16, 24, 1, 0.3, 2.),
        (dense(4, 3), 16, 4, 1, 0.3, 2.),
        (dense(4, 0), 16, 24, 1, 0.01, 0.01),
        (dense(4, 3), 4, 24, 1, 1.2, 5.),
        (sparse(3), 16, 24, 1, 0.05, 0.2),
        (sparse(3), 4, 24, 1, 0.05, 0.2),
        (sparse(0), 4, 24, 1, 0.05, 0.2),
        (dense(4, 3), 16, 24, 4, 1.2, 12.),
        (sparse(3), 16, 24, 4, 0.3, 3.),
        (dense(0, 3), 16, 24, 4, 1.5, 10.),
        (sparse(0), 16, 24, 4, 0.3, 2.),
    ] {
        let (found_mean, found_most) = errors(mix, handlers, entries, cores);
        assert!(
            found_mean.abs() < mean && found_most < most,
            "{mix:?} on {cores} cores with {handlers} handlers: {found_mean:.2}% on the average, {found_most:.2}% at most"
        );
    }
}
