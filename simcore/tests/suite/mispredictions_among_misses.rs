//! Mispredicted branches beside misses of loads and stores, and beside walks, as they come in a core that is stepped cycle by cycle.

use crate::common::mixes::Mix;
use crate::common::stepped_core::*;
use crate::common::*;
use simcore::spec::Walker;

fn mix(stores: u32, needs: u32, between: u16, branches: u32) -> Mix {
    Mix {
        stores,
        needs,
        between,
        pages: 100,
        branches,
        ..Mix::default()
    }
}

/// A miss handler for each access in the reorder buffer, and a bus that takes a line in each cycle.
#[test]
fn where_nobody_waits_for_others_mixes_take_the_same_cycles() {
    // Of two accesses to a page that stand in one order and are ready in the other, both walk (decision 019).
    for (walk, mean, most) in [(0, 0.02, 0.2), (WALK, 0.3, 2.)] {
        let mut spec = contended(machine(), 1);
        spec.caches[0].mshrs = Some(128);
        spec.dtlb.walker = Walker::Parallel;
        spec.dtlb.walk_latency_cycles = walk as u32;
        for mix in [
            mix(0, 0, 40, 2),
            mix(0, 3, 40, 2),
            mix(0, 6, 40, 4),
            mix(4, 3, 40, 2),
            mix(4, 0, 40, 2),
            mix(4, 3, 200, 2),
            mix(0, 3, 10, 3),
        ] {
            let (found_mean, found_most) = mix.errors(&spec, 1, 1);
            assert!(
                found_mean.abs() <= mean && found_most <= most,
                "{mix:?}, walks of {walk}: {found_mean:.3}% on the average, {found_most:.3}% at most"
            );
        }
    }
}

/// On the thesis's bus, and with few handlers, loads are served in the order of the program.
#[test]
fn mixes_with_mispredictions_take_as_long_as_step_by_step() {
    for (handlers, cores, mix, mean, most) in [
        (16, 1, mix(0, 3, 40, 2), 0.3, 1.5),
        (16, 1, mix(0, 6, 40, 4), 0.3, 1.5),
        (16, 1, mix(4, 3, 40, 2), 0.3, 1.5),
        (16, 1, mix(4, 0, 40, 2), 0.01, 0.01),
        (16, 1, mix(4, 3, 200, 2), 0.01, 0.05),
        (4, 1, mix(0, 6, 40, 4), 1., 4.),
        (4, 1, mix(4, 3, 40, 2), 1.5, 5.),
        (16, 4, mix(0, 6, 40, 4), 1., 6.),
        (16, 4, mix(4, 3, 200, 2), 1., 4.),
    ] {
        let mut spec = contended(machine(), T_NEXT);
        spec.caches[0].mshrs = Some(handlers);
        let (found_mean, found_most) = mix.errors(&spec, T_NEXT, cores);
        assert!(
            found_mean.abs() <= mean && found_most <= most,
            "{mix:?} on {cores} cores with {handlers} handlers: {found_mean:.2}% on the average, {found_most:.2}% at most"
        );
    }
}
