//! Translations on their way, to the cycle: a page whose walk has begun is translated when the walk ends, not before, and
//! who waits for that is charged `dtlb`.

use crate::common::*;
use simcore::spec::{MachineSpec, PageTableSpec, PrefetchOnTlbMiss, TlbLevelSpec, Walker};
use simcore::{Engine, Statistics};
use traces::{Event, EventSink, Kind, Layout};

/// Dispatch in cycle 0, issue in cycle 1, out of order.
const ISSUE: u64 = 1;
const GRADUATE: u64 = 1;
/// A walk that everything else disappears behind.
const LONG: u64 = 10_000;

fn both_walkers(spec: &MachineSpec) -> [MachineSpec; 2] {
    [Walker::Blocking, Walker::Parallel].map(|walker| {
        let mut spec = spec.clone();
        spec.dtlb.walker = walker;
        spec
    })
}

fn parallel() -> MachineSpec {
    let mut spec = machine();
    spec.dtlb.walker = Walker::Parallel;
    spec
}

/// When the last instruction had graduated, whatever was still on its way then.
fn busy_until(stats: &Statistics, spec: &MachineSpec) -> u64 {
    let width = u64::from(spec.core.issue_width);
    (stats.slots.total - stats.slots.drain).div_ceil(width)
}

#[test]
fn dependent_walks_follow_each_other() {
    // In each page two lines are loaded at once, and the next page's address comes from the second: its walk is the
    // first load's, and it has to wait for that as the first does.
    let walks = 3;
    let pages = 1..=walks;
    let events: Vec<Event> = pages
        .flat_map(|page| {
            [
                after(1, load(page * PAGE)),
                after(2, load(page * PAGE + LINE)),
            ]
        })
        .collect();
    for (spec, start, end) in [(machine(), ISSUE, GRADUATE), (in_order(), 0, 0)] {
        for mut spec in both_walkers(&spec) {
            spec.dtlb.walk_latency_cycles = LONG as u32;
            let stats = run(&spec, &events);
            assert_eq!(stats.dtlb.walks, walks);
            assert_eq!(
                stats.cycles,
                start + walks * (LONG + T1 + T_NEXT) + end,
                "{:?} {:?}",
                spec.core.kind,
                spec.dtlb.walker
            );
        }
    }
}

#[test]
fn all_accesses_to_a_page_wait_for_its_one_walk() {
    for loads in 1..=5 {
        let events: Vec<Event> = (0..loads).map(|line| load(line * LINE)).collect();
        for spec in both_walkers(&machine()) {
            let stats = run(&spec, &events);
            // Two ports issue a load in cycle 1 or later; all lines are asked for when the walk ends.
            assert_eq!(
                stats.cycles,
                ISSUE + WALK + T1 + (loads - 1) * T_NEXT + GRADUATE
            );
            assert_eq!(stats.slots.dtlb, 4 * WALK);
            assert_eq!(
                stats.slots.dcache["memory"],
                4 * (T1 + (loads - 1) * T_NEXT) - (loads - 1)
            );
            assert_eq!((stats.dtlb.walks, stats.dtlb.hits[0]), (1, loads - 1));
        }
    }
}

/// Accesses the last four bytes of a page, all of so many others, and four bytes more.
fn across(event: Event, whole_pages: u64) -> Event {
    Event {
        address: PAGE - 4,
        size: (whole_pages * PAGE + 8) as u16,
        ..event
    }
}

#[test]
fn a_load_waits_for_the_walks_of_all_its_pages() {
    for whole_pages in 0..=2 {
        let pages = 2 + whole_pages;
        let lines = 2 + whole_pages * (PAGE / LINE);
        for (spec, start, end) in [(machine(), ISSUE, GRADUATE), (in_order(), 0, 0)] {
            for mut spec in both_walkers(&spec) {
                spec.dtlb.walk_latency_cycles = LONG as u32;
                let stats = run(&spec, &[across(load(0), whole_pages)]);
                // One walk after the other: the lines of each page but the last, which has one, come while the next is walked for.
                let waits = match spec.dtlb.walker {
                    Walker::Blocking => pages * LONG + T1,
                    Walker::Parallel => LONG + T1 + (lines - 1) * T_NEXT,
                };
                assert_eq!(stats.cycles, start + waits + end);
                let looked_up = (stats.dtlb.accesses, stats.caches[0].accesses);
                assert_eq!((stats.dtlb.walks, looked_up), (pages, (pages, lines)));
            }
        }
    }
}

#[test]
fn lines_of_a_page_that_is_translated_do_not_wait_for_the_walk_of_the_next() {
    for mut spec in both_walkers(&machine()) {
        spec.dtlb.walk_latency_cycles = LONG as u32;
        let beside = || load(PAGE - LINE - 4);
        let translated = ISSUE + LONG + T1;
        assert_eq!(cycles(&spec, &[beside()]), translated + GRADUATE);
        // Of three lines the first two are there before the walk for the last one ends.
        let three = Event {
            size: (LINE + 8) as u16,
            ..load(PAGE - LINE - 4)
        };
        assert_eq!(
            cycles(&spec, &[beside(), after(1, three)]),
            translated + LONG + T1 + GRADUATE
        );
    }
}

#[test]
fn a_store_waits_for_the_walk_of_its_page() {
    for spec in both_walkers(&machine()) {
        let stats = run(&spec, &[prefetch(0), store(0)]);
        // The prefetch graduates in cycle 2, the store when it is translated and a cycle later.
        assert_eq!(busy_until(&stats, &spec), ISSUE + WALK + 1 + GRADUATE);
        assert_eq!(stats.slots.dtlb, 4 * (ISSUE + WALK) - (4 * 2 + 1));
    }
}

#[test]
fn a_store_waits_for_the_walks_of_all_its_pages() {
    for spec in both_walkers(&machine()) {
        let walks = match spec.dtlb.walker {
            Walker::Blocking => 3,
            Walker::Parallel => 1,
        };
        for event in [
            store(0),
            Event {
                kind: Kind::StoreNta,
                ..store(0)
            },
        ] {
            let stats = run(&spec, &[across(event, 1)]);
            assert_eq!(
                busy_until(&stats, &spec),
                ISSUE + walks * WALK + 1 + GRADUATE
            );
            assert_eq!((stats.dtlb.accesses, stats.dtlb.walks), (3, 3));
        }
    }
}

#[test]
fn who_waits_for_the_walk_of_a_prefetch_is_charged_for_it() {
    for spec in both_walkers(&machine()) {
        for line in [0, LINE] {
            let stats = run(&spec, &[prefetch(0), load(line)]);
            let bus = if line == 0 { 0 } else { T_NEXT };
            assert_eq!(
                busy_until(&stats, &spec),
                ISSUE + WALK + T1 + bus + GRADUATE
            );
            assert_eq!(stats.slots.dtlb, 4 * (ISSUE + WALK) - (4 * 2 + 1));
            assert_eq!(stats.slots.dcache["memory"], 4 * (T1 + bus));
        }
    }
    // In order the prefetch issues in cycle 0, and so does the load unless a walk blocks it.
    for spec in both_walkers(&in_order()) {
        let used = [prefetch(0), load(0), after(1, branch(true))];
        let stats = run(&spec, &used);
        assert_eq!(busy_until(&stats, &spec), WALK + T1 + 1);
        let issued = match spec.dtlb.walker {
            Walker::Blocking => 1,
            Walker::Parallel => 2,
        };
        // A blocked load takes a slot of the cycle in which it issues.
        assert_eq!(stats.slots.dtlb, 4 * WALK - issued);
        assert_eq!(
            stats.slots.dcache["memory"],
            4 * T1 - u64::from(spec.dtlb.walker == Walker::Blocking)
        );
    }
}

#[test]
fn a_walk_is_waited_for_to_the_cycle() {
    // A load that needs so many cycles of work after its page's walk began, and that nothing else hides.
    let mut spec = parallel();
    spec.dtlb.walk_latency_cycles = 40;
    let dtlb = |chain: u8| {
        let mut events = vec![load(PAGE), after(1, prefetch(0)), after(2, delay(4)[0])];
        events.extend(delay(32));
        events.push(Event {
            chain,
            ..after(1, load(LINE))
        });
        let stats = run(&spec, &events);
        stats.slots.dtlb - 4 * 40
    };
    assert_eq!([3, 4, 5].map(dtlb), [4, 0, 0]);
    // Then the operation before it graduates in the cycle in which it issues.
    assert_eq!(dtlb(0), 4 * 4 - 1);
}

#[test]
fn who_is_ready_before_the_walk_begins_walks_itself() {
    // The prefetch waits for 40 cycles of work; the load behind it in the program does not.
    for mut spec in both_walkers(&machine()) {
        spec.dtlb.walk_latency_cycles = 1000;
        let mut events = delay(40);
        events.extend([after(1, prefetch(0)), load(LINE)]);
        let stats = run(&spec, &events);
        // Twelve instructions: the load is dispatched in cycle 2 and issues in cycle 3.
        assert_eq!(busy_until(&stats, &spec), 3 + 1000 + T1 + GRADUATE);
        assert_eq!(stats.slots.dcache["memory"], 4 * T1);
        assert_eq!(stats.dtlb.walks, 1, "the page is walked to once");
    }
}

#[test]
fn a_second_tlb_level_is_waited_for_by_all() {
    let mut spec = parallel();
    spec.dtlb.levels[0].entries = 1;
    let second = TlbLevelSpec {
        entries: 8,
        latency_cycles: 7,
        ..spec.dtlb.levels[0].clone()
    };
    spec.dtlb.levels.push(second);
    // Lines 0 and 1 of page 0 are in the first cache and its translation in the second level; the two last loads issue
    // together.
    let filled = [
        load(0),
        load(LINE),
        after(1, load(PAGE)),
        after(1, load(PAGE + LINE)),
    ];
    let before = cycles(&spec, &filled);
    let mut events = filled.to_vec();
    events.extend([after(1, load(0)), after(2, load(LINE))]);
    events.push(after(1, branch(true)));
    let stats = run(&spec, &events);
    assert_eq!(stats.dtlb.hits, [3, 1]);
    assert_eq!(stats.cycles - before, 7 + 1 + 1);
}

#[test]
fn a_dropped_prefetch_walks_for_nobody_and_waits_for_a_walk_under_way() {
    let mut spec = parallel();
    spec.dtlb.prefetch_on_miss = PrefetchOnTlbMiss::Drop;
    let stats = run(&spec, &[prefetch(0), load(0)]);
    assert_eq!((stats.prefetches.dropped, stats.dtlb.walks), (1, 1));
    assert_eq!(stats.cycles, ISSUE + WALK + T1 + GRADUATE);
    let stats = run(&spec, &[load(0), prefetch(LINE)]);
    assert_eq!((stats.prefetches.dropped, stats.dtlb.walks), (0, 1));
    // The run ends when the prefetched line is there.
    assert_eq!(stats.cycles, ISSUE + WALK + T1 + T_NEXT);
}

fn walking(walk_cache_entries: u32) -> MachineSpec {
    let mut spec = parallel();
    spec.dtlb.page_bytes = 4096;
    spec.dtlb.walk_latency_cycles = 0;
    spec.dtlb.page_table = Some(PageTableSpec {
        levels: 4,
        entry_bytes: 8,
        node_bytes: None,
        walk_cache_entries,
        first_cache: "L1".to_owned(),
    });
    spec
}

#[test]
fn a_walk_through_the_caches_is_waited_for_as_well() {
    for spec in both_walkers(&walking(0)) {
        let walk = 4 * T1;
        let loads = run(&spec, &[load(5 * LINE), load(6 * LINE)]);
        assert_eq!(loads.cycles, ISSUE + walk + T1 + T_NEXT + GRADUATE);
        assert_eq!(loads.slots.dtlb, 4 * walk);
        assert_eq!(loads.dtlb.walk_reads, Some(4));
        let prefetched = run(&spec, &[prefetch(5 * LINE), load(5 * LINE)]);
        assert_eq!(prefetched.cycles, ISSUE + walk + T1 + GRADUATE);
        assert_eq!(prefetched.slots.dtlb, 4 * (ISSUE + walk) - (4 * 2 + 1));
        assert_eq!(prefetched.slots.dcache["memory"], 4 * T1);
    }
}

#[test]
fn what_a_walk_cache_is_about_to_know_is_waited_for() {
    // The second page's entry lies in another line than the first's, under the same entry of the level before: that is on
    // its way, and remembered only when it has come.
    let spec = walking(1);
    let events = [load(5 * LINE), load(8 * 4096 + 6 * LINE)];
    let stats = run(&spec, &events);
    assert_eq!(stats.dtlb.walk_reads, Some(4 + 1));
    assert_eq!(stats.cycles, ISSUE + 4 * T1 + T_NEXT + T1 + GRADUATE);
}

#[test]
fn after_a_functional_warm_up_translations_are_there() {
    for spec in [machine(), in_order()] {
        for mut spec in both_walkers(&spec) {
            spec.dtlb.walk_latency_cycles = LONG as u32;
            let mut engine = Engine::new(&spec, &Layout::default()).unwrap();
            engine.pass(&[load(0), prefetch(PAGE)]).unwrap();
            engine.consume(&[load(0), load(PAGE)]).unwrap();
            let stats = engine.finish();
            assert_eq!((stats.slots.dtlb, stats.dtlb.walks), (0, 2));
        }
    }
}

#[test]
fn a_flush_forgets_walks_under_way() {
    let flush = Event::new(Kind::Flush, 0);
    let spec = parallel();
    let stats = run(&spec, &[prefetch(0), flush, load(LINE)]);
    assert_eq!(stats.dtlb.walks, 2);
    assert_eq!(stats.slots.dcache["memory"], 4 * T1);
}
