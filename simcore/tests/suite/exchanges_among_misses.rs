//! Exchanges, among others or alone, beside misses of loads and stores, as they come in a core that is stepped cycle by cycle.

use crate::common::mixes::Mix;
use crate::common::stepped_core::*;
use crate::common::*;
use simcore::spec::{ExchangeSpec, MachineSpec};

fn exchanging(interval: u64, handlers: u32, alone: bool) -> MachineSpec {
    let mut spec = contended(machine(), interval);
    spec.caches[0].mshrs = Some(handlers);
    spec.core.exchange = Some(ExchangeSpec {
        further_cycles: 13,
        alone,
    });
    spec
}

fn mix(stores: u32, needs: u32, exchanges: u32) -> Mix {
    Mix {
        stores,
        needs,
        between: 40,
        exchanges,
        ..Mix::default()
    }
}

/// A miss handler for each access in the reorder buffer, and a bus that takes a line in each cycle. One that runs alone may begin in the cycle in which
/// the last before it graduates, or behind that.
#[test]
fn where_nobody_waits_for_others_mixes_take_the_same_cycles() {
    let branches = |mix: Mix| Mix { branches: 2, ..mix };
    let prefetches = |mix: Mix| Mix {
        prefetches: 2,
        ahead: 20,
        ..mix
    };
    for alone in [false, true] {
        let spec = exchanging(1, 128, alone);
        for mix in [
            mix(0, 0, 3),
            mix(0, 3, 3),
            mix(3, 3, 3),
            mix(4, 3, 1),
            branches(mix(4, 3, 1)),
            prefetches(mix(3, 3, 1)),
        ] {
            let (mean, most) = mix.errors(&spec, 1, 1);
            assert!(
                mean.abs() <= 0.02 && most <= 0.05,
                "{mix:?}, alone {alone}: {mean:.3}% on the average, {most:.3}% at most"
            );
        }
    }
}

/// On the thesis's bus, and with few handlers, accesses are served in the order of the program. Those that run alone settle whatever is before them.
#[test]
fn mixes_with_exchanges_take_as_long_as_step_by_step() {
    for (handlers, cores, alone, mix, mean, most) in [
        (16, 1, false, mix(3, 3, 3), 0.6, 2.),
        (16, 1, true, mix(3, 3, 3), 0.05, 0.3),
        (16, 1, true, mix(4, 3, 1), 0.2, 0.6),
        (4, 1, false, mix(4, 3, 1), 2., 5.),
        (4, 1, true, mix(4, 3, 1), 0.4, 4.),
        (16, 4, false, mix(4, 3, 1), 1., 12.),
        (16, 4, true, mix(4, 3, 1), 0.5, 6.),
    ] {
        let spec = exchanging(T_NEXT, handlers, alone);
        let (found_mean, found_most) = mix.errors(&spec, T_NEXT, cores);
        assert!(
            found_mean.abs() <= mean && found_most <= most,
            "{mix:?} on {cores} cores with {handlers} handlers, alone {alone}: {found_mean:.2}% on the average, {found_most:.2}% at most"
        );
    }
}
