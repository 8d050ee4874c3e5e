//! Stores of an out-of-order core ask for their lines when they have graduated: loads behind them that ask earlier go first.

use crate::common::mixes::Mix;
use crate::common::stepped_core::*;
use crate::common::*;

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

/// A load, rounds of stores and loads, and a load behind a full reorder buffer that another one waits for, or none: by how much they take longer
/// than step by step, in percent.
fn error_of_bursts(
    (rounds, stores, loads): (u64, u64, u64),
    interval: u64,
    (handlers, entries): (u32, u32),
    is_chained: bool,
) -> f64 {
    let mut spec = contended(machine(), interval);
    spec.caches[0].mshrs = Some(handlers);
    spec.core.store_buffer_entries = entries;
    spec.core.memory_ports = spec.core.issue_width;
    let each = stores + loads;
    let lines = 1 + rounds * each + if is_chained { 2 } else { 0 };
    let events = program(0, lines, |line, load| match line.checked_sub(1) {
        Some(access) if access == rounds * each => plain(127, load),
        Some(access) if access > rounds * each => after(1, load),
        Some(access) if access % each < stores => store(load.address),
        _ => load,
    });
    let expected = stepped(&spec, interval, std::slice::from_ref(&events))[0];
    let found = core_cycles(&spec, &[events])[0];
    (found as f64 / expected as f64 - 1.) * 100.
}

/// The store buffer is full at times in the last ones only: a store that waits for room has the others' times settled before the loads behind it are known.
#[test]
fn bursts_of_stores_and_loads_take_as_long_as_step_by_step() {
    for (bursts, interval, sizes, most) in [
        ((1, 20, 30), 60, (128, 24), 0.01),
        ((1, 20, 100), 100, (128, 24), 0.01),
        ((1, 20, 60), 15, (128, 24), 0.01),
        ((6, 8, 10), 15, (1, 24), 0.01),
        ((20, 8, 10), 15, (4, 24), 0.01),
        ((16, 8, 10), 1, (16, 24), 0.01),
        ((16, 8, 10), 15, (10, 24), 0.01),
        ((16, 8, 10), 15, (16, 24), 0.01),
        ((16, 8, 10), 20, (10, 24), 0.01),
        ((16, 4, 4), 15, (32, 24), 0.01),
        ((16, 26, 2), 15, (32, 24), 0.01),
        ((16, 30, 10), 15, (32, 24), 1.),
        ((16, 30, 30), 15, (32, 24), 0.1),
        ((16, 16, 16), 15, (32, 16), 0.5),
        ((16, 12, 20), 15, (32, 12), 3.),
    ] {
        for is_chained in [false, true] {
            let error = error_of_bursts(bursts, interval, sizes, is_chained);
            assert!(
                error.abs() <= most,
                "{bursts:?} every {interval}, handlers and store buffer {sizes:?}: {error:.2}%"
            );
        }
    }
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

/// A full bus, and few miss handlers, are given to loads in the order of the program: there single programs differ by more.
#[test]
fn mixes_of_loads_and_stores_take_as_long_as_step_by_step() {
    let mix = |stores, needs, between| Mix {
        stores,
        needs,
        between,
        ..Mix::default()
    };
    let dense = |stores, needs| mix(stores, needs, 40);
    let sparse = |stores| mix(stores, 3, 200);
    for (mix, handlers, entries, cores, mean, most) in [
        (dense(1, 3), 16, 24, 1, 0.3, 2.),
        (dense(4, 3), 16, 24, 1, 0.3, 2.),
        (dense(4, 3), 16, 4, 1, 0.3, 2.),
        (dense(4, 0), 16, 24, 1, 0.01, 0.01),
        (dense(4, 3), 4, 24, 1, 2., 6.),
        (sparse(3), 16, 24, 1, 0.05, 0.2),
        (sparse(3), 4, 24, 1, 0.05, 0.2),
        (sparse(0), 4, 24, 1, 0.05, 0.2),
        (dense(4, 3), 16, 24, 4, 1.2, 12.),
        (sparse(3), 16, 24, 4, 1., 4.),
        (dense(0, 3), 16, 24, 4, 1.5, 10.),
        (sparse(0), 16, 24, 4, 0.3, 2.),
    ] {
        let mut spec = contended(machine(), T_NEXT);
        spec.caches[0].mshrs = Some(handlers);
        spec.core.store_buffer_entries = entries;
        let (found_mean, found_most) = mix.errors(&spec, T_NEXT, cores);
        assert!(
            found_mean.abs() < mean && found_most < most,
            "{mix:?} on {cores} cores with {handlers} handlers: {found_mean:.2}% on the average, {found_most:.2}% at most"
        );
    }
}
