//! Instructions that read and write at once: what they take, what they wait for, and what waits for them.

use crate::common::random::any_machine;
use crate::common::*;
use crate::multicore::on_cores;
use proptest::prelude::*;
use simcore::spec::{CoherenceProtocol, CoherenceSpec, ExchangeSpec, MachineSpec};
use traces::{Event, Kind, OpClass};

const FURTHER: u64 = 13;
const TRANSFER: u64 = 80;

/// A machine on which translation takes no time, whose exchanges take some cycles more than loads, alone or among others.
fn exchanging(mut spec: MachineSpec, alone: bool) -> MachineSpec {
    spec.dtlb.walk_latency_cycles = 0;
    spec.core.exchange = Some(ExchangeSpec {
        further_cycles: FURTHER as u32,
        alone,
    });
    spec
}

/// Cycles that `events` take long behind `before`.
fn cycles_behind(spec: &MachineSpec, before: &[Event], events: &[Event]) -> u64 {
    let before = [before, &delay(4000)].concat();
    let all = [&before, events].concat();
    run(spec, &all).cycles - run(spec, &before).cycles
}

/// Events that each need the one before.
fn chain(count: usize, event: Event) -> Vec<Event> {
    vec![after(1, event); count]
}

#[test]
fn in_a_row_each_takes_a_load_and_what_is_further() {
    for spec in [machine(), in_order()] {
        for alone in [false, true] {
            let spec = exchanging(spec.clone(), alone);
            let few = cycles_behind(&spec, &[load(0)], &chain(10, exchange(0)));
            let many = cycles_behind(&spec, &[load(0)], &chain(110, exchange(0)));
            let each = (many - few) as f64 / 100.0;
            let expected = (1 + FURTHER) as f64;
            // Alone, the next is dispatched a cycle before it begins.
            let most = if alone { expected + 2.0 } else { expected };
            assert!((expected..=most).contains(&each), "{each}");
        }
    }
}

#[test]
fn it_is_a_write_and_a_read() {
    for spec in [machine(), in_order()] {
        let written = run(&spec, &[exchange(0), load(LINE)]);
        assert_eq!(written.caches[0].counts.misses, 2);
        assert_eq!(written.instructions, 2);
        // What needs it waits for its line, as for a load's.
        let spec = exchanging(spec, false);
        let alone = cycles_behind(&spec, &[load(8 * LINE)], &[after(1, exchange(0))]);
        let two = cycles_behind(
            &spec,
            &[load(8 * LINE)],
            &[after(1, exchange(0)), after(1, load(LINE))],
        );
        assert!(alone > T1 && two > 2 * T1, "{alone} {two}");
        // Its line is dirty: another that takes its place has it written back.
        let stride = 2 << 20 >> 3;
        let others: Vec<Event> = (1..=40).map(|way| load(way * stride)).collect();
        assert_eq!(
            run(&spec, &[&[exchange(0)], &others[..]].concat())
                .bus
                .write_backs,
            1
        );
        assert_eq!(
            run(&spec, &[&[load(0)], &others[..]].concat())
                .bus
                .write_backs,
            0
        );
    }
}

/// Sixteen lines from memory: one after the other, or as fast as the bus gives them.
#[test]
fn alone_it_overlaps_with_nothing() {
    let lines: Vec<Event> = (0..16).map(|line| exchange(line * LINE)).collect();
    for spec in [machine(), in_order()] {
        let overlapping = run(&exchanging(spec.clone(), false), &lines).cycles;
        let loads: Vec<Event> = lines.iter().map(|event| load(event.address)).collect();
        assert_eq!(
            overlapping,
            run(&exchanging(spec.clone(), false), &loads).cycles + FURTHER
        );
        let alone = run(&exchanging(spec, true), &lines).cycles;
        assert!(
            (16 * (T1 + FURTHER)..16 * (T1 + FURTHER + 3)).contains(&alone),
            "{alone}"
        );
    }
}

/// What is before it has been written, and what is behind it waits: a store's line, an exchange in the L1, a load's line.
#[test]
fn alone_it_waits_for_stores_and_loads_wait_for_it() {
    let events = [
        after(1, store(LINE)),
        after(2, exchange(0)),
        after(3, load(2 * LINE)),
    ];
    for spec in [machine(), in_order()] {
        let cycles = |alone| cycles_behind(&exchanging(spec.clone(), alone), &[load(0)], &events);
        let (overlapping, alone) = (cycles(false), cycles(true));
        assert!(overlapping < T1 + 2 * T_NEXT + FURTHER, "{overlapping}");
        assert!((2 * T1..2 * T1 + FURTHER + 10).contains(&alone), "{alone}");
    }
    // A core that waits for its stores has their lines to thank for it.
    let waits = run(
        &exchanging(machine(), true),
        &[load(0), store(LINE), exchange(0)],
    );
    let memory = waits.slots.dcache["memory"];
    assert!(memory > 4 * (2 * T1 - 20), "{memory}");
}

/// What is before it and has no operand in common with it has ended: a load from memory, a division.
#[test]
fn alone_it_waits_for_everything_before_it() {
    let divide = Event {
        size: OpClass::Divide as u16,
        ..Event::new(Kind::Op, 0)
    };
    for spec in [machine(), in_order()] {
        let cycles = |alone, before: Event| {
            let spec = exchanging(spec.clone(), alone);
            cycles_behind(&spec, &[load(0)], &[after(1, before), exchange(8 * LINE)])
        };
        for (before, takes) in [(load(LINE), T1), (divide, 50)] {
            let (overlapping, alone) = (cycles(false, before), cycles(true, before));
            assert!(overlapping < T1 + T_NEXT + FURTHER + 10, "{overlapping}");
            let expected = takes + FURTHER + T1;
            assert!(
                (expected..expected + 10).contains(&alone),
                "{alone} {expected}"
            );
        }
        // The wait is the load's, and memory's.
        let waits = run(&exchanging(spec, true), &[load(0), exchange(8 * LINE)]);
        assert!(waits.slots.dcache["memory"] > 4 * (2 * T1 - 20));
    }
}

/// One that waits for what is before it asks for its line after another core, which asks meanwhile.
#[test]
fn alone_it_lets_others_ask_first() {
    for mut spec in [machine(), in_order()] {
        spec.cores = 2;
        spec.coherence = Some(CoherenceSpec {
            protocol: CoherenceProtocol::Mesi,
            transfer_cycles: TRANSFER as u32,
        });
        let reader = [&delay(100)[..], &[after(1, load(8 * LINE))]].concat();
        for before in [load(0), store(0)] {
            let statistics = on_cores(
                &exchanging(spec.clone(), true),
                &[vec![before, exchange(8 * LINE)], reader.clone()],
            );
            let transfers = statistics
                .cores
                .iter()
                .map(|core| core.coherence.unwrap().transfers);
            assert_eq!(transfers.collect::<Vec<_>>(), [1, 0]);
        }
    }
}

/// A load and a store wait for the line twice, an exchange once.
#[test]
fn a_line_of_another_core_comes_once() {
    let coherent = MachineSpec {
        cores: 2,
        coherence: Some(CoherenceSpec {
            protocol: CoherenceProtocol::Mesi,
            transfer_cycles: TRANSFER as u32,
        }),
        ..machine()
    };
    let cycles = |events: &[Event]| {
        let reader = [&[load(8 * LINE)], &delay(4000)[..], events].concat();
        let statistics = on_cores(&coherent, &[vec![store(0)], reader]);
        let counts = statistics.cores[1].coherence.expect("coherent caches");
        (
            statistics.cores[1].cycles,
            counts.transfers,
            counts.upgrades,
        )
    };
    let (nothing, ..) = cycles(&[]);
    let (once, transfers, upgrades) = cycles(&[after(1, exchange(0))]);
    assert_eq!((transfers, upgrades), (1, 0));
    let (twice, transfers, upgrades) = cycles(&[after(1, load(0)), after(1, store(0))]);
    assert_eq!((transfers, upgrades), (1, 1));
    assert!(
        (TRANSFER..TRANSFER + 5).contains(&(once - nothing)),
        "{once} {nothing}"
    );
    assert!(twice - nothing >= 2 * TRANSFER, "{twice} {nothing}");
}

proptest! {
    /// Alone never takes less time, and moves the same lines where nothing else does.
    #[test]
    fn alone_is_no_faster(
        spec in any_machine(),
        places in prop::collection::vec((0_u64..2000, 0_u8..4, 0_u16..6), 1..80),
    ) {
        // Where an exchange needs the other half of a longer line that a store is to bring, it takes a handler, and the store waits for that
        // and it for the store (a known fault).
        let lines = spec.caches.iter().map(|cache| cache.line_bytes);
        prop_assume!(lines.clone().max() == lines.min());
        let events: Vec<Event> = places
            .iter()
            .map(|&(address, kind, instructions)| {
                let kind = [Kind::Load, Kind::Store, Kind::Exchange, Kind::Exchange][usize::from(kind)];
                plain(instructions, Event::new(kind, address * 8))
            })
            .collect();
        let [among, alone] = [false, true].map(|alone| run(&exchanging(spec.clone(), alone), &events));
        prop_assert!(alone.cycles >= among.cycles, "{} {}", alone.cycles, among.cycles);
        prop_assert_eq!(alone.instructions, among.instructions);
        for statistics in [among, alone] {
            prop_assert_eq!(crate::storage::of_all_causes(&statistics), statistics.slots.total);
        }
    }
}
