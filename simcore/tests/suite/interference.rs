//! Caches that somebody else empties: when, what goes to memory, and whose.

use crate::coherence::{LONG, coherence, mesi};
use crate::common::*;
use crate::mechanisms::prefetched;
use crate::multicore::on_cores;
use simcore::spec::{CoreKind, InterferenceSpec, MachineSpec};

/// The machine, whose caches somebody empties every so many cycles.
fn disturbed(flush_interval_cycles: u64) -> MachineSpec {
    MachineSpec {
        interference: Some(InterferenceSpec {
            flush_interval_cycles,
        }),
        ..machine()
    }
}

#[test]
fn caches_are_emptied_in_the_cycle_that_is_said() {
    let mut events = vec![load(0)];
    events.extend(delay(400));
    events.push(after(1, load(0)));
    // The last load is dispatched when those before it have left room for it.
    let flushes = |interval: u64| {
        let stats = run(&disturbed(interval), &events);
        (stats.cache_flushes, stats.bus.fills)
    };
    assert_eq!(run(&machine(), &events).cache_flushes, None);
    let dispatched = (1..1000).rfind(|&interval| flushes(interval).1 == 2);
    let dispatched = dispatched.expect("some flush comes between");
    assert_eq!(flushes(dispatched), (Some(1), 2));
    assert_eq!(flushes(dispatched + 1).1, 1, "the load comes before it");
}

/// Whether instructions before an access are its own event's, or that of one before it.
#[test]
fn caches_are_emptied_before_an_access_behind_plain_instructions() {
    for core in [machine().core, in_order().core] {
        let spec = MachineSpec {
            core,
            ..disturbed(1000)
        };
        let own = [store(0), plain(40_000, load(0))];
        let apart = [store(0), plain(39_999, branch(true)), load(0)];
        let [own, apart] = [&own[..], &apart].map(|events| {
            let stats = run(&spec, events);
            let moved = (stats.bus.fills, stats.bus.write_backs);
            (moved, stats.cache_flushes, stats.cycles)
        });
        assert_eq!((own.0, own.1), ((2, 1), Some(1)));
        assert_eq!((apart.0, apart.1), (own.0, own.1));
        assert!(apart.2.abs_diff(own.2) <= 1, "{own:?} {apart:?}");
    }
}

/// Lines that are dirty in two caches are one line of memory.
#[test]
fn dirty_lines_of_emptied_caches_go_to_memory_once() {
    let displacing = (1..=4).map(|way| after(1, load(way * 64 * LINE)));
    let mut events = vec![store(0), after(1, load(LINE))];
    // The line is dirty in the second cache, then in the first as well.
    events.extend(displacing);
    events.push(store(0));
    events.extend(delay(40_000));
    events.push(branch(true));
    let stats = run(&disturbed(25_000), &events);
    assert_eq!(stats.cache_flushes, Some(1));
    assert_eq!((stats.bus.fills, stats.bus.write_backs), (6, 1));
    assert_eq!(run(&machine(), &events).bus.write_backs, 0);
}

#[test]
fn what_was_prefetched_is_lost_with_the_caches() {
    let mut events = vec![prefetch(0)];
    events.extend(delay(40_000));
    events.push(after(1, load(0)));
    assert_eq!(prefetched(&disturbed(25_000), &events), [0, 1]);
    assert_eq!(prefetched(&machine(), &events), [0, 0]);
}

/// Of a core that has ended, or is in one long event, as of one that goes on. Who empties the last cache, which they share, writes it back.
#[test]
fn the_caches_of_all_cores_are_emptied_at_once() {
    for kind in [CoreKind::OutOfOrder, CoreKind::InOrder] {
        for coherent in [true, false] {
            let mut spec = mesi();
            if kind == CoreKind::InOrder {
                spec.core = in_order().core;
            }
            if !coherent {
                spec.coherence = None;
            }
            spec.interference = Some(InterferenceSpec {
                flush_interval_cycles: LONG,
            });
            let long = LONG * 6;
            let instructions = u16::try_from(long).expect("fits");
            for goes_on in [vec![], vec![plain(instructions, branch(true))], delay(long)] {
                let writes = [vec![store(0)], goes_on].concat();
                let reads = [delay(LONG + LONG / 2), vec![after(1, load(0))]].concat();
                let statistics = on_cores(&spec, &[writes, reads]);
                let together = statistics.together.bus;
                assert_eq!((together.fills, together.write_backs), (2, 1), "{kind:?}");
                assert_eq!(statistics.cores[0].caches[0].counts.write_backs, 1);
                let flushes = |core: usize| statistics.cores[core].cache_flushes;
                assert!(flushes(0) >= Some(1));
                assert_eq!(flushes(0), flushes(1));
                if coherent {
                    assert_eq!(coherence(&statistics, 1).transfers, 0);
                }
            }
        }
    }
}
