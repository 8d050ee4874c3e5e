//! Page walks beside misses of loads and stores, as they come in a core that is stepped cycle by cycle.

use crate::common::mixes::{Mix, PAGES_OF_A_LINE};
use crate::common::stepped_core::*;
use crate::common::*;
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

/// Each line is on a page of its own: its walk reads a line, too. A handler serves one at a time.
#[test]
fn reads_of_the_page_table_take_miss_handlers_of_the_first_cache() {
    let mut spec = walking(Walker::Parallel, true, 4);
    spec.core.memory_ports = spec.core.issue_width;
    for lines in [1, 2, 4, 8, 12, 16, 100] {
        let events = program(0, lines, |line, load| Event {
            address: load.address + line * PAGES_OF_A_LINE * PAGE,
            ..load
        });
        let expected = stepped(&spec, T_NEXT, std::slice::from_ref(&events));
        assert!(expected[0] >= 2 * lines / 4 * T1, "{lines}: {expected:?}");
        assert_eq!(core_cycles(&spec, &[events]), expected, "{lines}");
    }
    spec.dtlb.page_table.as_mut().expect("reads").first_cache = "L2".to_owned();
    let events = program(0, 100, |line, load| Event {
        address: load.address + line * PAGES_OF_A_LINE * PAGE,
        ..load
    });
    let handled = core_cycles(&spec, &[events])[0];
    assert!(
        handled.abs_diff(100 / 4 * T1) < 2 * T1,
        "{handled}: none for those that begin behind it"
    );
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
        branches: 0,
    };
    let loads = mix(0, 3, 40, 100);
    let chains_of_stores = mix(4, 3, 40, 100);
    let bursts = mix(4, 0, 40, 100);
    let sparse = mix(4, 3, 200, 100);
    let few_pages = mix(4, 3, 40, 20);
    for (walker, reads, handlers, cores, limits) in [
        (
            Walker::Parallel,
            false,
            16,
            1,
            [
                (loads, 0.6, 2.),
                (bursts, 2., 6.),
                (chains_of_stores, 1., 4.),
                (sparse, 0.3, 1.),
                (few_pages, 0.4, 3.),
            ],
        ),
        (
            Walker::Parallel,
            true,
            16,
            1,
            [
                (loads, 0.4, 3.),
                (bursts, 1.5, 4.),
                (chains_of_stores, 2., 5.),
                (sparse, 0.2, 0.5),
                (few_pages, 0.5, 4.),
            ],
        ),
        (
            Walker::Parallel,
            true,
            4,
            1,
            [
                (loads, 2.5, 8.),
                (bursts, 3., 7.),
                (chains_of_stores, 2., 7.),
                (sparse, 0.4, 1.),
                (few_pages, 2., 8.),
            ],
        ),
        (
            Walker::Blocking,
            false,
            4,
            1,
            [
                (loads, 3., 8.),
                (bursts, 0.01, 0.01),
                (chains_of_stores, 2., 6.),
                (sparse, 0.1, 0.5),
                (few_pages, 2., 5.),
            ],
        ),
        (
            Walker::Blocking,
            true,
            16,
            1,
            [
                (loads, 4., 9.),
                (bursts, 0.01, 0.01),
                (chains_of_stores, 6., 11.),
                (sparse, 0.4, 1.5),
                (few_pages, 4., 8.),
            ],
        ),
        (
            Walker::Parallel,
            true,
            16,
            4,
            [
                (loads, 1., 9.),
                (bursts, 6., 16.),
                (chains_of_stores, 4., 14.),
                (sparse, 1., 4.),
                (few_pages, 1., 14.),
            ],
        ),
    ] {
        let spec = walking(walker, reads, handlers);
        for (mix, mean, most) in limits {
            let (found_mean, found_most) = mix.errors(&spec, T_NEXT, cores);
            assert!(
                found_mean.abs() < mean && found_most < most,
                "{walker:?}, reads: {reads}, {mix:?} on {cores} cores with {handlers} handlers: {found_mean:.2}% on the average, {found_most:.2}% at most"
            );
        }
    }
}
