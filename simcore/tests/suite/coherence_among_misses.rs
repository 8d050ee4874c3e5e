//! Coherent caches of several cores, as their lines come and go in cores that are stepped side by side cycle by cycle.

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
