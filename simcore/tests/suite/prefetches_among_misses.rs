//! Software prefetches beside misses of loads and stores, as they come in a core that is stepped cycle by cycle.

use crate::common::mixes::Mix;
use crate::common::stepped_core::*;
use crate::common::*;

/// Three or five of ten accesses are prefetches of the line that another one asks for so many accesses later.
fn mix(stores: u32, needs: u32, between: u16, (prefetches, ahead): (u32, u64)) -> Mix {
    Mix {
        stores,
        needs,
        between,
        prefetches,
        ahead,
        ..Mix::default()
    }
}

/// A prefetch that needs a load stands before another load of its line that needs nothing: then it has the line late, for which nobody waits
/// but the end.
#[test]
fn where_nobody_waits_for_others_mixes_take_the_same_cycles() {
    let mut spec = contended(machine(), 1);
    spec.caches[0].mshrs = Some(128);
    for mix in [
        mix(0, 0, 40, (5, 20)),
        mix(0, 0, 5, (5, 20)),
        mix(0, 3, 40, (3, 200)),
        mix(0, 3, 40, (3, 5)),
        mix(4, 3, 40, (3, 20)),
        mix(4, 0, 40, (3, 20)),
        mix(4, 3, 200, (3, 20)),
    ] {
        let (mean, most) = mix.errors(&spec, 1, 1);
        assert!(
            mean.abs() <= 0.002 && most <= 0.02,
            "{mix:?}: {mean:.3}% on the average, {most:.3}% at most"
        );
    }
}

/// Prefetches that find no handler graduate, and have one in their turn. Where accesses need each other, few handlers and a full bus are given to them in
/// the order of the program.
#[test]
fn mixes_with_prefetches_take_as_long_as_step_by_step() {
    for (handlers, cores, mix, mean, most) in [
        (16, 1, mix(0, 0, 40, (5, 20)), 0.01, 0.01),
        (16, 1, mix(0, 0, 5, (5, 20)), 0.01, 0.01),
        (4, 1, mix(0, 0, 5, (5, 20)), 0.01, 0.01),
        (4, 1, mix(4, 0, 40, (3, 20)), 0.01, 0.01),
        (4, 1, mix(4, 3, 200, (3, 20)), 0.01, 0.05),
        (16, 1, mix(0, 3, 40, (3, 200)), 0.5, 1.5),
        (16, 1, mix(0, 3, 40, (3, 5)), 0.3, 1.5),
        (16, 1, mix(4, 3, 40, (3, 20)), 0.5, 2.),
        (4, 1, mix(0, 3, 40, (3, 20)), 1.5, 6.),
        (4, 1, mix(4, 3, 40, (3, 20)), 1., 4.),
        (16, 4, mix(0, 3, 40, (3, 20)), 0.5, 13.),
        (16, 4, mix(4, 3, 200, (3, 20)), 1., 5.),
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
