//! Page walks beside misses of loads and stores, as they come in a core that is stepped cycle by cycle.

use crate::common::mixes::{Mix, PAGES_OF_A_LINE};
use crate::common::stepped_core::*;
use crate::common::*;
use crate::multicore::on_cores;
use simcore::spec::{MachineSpec, PageTableSpec, Walker};
use traces::Event;

/// Walks take a while, or read a line of the page table each, which is in no cache.
fn walking(walker: Walker, reads: bool, handlers: u32) -> MachineSpec {
    let mut spec = contended(machine(), T_NEXT);
    spec.caches[0].mshrs = Some(handlers);
    spec.dtlb.walker = walker;
    if reads {
        spec.dtlb.page_table = Some(PageTableSpec {
            levels: 1,
            entry_bytes: 16,
            node_bytes: None,
            walk_cache_entries: 0,
            first_cache: "L1".to_owned(),
        });
    } else {
        spec.dtlb.walk_latency_cycles = WALK as u32;
    }
    spec
}

/// The same with so many walkers beside each other.
fn walkers(number: u32, mut spec: MachineSpec) -> MachineSpec {
    spec.dtlb.walkers = Some(number);
    spec
}

/// Loads that need nothing, each of a line on another page, whose entry of the page table lies in another line.
fn on_pages_of_their_own(lines: u64) -> Vec<Event> {
    program(0, lines, |line, load| Event {
        address: load.address + line * PAGES_OF_A_LINE * PAGE,
        ..load
    })
}

/// Each line is on a page of its own: its walk reads a line, too. A handler serves one at a time.
#[test]
fn reads_of_the_page_table_take_miss_handlers_of_the_first_cache() {
    let mut spec = walking(Walker::Parallel, true, 4);
    spec.core.memory_ports = spec.core.issue_width;
    for lines in [1, 2, 4, 8, 12, 16, 100] {
        let events = on_pages_of_their_own(lines);
        let expected = stepped(&spec, T_NEXT, std::slice::from_ref(&events));
        assert!(expected[0] >= 2 * lines / 4 * T1, "{lines}: {expected:?}");
        assert_eq!(core_cycles(&spec, &[events]), expected, "{lines}");
    }
    spec.dtlb.page_table.as_mut().expect("reads").first_cache = "L2".to_owned();
    let events = on_pages_of_their_own(100);
    let handled = core_cycles(&spec, &[events])[0];
    assert!(
        handled.abs_diff(100 / 4 * T1) < 2 * T1,
        "{handled}: none for those that begin behind it"
    );
}

/// A walk begins when one of so many walkers has ended another; who needs a page that is there does not wait for them. The bus has room for all.
#[test]
fn so_many_walks_are_under_way_at_once() {
    const QUICK: u64 = 1;
    let lines = 96;
    for (reads, walk) in [(false, WALK), (true, T1)] {
        for number in [1, 2, 6, 16] {
            let mut spec = walkers(number, walking(Walker::Parallel, reads, 64));
            spec.memory = contended(machine(), QUICK).memory;
            let apart = on_pages_of_their_own(lines);
            let rounds = lines / u64::from(number);
            // A load whose page the first one's walk has brought is not held up by others.
            let mut among = apart.clone();
            among.insert(8, load(LINE));
            for events in [apart, among] {
                let expected = stepped(&spec, QUICK, std::slice::from_ref(&events));
                let found = core_cycles(&spec, &[events]);
                // Lines of loads and of the page table take the bus in the order of the program, a cycle each.
                let late = if reads { lines } else { 0 };
                assert!(
                    (expected[0]..=expected[0] + late).contains(&found[0]),
                    "{number}: {found:?}, {expected:?}"
                );
                assert!(expected[0] >= rounds * walk, "{number}: {expected:?}");
                assert!(
                    expected[0] < rounds * walk + 3 * T1,
                    "{number}: {expected:?}"
                );
            }
        }
    }
}

/// A core's walks wait for its own walkers, and not for those of others.
#[test]
fn every_core_has_walkers_of_its_own() {
    let lines = 48;
    let mut spec = walkers(2, walking(Walker::Parallel, false, 64));
    spec.memory = contended(machine(), 1).memory;
    let of_core = |core: u64| -> Vec<Event> {
        let apart = on_pages_of_their_own(lines);
        let elsewhere = |event: Event| Event {
            address: event.address + (core << 40),
            ..event
        };
        apart.into_iter().map(elsewhere).collect()
    };
    let traces: Vec<Vec<Event>> = (0..4).map(of_core).collect();
    let alone = on_cores(&spec, &traces[..1]).together.cycles;
    assert!(alone >= lines / 2 * WALK, "{alone}: two walks at a time");
    let together = on_cores(&spec, &traces).together.cycles;
    // Four cores ask for two lines each at once, and the bus takes a cycle for each.
    assert!(together.abs_diff(alone) < 8, "{together}, {alone} alone");
}

/// Where a walker walks once at a time, and reads a line for that, a walk that is known may leave room for one that takes longer than it takes at
/// least; and few handlers, and a full bus, are given to loads in the order of the program.
#[test]
fn mixes_with_walks_take_as_long_as_step_by_step() {
    let mix = |stores, needs, between, pages| Mix {
        stores,
        needs,
        between,
        pages,
        ..Mix::default()
    };
    let mixes = [
        // Loads that need each other, bursts of stores, both, where few accesses miss, and on few pages.
        mix(0, 3, 40, 100),
        mix(4, 0, 40, 100),
        mix(4, 3, 40, 100),
        mix(4, 3, 200, 100),
        mix(4, 3, 40, 20),
    ];
    let means_and_most = [
        (
            walking(Walker::Parallel, false, 16),
            1,
            [0.6, 2., 1., 0.3, 0.4],
            [2., 6., 4., 1., 3.],
        ),
        (
            walking(Walker::Parallel, true, 16),
            1,
            [0.4, 1.5, 2., 0.2, 0.5],
            [3., 4., 5., 0.5, 4.],
        ),
        (
            walking(Walker::Parallel, true, 4),
            1,
            [2.5, 3., 2., 0.4, 2.],
            [8., 7., 7., 1., 8.],
        ),
        (
            walking(Walker::Blocking, false, 4),
            1,
            [3., 0.01, 2., 0.1, 2.],
            [8., 0.01, 6., 0.5, 5.],
        ),
        (
            walking(Walker::Blocking, true, 16),
            1,
            [4., 0.01, 4., 0.4, 2.],
            [8., 0.01, 8., 1.5, 6.],
        ),
        (
            walkers(2, walking(Walker::Parallel, false, 16)),
            1,
            [0.6, 2., 1., 0.3, 0.5],
            [2., 8., 4., 1., 3.],
        ),
        (
            walkers(2, walking(Walker::Parallel, true, 16)),
            1,
            [2., 3., 2., 0.3, 0.6],
            [6., 5., 5., 1., 5.],
        ),
        (
            walking(Walker::Parallel, true, 16),
            4,
            [1., 6., 4., 1., 1.],
            [9., 16., 14., 4., 14.],
        ),
    ];
    for (spec, cores, means, most) in means_and_most {
        for ((mix, mean), most) in mixes.into_iter().zip(means).zip(most) {
            let (found_mean, found_most) = mix.errors(&spec, T_NEXT, cores);
            assert!(
                found_mean.abs() < mean && found_most < most,
                "{mix:?} on {cores} cores with {:?}: {found_mean:.2}% on the average, {found_most:.2}% at most",
                spec.dtlb
            );
        }
    }
}
