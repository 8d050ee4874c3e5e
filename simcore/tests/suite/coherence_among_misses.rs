//! Coherent caches of several cores, as their lines come and go in cores that are stepped side by side cycle by cycle.

use crate::coherence::increments;
use crate::common::mixes::Mix;
use crate::common::stepped_core::*;
use crate::common::*;
use simcore::spec::{CoherenceProtocol, CoherenceSpec, ExchangeSpec, MachineSpec};
use traces::Event;

const TRANSFER: u64 = 80;

/// A machine on which nobody waits for a miss handler, and a line begins in each cycle.
fn coherent(protocol: CoherenceProtocol) -> MachineSpec {
    let mut spec = contended(machine(), 1);
    spec.caches[0].mshrs = Some(128);
    spec.caches[2].shared = true;
    spec.coherence = Some(CoherenceSpec {
        protocol,
        transfer_cycles: TRANSFER as u32,
    });
    spec
}

/// The same, whose exchanges take some cycles more than loads, alone or among others.
fn exchanging(protocol: CoherenceProtocol, further: u32, alone: bool) -> MachineSpec {
    let mut spec = coherent(protocol);
    spec.core.exchange = Some(ExchangeSpec {
        further_cycles: further,
        alone,
    });
    spec
}

const BOTH: [CoherenceProtocol; 2] = [CoherenceProtocol::Mesi, CoherenceProtocol::Moesi];

/// The machine with so many handlers and a line in so many cycles, and how far off programs may be: on the average, and at most.
fn assert_errors(
    spec: &MachineSpec,
    interval: u64,
    cores: u64,
    mix: Mix,
    (mean, most): (f64, f64),
) {
    let (found_mean, found_most) = mix.errors(spec, interval, cores);
    assert!(
        found_mean.abs() <= mean && found_most <= most,
        "{mix:?} on {cores} cores with {:?}: {found_mean:.3}% on the average, {found_most:.3}% at most",
        spec.coherence
    );
}

/// Loads and exchanges that each need the one before: a core asks in the order of its program.
#[test]
fn chains_take_the_same_cycles() {
    for protocol in BOTH {
        for (between, common, exchanges, lines) in
            [(40, 5, 0, 4), (40, 10, 2, 4), (2, 10, 5, 4), (2, 5, 2, 20)]
        {
            let mix = Mix {
                needs: 10,
                back: 1,
                between,
                common,
                lines,
                exchanges,
                ..Mix::default()
            };
            for cores in [2, 4] {
                assert_errors(&exchanging(protocol, 13, false), 1, cores, mix, (0., 0.));
                let mut own = exchanging(protocol, 13, false);
                own.caches[2].shared = false;
                own.caches.truncate(2);
                let most = match protocol {
                    // What is written back to memory for a reader takes the bus, which the model leaves out.
                    CoherenceProtocol::Mesi => 2.,
                    CoherenceProtocol::Moesi => 0.,
                };
                assert_errors(&own, 1, cores, mix, (most / 5., most));
            }
        }
    }
}

/// Of exchanges that need one of the five before them some are ready long before others that stand before them: these still had the line then.
#[test]
fn exchanges_and_stores_of_one_line_take_the_same_cycles() {
    let one = |mix: Mix| Mix {
        common: 10,
        lines: 1,
        ..mix
    };
    let exchanges = |between| Mix {
        needs: 10,
        exchanges: 10,
        between,
        ..Mix::default()
    };
    let stores = |between| Mix {
        stores: 10,
        between,
        ..Mix::default()
    };
    for protocol in BOTH {
        for cores in [2, 4] {
            for between in [1, 40] {
                let spec = exchanging(protocol, 4, false);
                assert_errors(&spec, 1, cores, one(exchanges(between)), (0.002, 0.02));
                assert_errors(&spec, 1, cores, one(stores(between)), (0., 0.));
                let alone = exchanging(protocol, 13, true);
                assert_errors(&alone, 1, cores, one(exchanges(between)), (0.02, 0.4));
            }
        }
    }
}

/// Two cores count in one line, and half of the accesses of two chains are to one line.
#[test]
fn increments_take_the_line_as_often_as_step_by_step() {
    for protocol in BOTH {
        let mut spec = coherent(protocol);
        spec.core.memory_ports = spec.core.issue_width;
        let programs = [0, 8].map(|word| increments(word, 200));
        let found = core_cycles(&spec, &programs);
        let expected = stepped(&spec, 1, &programs);
        let are_near = |(found, expected): (&u64, &u64)| found.abs_diff(*expected) <= TRANSFER;
        assert!(
            found.iter().zip(&expected).all(are_near),
            "{found:?}, {expected:?} expected"
        );
        let mix = Mix {
            stores: 5,
            needs: 10,
            back: 1,
            common: 5,
            ..Mix::default()
        };
        assert_errors(&spec, 1, 2, mix, (0.002, 0.02));
    }
}

/// A core takes its events in the order of its program, so that loads behind a store that has not graduated come late. That matters where
/// others want the same lines at that time, the more the fewer lines these are.
#[test]
fn mixes_take_as_long_as_step_by_step() {
    let mix = |stores, needs, between, (common, lines)| Mix {
        stores,
        needs,
        between,
        common,
        lines,
        ..Mix::default()
    };
    let exchanges = |mix: Mix| Mix {
        exchanges: 1,
        ..mix
    };
    for (handlers, interval, mix, mean, most) in [
        (128, 1, mix(3, 3, 200, (3, 100)), 0.01, 0.1),
        (128, 1, exchanges(mix(3, 3, 200, (3, 100))), 0.05, 1.),
        (128, 1, mix(3, 3, 200, (3, 20)), 0.05, 0.5),
        (128, 1, exchanges(mix(2, 10, 200, (5, 20))), 0.1, 3.),
        (128, 1, mix(3, 3, 40, (3, 100)), 0.3, 4.),
        (128, 1, mix(3, 3, 40, (3, 20)), 0.3, 6.),
        (128, 1, mix(0, 3, 40, (3, 20)), 0.3, 5.),
        (4, 1, mix(3, 3, 40, (3, 100)), 1.5, 6.),
        (16, T_NEXT, mix(3, 3, 40, (3, 100)), 2., 10.),
        (16, T_NEXT, mix(3, 3, 200, (3, 100)), 0.4, 3.),
    ] {
        let mut spec = coherent(CoherenceProtocol::Mesi);
        let bus = contended(spec.clone(), interval);
        spec.memory = bus.memory;
        spec.caches[0].mshrs = Some(handlers);
        assert_errors(&spec, interval, 4, mix, (mean, most));
    }
}

/// Cycles of each core, which are those of the model.
fn cycles_of(spec: &MachineSpec, programs: &[Vec<Event>]) -> Vec<u64> {
    let found = core_cycles(spec, programs);
    assert_eq!(found, stepped(spec, 1, programs));
    found
}

/// Both cores want to write a line that nobody has. The first core's load comes in cycle 258, and its store or exchange is behind that. The second
/// one's load comes in cycle 251, but a hundred instructions graduate behind that, until cycle 276: it has the line from the first core, which has it
/// in cycle 508.
#[test]
fn who_graduates_behind_plain_instructions_asks_behind_them() {
    for writes in [store, exchange] {
        let programs = [
            vec![plain(28, load(8 * LINE)), writes(0)],
            vec![load(16 * LINE), plain(100, writes(0))],
        ];
        let cycles = cycles_of(&exchanging(CoherenceProtocol::Mesi, 0, true), &programs);
        let expected = [258 + T1, 258 + T1 + TRANSFER];
        let is_near = |(cycle, expected): (&u64, u64)| cycle.abs_diff(expected) <= 2;
        assert!(
            cycles.iter().zip(expected).all(is_near),
            "{cycles:?}, {expected:?} expected"
        );
    }
}

/// The first core asks for a line in cycle 1, and comes for it again in cycle 20, behind a load that waits. The second core takes it in cycle 51: it
/// comes to the first in cycle 251 all the same, and two loads need that, one after the other.
#[test]
fn a_line_that_will_be_lost_has_to_come_first() {
    let programs = [
        vec![
            load(0),
            after(1, load(8 * LINE)),
            plain(76, load(0)),
            after(1, load(9 * LINE)),
            after(1, load(10 * LINE)),
        ],
        vec![plain(196, store(0))],
    ];
    let cycles = cycles_of(&coherent(CoherenceProtocol::Mesi), &programs);
    assert!(cycles[0].abs_diff(3 * T1) <= 3, "{cycles:?}");
}

/// Each exchange takes 4 cycles before it asks. In cycle 5 the first core asks for the line, twice, and the second takes it, which has it in cycle 335.
/// In cycle 259 the first core's first and third exchange have ended, so that the second and the fourth have it back in cycle 415; the fifth asks in
/// cycle 419. In cycle 339 the second core's last exchange has asked, and has it in cycle 495, so that the fifth has it in cycle 575.
#[test]
fn who_came_before_its_core_lost_a_line_has_it_from_then() {
    let programs = [
        vec![
            exchange(0),
            after(1, exchange(0)),
            exchange(0),
            after(1, exchange(0)),
            after(1, exchange(0)),
        ],
        vec![exchange(0), after(1, exchange(0))],
    ];
    for protocol in BOTH {
        let spec = exchanging(protocol, 4, false);
        assert_eq!(cycles_of(&spec, &programs), [576, 496]);
    }
}
