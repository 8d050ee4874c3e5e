//! Instruction cache and page-table walks to the cycle.

use crate::common::*;
use simcore::spec::{
    Inclusion, InstructionCacheSpec, MachineSpec, PageTableSpec, PrefetcherSpec, Replacement,
    Walker,
};
use simcore::{Engine, Statistics};
use traces::{Event, EventSink, Kind, Layout};

fn fetch(address: u64) -> Event {
    Event {
        size: 4,
        ..Event::new(Kind::Fetch, address)
    }
}

fn with_instruction_cache(mut spec: MachineSpec) -> MachineSpec {
    spec.dtlb.walk_latency_cycles = 0;
    spec.instruction_cache = Some(InstructionCacheSpec {
        size_bytes: 2 * LINE,
        line_bytes: LINE,
        ways: 1,
        replacement: Replacement::Lru,
        next_line_prefetch: false,
    });
    spec
}

#[test]
fn a_miss_of_the_instruction_cache_stalls_the_front_end_for_the_second_level() {
    for spec in [machine(), in_order()].map(with_instruction_cache) {
        let width = u64::from(spec.core.issue_width);
        // Code lines 0 and 2 share a set: the third fetch finds line 0 in the second level, the fourth in the first.
        let work = plain(7, branch(true));
        let mut events = vec![fetch(0), work, fetch(2 * LINE), work];
        let mut icache = Vec::new();
        for _ in 0..2 {
            events.extend([fetch(0), work]);
            icache.push(run(&spec, &events));
        }
        let before = run(&spec, &events[..4]);
        let stall = |stats: &Statistics| stats.slots.icache.unwrap();
        let [missed, hit] = &icache[..] else {
            unreachable!()
        };
        let stalled = (missed.cycles - before.cycles) - 8 / width;
        assert_eq!(stalled, L2, "{:?}", spec.core.kind);
        assert_eq!(stall(missed) - stall(&before), L2 * width);
        assert_eq!(stall(hit), stall(missed));
        assert_eq!(hit.cycles - missed.cycles, 8 / width);
        let counts = hit.instruction_cache.clone().unwrap();
        assert_eq!((counts.hits, counts.misses), (1, 3));
        assert_eq!(
            hit.caches[0].accesses, 0,
            "code passes the first data cache by"
        );
        assert_eq!(hit.slots.total, hit.cycles * width);
    }
}

/// The front end waits for the last of several lines to come: the first from memory, and the second from the cache that a load brought it to.
#[test]
fn a_fetch_of_several_lines_waits_for_all_of_them() {
    for spec in [machine(), in_order()].map(with_instruction_cache) {
        let wide = Event {
            size: 2 * LINE as u16,
            ..fetch(0)
        };
        // Four instructions a cycle.
        let events = [load(LINE), plain(1600, branch(true)), wide, branch(true)];
        let stats = run(&spec, &events);
        assert_eq!(stats.instruction_cache.expect("one").misses, 2);
        assert_eq!(stats.bus.fills, 2);
        let waited = stats.slots.icache.expect("one");
        // An out-of-order core has some to graduate meanwhile.
        assert!((800..=4 * T1).contains(&waited), "{waited}");
    }
}

/// An exclusive second level takes what the instruction cache evicts, unless the first level holds it as data.
#[test]
fn an_exclusive_level_takes_code() {
    let mut spec = with_instruction_cache(machine());
    spec.caches.truncate(2);
    spec.caches[1].inclusion = Inclusion::Exclusive;
    // Lines 0 and 2 share the only way of a set.
    let turns = [fetch(0), fetch(2 * LINE), fetch(0), branch(true)];
    let stats = run(&spec, &turns);
    assert_eq!((stats.bus.fills, stats.caches[1].counts.hits), (2, 1));
    // What the first level has as data it keeps for itself: the fetch goes to memory for the code.
    let stats = run(&spec, &[&[load(0)], &turns[..]].concat());
    assert_eq!((stats.bus.fills, stats.caches[1].counts.hits), (4, 0));
}

/// What was written and is fetched as code cannot stay dirty in the instruction cache.
#[test]
fn code_that_an_exclusive_level_gives_up_dirty_is_written_back() {
    let mut spec = with_instruction_cache(machine());
    spec.caches.truncate(2);
    spec.caches[0].ways = 1;
    spec.caches[0].size_bytes = 4 * LINE;
    spec.caches[1].inclusion = Inclusion::Exclusive;
    let events = [store(0), load(4 * LINE), fetch(0), branch(true)];
    let stats = run(&spec, &events);
    assert_eq!((stats.bus.fills, stats.bus.write_backs), (2, 1));
    assert_eq!(stats.caches[1].counts.write_backs, 1);
}

#[test]
fn a_machine_without_an_instruction_cache_refuses_fetches() {
    let mut engine = Engine::new(&machine(), &Layout::default()).unwrap();
    let error = engine.consume(&[fetch(0)]).unwrap_err().to_string();
    assert!(
        error.contains("add `instruction_cache` to machine test"),
        "{error}"
    );
}

fn walking(walk_cache_entries: u32, first_cache: &str) -> MachineSpec {
    let mut spec = machine();
    spec.dtlb.page_bytes = 4096;
    spec.dtlb.levels[0].entries = 1;
    spec.dtlb.walk_latency_cycles = 0;
    spec.dtlb.walker = Walker::Parallel;
    spec.dtlb.page_table = Some(PageTableSpec {
        levels: 4,
        entry_bytes: 8,
        node_bytes: None,
        walk_cache_entries,
        first_cache: first_cache.to_owned(),
    });
    spec
}

#[test]
fn a_walk_reads_one_entry_per_level_and_waits_for_each() {
    let page = 4096;
    for (first_cache, hit) in [("L1", 1), ("L2", L2), ("L3", L3)] {
        let spec = walking(0, first_cache);
        // Cold: four reads from memory, one after the other, then the line itself.
        let cold = run(&spec, &[load(5 * LINE)]);
        assert_eq!(cold.cycles, 1 + 4 * T1 + T1 + 1);
        assert_eq!(cold.slots.dtlb, 4 * T1 * 4);
        assert_eq!(cold.dtlb.walk_reads, Some(4));
        assert_eq!(cold.bus.fills, 5);
        // All data lie in other sets than the entries. Page 1 has its entries in the lines of those of page 0; then page 0 again, whose line is in the first level.
        let events = [load(5 * LINE), after(1, load(page + 6 * LINE))];
        let (cycles, stats) = last_load(&spec, &events, 0, 5 * LINE);
        assert_eq!(cycles, 4 * hit + 1, "{first_cache}");
        assert_eq!((stats.dtlb.walks, stats.dtlb.walk_reads), (3, Some(12)));
        assert_eq!(stats.slots.total, stats.cycles * 4);
    }
}

#[test]
fn walk_caches_skip_the_levels_that_they_remember() {
    let page = 4096;
    let spec = walking(1, "L2");
    let events = [load(0), after(1, load(page + LINE))];
    let (cycles, stats) = last_load(&spec, &events, 0, 0);
    assert_eq!(cycles, L2 + 1, "the last level only");
    assert_eq!(stats.dtlb.walk_reads, Some(4 + 1 + 1));
    // A page under another entry of the third level: that one and the last are read.
    let far = [load(0), after(1, load(512 * page + LINE))];
    assert_eq!(run(&spec, &far).dtlb.walk_reads, Some(4 + 2));
    // One entry remembers only the latest; two remember both.
    let back = |spec: &MachineSpec| {
        let events = [far[0], far[1], after(1, load(2 * page))];
        run(spec, &events).dtlb.walk_reads.unwrap()
    };
    assert_eq!(back(&spec), 4 + 2 + 2);
    assert_eq!(back(&walking(2, "L2")), 4 + 2 + 1);
}

#[test]
fn walk_caches_keep_what_was_used_last() {
    let page = 4096;
    let region = 512 * page;
    // The third region takes the place of the second, as the first was used again.
    let loads = [0, region, page, 2 * region, 2 * page].map(|address| after(1, load(address)));
    let reads = run(&walking(2, "L2"), &loads).dtlb.walk_reads;
    assert_eq!(reads, Some(4 + 2 + 1 + 2 + 1));
}

/// Eight entries of eight bytes are a line.
#[test]
fn entries_of_pages_lie_side_by_side() {
    let fills = |page: u64| {
        let loads = [load(5 * LINE), after(1, load(page * 4096 + 6 * LINE))];
        run(&walking(0, "L1"), &loads).bus.fills
    };
    assert_eq!([7, 8, 8 * 512].map(fills), [5 + 1, 5 + 2, 5 + 3]);
}

#[test]
fn a_translation_that_is_there_takes_the_latency_of_its_level() {
    for mut spec in [machine(), in_order()] {
        spec.dtlb.levels[0].latency_cycles = 3;
        let chain = |loads| {
            let chain = vec![after(1, load(0)); loads];
            run(&spec, &[&[load(0)], &delay(400)[..], &chain].concat()).cycles
        };
        assert_eq!(chain(30) - chain(10), 20 * (1 + 3));
    }
}

#[test]
fn walks_and_code_train_no_prefetcher() {
    // A second level of one line, so that whatever looks it up misses it, behind a first level that keeps both data.
    let mut spec = with_instruction_cache(walking(0, "L2"));
    spec.caches.truncate(2);
    spec.caches[1].size_bytes = LINE;
    spec.caches[1].ways = 1;
    spec.caches[1].prefetchers = vec![PrefetcherSpec::NextLine { degree: 1 }];
    let (one, other) = (load(5 * LINE), load(4096 + 6 * LINE));
    let stats = run(
        &spec,
        &[
            one,
            after(1, other),
            after(1, one),
            fetch(0),
            after(2, other),
        ],
    );
    assert_eq!((stats.caches[0].counts.hits, stats.dtlb.walks), (2, 4));
    assert_eq!(
        stats.caches[1].prefetchers.unwrap().issued,
        2,
        "for the two misses of data"
    );
}
