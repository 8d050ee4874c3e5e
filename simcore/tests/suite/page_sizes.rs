//! Pages of two sizes, TLB levels with ways, and caches whose number of sets is no power of two.

use crate::common::*;
use simcore::multicore::ThreadOf;
use simcore::spec::{HugePages, MachineSpec, PageTableSpec, Walker};
use simcore::{Counts, Engine, Multicore, Statistics};
use traces::{Event, EventSink, Kind, Layout, Segment};

const SMALL: u64 = 4096;
const LARGE: u64 = 2 << 20;
const GIANT: u64 = 1 << 30;

/// A table of four levels of 4 KiB nodes, as on x86-64, whose reads miss all caches.
fn walking(page_bytes: u64, node_bytes: Option<u64>) -> MachineSpec {
    let mut spec = machine();
    spec.dtlb.page_bytes = page_bytes;
    spec.dtlb.walk_latency_cycles = 0;
    spec.dtlb.walker = Walker::Parallel;
    spec.dtlb.page_table = Some(PageTableSpec {
        levels: 4,
        entry_bytes: 8,
        node_bytes,
        walk_cache_entries: 0,
        first_cache: "L1".to_owned(),
    });
    spec
}

fn in_segments(spec: &MachineSpec, patterns: &[&str]) -> MachineSpec {
    let mut spec = spec.clone();
    spec.dtlb.huge_page_bytes = Some(LARGE);
    let patterns = patterns.iter().map(|&pattern| pattern.to_owned());
    spec.dtlb.huge_pages = HugePages::Segments(patterns.collect());
    spec
}

/// A heap of one page, and a tree from 10 MiB on.
fn layout() -> Layout {
    let segment = |name: &str, base, size_bytes| Segment {
        name: name.to_owned(),
        base,
        size_bytes,
    };
    Layout {
        segments: vec![
            segment("heap", 0, SMALL),
            segment("level 0 (leaves)", 5 * LARGE, LARGE),
        ],
        phases: vec!["run".to_owned()],
        ..Layout::default()
    }
}

fn run_in(spec: &MachineSpec, events: &[Event]) -> Statistics {
    let mut engine = Engine::new(spec, &layout()).unwrap();
    engine.consume(events).unwrap();
    engine.finish()
}

#[test]
fn the_walk_to_a_large_page_ends_levels_earlier() {
    let mut all = walking(SMALL, None);
    all.dtlb.huge_page_bytes = Some(LARGE);
    all.dtlb.huge_pages = HugePages::All;
    let cases = [
        (walking(SMALL, None), 4),
        (walking(SMALL, Some(SMALL)), 4),
        (walking(LARGE, Some(SMALL)), 3),
        (walking(GIANT, Some(SMALL)), 2),
        (all, 3),
        (in_segments(&walking(SMALL, None), &["heap"]), 3),
        (in_segments(&walking(SMALL, None), &["level*"]), 4),
    ];
    for (spec, reads) in cases {
        assert_eq!(spec.validate(), Ok(()));
        let stats = run_in(&spec, &[load(5 * LINE)]);
        assert_eq!(stats.dtlb.walk_reads, Some(reads));
        assert_eq!(stats.slots.dtlb, 4 * reads * T1);
        assert_eq!(stats.cycles, 1 + (reads + 1) * T1 + 1);
    }
}

#[test]
fn pages_of_both_sizes_share_the_upper_levels_of_the_table() {
    let mut spec = in_segments(&walking(SMALL, None), &["level*"]);
    spec.dtlb.page_table.as_mut().unwrap().walk_cache_entries = 1;
    let tree = 5 * LARGE;
    let reads = |events: &[Event]| run_in(&spec, events).dtlb.walk_reads.unwrap();
    // The small page reads four entries; the large one's is in the third level, behind two that are remembered.
    assert_eq!(reads(&[load(0), after(1, load(tree))]), 4 + 1);
    assert_eq!(reads(&[load(tree), after(1, load(0))]), 3 + 2);
    // A large page is no entry that leads further: it displaces none of the walker's third level.
    assert_eq!(
        reads(&[load(0), after(1, load(tree)), after(1, load(SMALL))]),
        4 + 1 + 1
    );
}

/// Entries that a walk skips, as one behind them is remembered, are not read by it: who needs them later reads them.
#[test]
fn a_walker_remembers_what_it_has_read_only() {
    let mut spec = in_segments(&walking(SMALL, None), &["tree"]);
    spec.dtlb.page_table.as_mut().unwrap().walk_cache_entries = 1;
    let layout = Layout {
        segments: vec![
            Segment {
                name: "heap".to_owned(),
                base: 0,
                size_bytes: 2 * LARGE,
            },
            Segment {
                name: "tree".to_owned(),
                base: GIANT,
                size_bytes: LARGE,
            },
        ],
        ..Layout::default()
    };
    let mut engine = Engine::new(&spec, &layout).unwrap();
    // The large page displaces the second level's entry, which the third one's spares the next walk, and not the one after that.
    let loads = [0, GIANT, SMALL, LARGE].map(|page| after(1, load(page)));
    engine.consume(&loads).unwrap();
    assert_eq!(engine.finish().dtlb.walk_reads, Some(4 + 2 + 1 + 3));
}

#[test]
fn one_huge_page_holds_what_many_small_ones_do() {
    let mut spec = machine();
    spec.dtlb.page_bytes = SMALL;
    spec.dtlb.levels[0].entries = 4;
    let tree = 5 * LARGE;
    let pages: Vec<Event> = (0..512).map(|page| load(tree + page * SMALL)).collect();
    assert_eq!(run_in(&spec, &pages).dtlb.walks, 512);
    let huge = in_segments(&spec, &["level*"]);
    let stats = run_in(&huge, &pages);
    assert_eq!((stats.dtlb.walks, stats.dtlb.hits[0]), (1, 511));
    assert_eq!(stats.slots.dtlb, 4 * WALK);
    // Loads of the heap, which is in small pages, do not notice.
    let heap: Vec<Event> = (0..8).map(|page| load(page % 5 * SMALL)).collect();
    assert_eq!(run_in(&huge, &heap), run_in(&spec, &heap));
}

/// The tree fills one huge page, and the heap lies in the first.
#[test]
fn what_lies_behind_and_between_huge_segments_is_in_small_pages() {
    let mut spec = machine();
    spec.dtlb.page_bytes = SMALL;
    let huge = in_segments(&spec, &["level*", "heap"]);
    for (place, walks) in [
        (0, 1),
        (LARGE, 2),
        (3 * LARGE, 2),
        (5 * LARGE, 1),
        (6 * LARGE, 2),
    ] {
        let pages = [place, place + SMALL].map(load);
        assert_eq!(run_in(&huge, &pages).dtlb.walks, walks, "{place}");
    }
}

fn named(segments: &[&str]) -> Layout {
    let segment = |(number, name): (u64, &&str)| Segment {
        name: (*name).to_owned(),
        base: number * LARGE,
        size_bytes: SMALL,
    };
    Layout {
        segments: (0..).zip(segments).map(segment).collect(),
        ..layout()
    }
}

#[test]
fn a_segment_that_no_program_has_is_an_error() {
    let spec = in_segments(&machine(), &["level 0*", "level 1*"]);
    let error = spec.check_huge_segments([&layout()]).unwrap_err();
    assert_eq!(error.path, "dtlb.huge_pages.1");
    assert_eq!(
        error.message,
        "`level 1*` matches no segment of the trace; it has `heap`, `level 0 (leaves)`"
    );
    let error = spec.check_huge_segments([&named(&[])]).unwrap_err();
    assert!(error.message.contains("the trace names none"), "{error:?}");
    // Threads of one program are one program.
    let of_threads = [&layout(), &layout()];
    let error = spec.check_huge_segments(of_threads).unwrap_err();
    assert!(
        error.message.contains("of the trace; it has"),
        "{}",
        error.message
    );
    // Who runs or counts the program says so.
    let refused = "dtlb.huge_pages.1";
    assert_eq!(Engine::new(&spec, &layout()).unwrap_err().path, refused);
    assert_eq!(Counts::new(&spec, &layout()).unwrap_err().path, refused);
}

#[test]
fn programs_side_by_side_have_different_segments_in_huge_pages() {
    let spec = in_segments(&machine(), &["level 0*", "hash table"]);
    let (tree, join) = (layout(), named(&["heap", "hash table"]));
    spec.check_huge_segments([&tree, &join]).unwrap();
    Multicore::new(
        &MachineSpec { cores: 2, ..spec },
        &ThreadOf::programs([&tree, &join]),
    )
    .unwrap();
    let spec = in_segments(&machine(), &["level 0*", "queue"]);
    let error = spec.check_huge_segments([&tree, &join]).unwrap_err();
    assert_eq!(error.path, "dtlb.huge_pages.1");
    assert_eq!(
        error.message,
        "`queue` matches no segment of any trace; they have `heap`, `level 0 (leaves)`, `hash table`"
    );
}

#[test]
fn a_tlb_level_with_ways_keeps_pages_of_one_set_apart() {
    let mut spec = machine();
    spec.dtlb.levels[0].entries = 6;
    let walks = |spec: &MachineSpec, pages: &[u64]| {
        let events: Vec<Event> = pages.iter().map(|page| load(page * PAGE)).collect();
        run(spec, &events).dtlb.walks
    };
    assert_eq!(walks(&spec, &[0, 3, 6, 0]), 3);
    spec.dtlb.levels[0].ways = Some(2);
    // Three sets: pages 0, 3 and 6 are in one of them.
    assert_eq!(walks(&spec, &[0, 3, 6, 0]), 4);
    assert_eq!(walks(&spec, &[0, 1, 2, 0]), 3);
}

#[test]
fn any_number_of_sets_can_be() {
    let mut spec = machine();
    spec.caches.truncate(1);
    spec.caches[0].ways = 1;
    spec.caches[0].size_bytes = 3 * LINE;
    let lines =
        |lines: &[u64]| -> Vec<Event> { lines.iter().map(|line| load(line * LINE)).collect() };
    let misses = |events: &[Event]| {
        let timed = run(&spec, events).caches[0].counts.misses;
        let mut counts = Counts::new(&spec, &layout()).unwrap();
        counts.consume(events).unwrap();
        assert_eq!(counts.finish().caches[0].counts.misses, timed);
        timed
    };
    assert_eq!(misses(&lines(&[0, 1, 2, 0, 1, 2])), 3);
    assert_eq!(misses(&lines(&[0, 3, 0, 3])), 4, "the two share a set");
    assert_eq!(
        misses(&lines(&[0, 4, 0, 4])),
        2,
        "the two would share one of four sets"
    );
    let mut flushed = lines(&[0, 1, 2]);
    flushed.push(Event::new(Kind::Flush, 0));
    flushed.extend(lines(&[0, 1, 2]));
    assert_eq!(misses(&flushed), 6);
}

#[test]
fn impossible_pages_are_refused_by_name() {
    type Spoil = fn(&mut MachineSpec);
    let cases: [(&str, Spoil); 15] = [
        // Four levels of nodes of 2 MiB would translate more than an address has.
        ("dtlb.page_table.levels", |m| m.dtlb.page_bytes = LARGE),
        ("dtlb.page_table.levels", |m| {
            m.dtlb.page_table.as_mut().unwrap().levels = 7;
        }),
        ("dtlb.page_table.levels", |m| {
            m.dtlb.page_table.as_mut().unwrap().levels = 0;
        }),
        ("dtlb.page_bytes", |m| {
            m.dtlb.page_bytes = 64 << 10;
            m.dtlb.page_table.as_mut().unwrap().node_bytes = Some(SMALL);
        }),
        ("dtlb.huge_page_bytes", |m| {
            m.dtlb.huge_page_bytes = Some(1 << 20);
        }),
        ("dtlb.huge_page_bytes", |m| {
            m.dtlb.huge_page_bytes = Some(SMALL);
        }),
        ("dtlb.huge_page_bytes", |m| {
            m.dtlb.huge_page_bytes = Some(GIANT);
            m.dtlb.page_table.as_mut().unwrap().levels = 2;
        }),
        ("dtlb.huge_pages", |m| m.dtlb.huge_pages = HugePages::All),
        ("dtlb.huge_pages", |m| {
            m.dtlb.huge_page_bytes = Some(LARGE);
            m.dtlb.huge_pages = HugePages::Segments(Vec::new());
        }),
        ("dtlb.levels.0.huge_entries", |m| {
            m.dtlb.levels[0].huge_entries = Some(4);
        }),
        ("dtlb.levels.0.huge_ways", |m| {
            m.dtlb.huge_page_bytes = Some(LARGE);
            m.dtlb.levels[0].huge_ways = Some(4);
        }),
        ("dtlb.walkers", |m| m.dtlb.walkers = Some(0)),
        ("dtlb.walkers", |m| {
            (m.dtlb.walker, m.dtlb.walkers) = (Walker::Blocking, Some(2));
        }),
        ("dtlb.levels.0.ways", |m| m.dtlb.levels[0].ways = Some(5)),
        ("dtlb.levels.0.ways", |m| m.dtlb.levels[0].ways = Some(0)),
    ];
    for (path, spoil) in cases {
        let mut spec = walking(SMALL, None);
        assert_eq!(spec.validate(), Ok(()));
        spoil(&mut spec);
        assert_eq!(spec.validate().unwrap_err().path, path);
    }
}
