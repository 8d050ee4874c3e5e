//! Prefetchers, instruction cache, page-table walks and write-through to the cycle: not ready at t-1, ready at t.

mod common;

use common::*;
use simcore::spec::{
    InstructionCacheSpec, MachineSpec, PageTableSpec, PrefetcherSpec, Replacement, Walker,
    WritePolicy,
};
use simcore::{Engine, Statistics};
use traces::{Event, EventSink, Kind, Layout, OpClass};

/// Latencies of the second and the third level.
const L2: u64 = 5;
const L3: u64 = 12;

const NEXT_LINE: PrefetcherSpec = PrefetcherSpec::NextLine { degree: 1 };

fn prefetching(level: usize, prefetcher: PrefetcherSpec) -> MachineSpec {
    let mut spec = machine();
    spec.dtlb.walk_latency_cycles = 0;
    spec.caches[level].prefetchers = vec![prefetcher];
    spec
}

fn fetch(address: u64) -> Event {
    Event {
        size: 4,
        ..Event::new(Kind::Fetch, address)
    }
}

/// A chain of operations that takes so many cycles, a multiple of four, after the event before.
fn delay(cycles: u64) -> Vec<Event> {
    let multiply = Event {
        size: OpClass::Multiply as u16,
        ..Event::new(Kind::Op, 0)
    };
    vec![after(1, multiply); cycles as usize / 4]
}

/// Cycles that one more dependent load of `address` takes, `wait` cycles after all the others.
fn last_load(spec: &MachineSpec, before: &[Event], wait: u64, address: u64) -> (u64, Statistics) {
    let mut events = before.to_vec();
    events.extend(delay(wait));
    let alone = run(spec, &events);
    events.push(after(1, load(address)));
    let with = run(spec, &events);
    // The lines on their way when the chain ends must not decide how long the run takes.
    let busy_until = |stats: &Statistics| (stats.slots.total - stats.slots.drain).div_ceil(4);
    (busy_until(&with) - busy_until(&alone), with)
}

#[test]
fn the_next_line_is_prefetched_with_its_miss_and_hides_all_but_an_interval() {
    let spec = prefetching(0, NEXT_LINE);
    // The prefetch starts with the miss; its line comes an interval later. A dependent load right behind the miss waits
    // for the rest, and one an interval (of four-cycle steps) later finds it there.
    for (wait, latency, late) in [(0, T_NEXT, 1), (12, T_NEXT - 12, 1), (16, 1, 0)] {
        let (cycles, stats) = last_load(&spec, &[load(0)], wait, LINE);
        assert_eq!(cycles, latency, "after {wait} cycles");
        let counts = stats.caches[0].prefetchers.unwrap();
        // The first use of the prefetched line asks for the next.
        assert_eq!((counts.issued, counts.useful, counts.late), (2, 1, late));
    }
    // One cycle early and in time: the chain of the load itself moves it by single cycles.
    for (chain, late) in [(1, 1), (2, 0)] {
        let mut events = vec![load(0)];
        events.extend(delay(12));
        events.push(Event {
            chain,
            ..after(1, load(LINE))
        });
        let counts = run(&spec, &events).caches[0].prefetchers.unwrap();
        assert_eq!(
            counts.late,
            late,
            "issued {} cycles after the miss ended",
            12 + chain
        );
    }
}

#[test]
fn a_prefetcher_of_the_second_level_fetches_into_that_only() {
    let spec = prefetching(1, NEXT_LINE);
    let (cycles, stats) = last_load(&spec, &[load(0)], 16, LINE);
    assert_eq!(cycles, L2);
    assert_eq!(
        (stats.caches[0].counts.misses, stats.caches[1].counts.hits),
        (2, 1)
    );
    assert_eq!(stats.caches[0].prefetchers, None);
}

#[test]
fn a_stride_is_prefetched_after_two_equal_steps() {
    let spec = prefetching(
        0,
        PrefetcherSpec::Stride {
            table_entries: 16,
            degree: 1,
        },
    );
    let step = 5 * LINE;
    let steps =
        |count: u64| -> Vec<Event> { (0..count).map(|n| after(1, load(n * step))).collect() };
    // Three loads show the stride twice; the second has shown it only once.
    assert_eq!(last_load(&spec, &steps(2), 16, 2 * step).0, T1);
    assert_eq!(last_load(&spec, &steps(3), 16, 3 * step).0, 1);
    // Another site knows nothing of it.
    let mut events = steps(3);
    events[1].site = 1;
    assert_eq!(last_load(&spec, &events, 16, 3 * step).0, T1);
}

#[test]
fn a_stream_runs_ahead_of_two_misses_up_to_its_distance() {
    let stream = |distance_lines| PrefetcherSpec::Stream {
        streams: 2,
        degree: 4,
        distance_lines,
    };
    let lines = |lines: &[u64]| -> Vec<Event> {
        lines
            .iter()
            .map(|line| after(1, load(line * LINE)))
            .collect()
    };
    let spec = prefetching(0, stream(3));
    for (line, cycles) in [(12, 1), (14, 1), (15, T1)] {
        // 60 cycles, so that the last of the lines, three intervals after the miss, has come.
        assert_eq!(
            last_load(&spec, &lines(&[10, 11]), 60, line * LINE).0,
            cycles,
            "line {line}"
        );
    }
    assert_eq!(
        last_load(&spec, &lines(&[11, 10]), 60, 8 * LINE).0,
        1,
        "downwards"
    );
    assert_eq!(
        last_load(&spec, &lines(&[10, 12]), 60, 13 * LINE).0,
        T1,
        "no neighbours"
    );
}

#[test]
fn a_first_level_prefetch_needs_a_free_miss_handler() {
    let mut spec = prefetching(0, NEXT_LINE);
    let counts = |spec: &MachineSpec| run(spec, &[load(0)]).caches[0].prefetchers.unwrap();
    spec.caches[0].mshrs = Some(1);
    assert_eq!((counts(&spec).issued, counts(&spec).dropped), (0, 1));
    spec.caches[0].mshrs = Some(2);
    assert_eq!((counts(&spec).issued, counts(&spec).dropped), (1, 0));
    let mut second = prefetching(1, NEXT_LINE);
    second.caches[0].mshrs = Some(1);
    assert_eq!(
        run(&second, &[load(0)]).caches[1]
            .prefetchers
            .unwrap()
            .issued,
        1
    );
}

fn with_instruction_cache(mut spec: MachineSpec) -> MachineSpec {
    spec.dtlb.walk_latency_cycles = 0;
    spec.instruction_cache = Some(InstructionCacheSpec {
        size_bytes: 2 * LINE,
        line_bytes: LINE,
        ways: 1,
        replacement: Replacement::Lru,
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
        let counts = hit.instruction_cache.unwrap();
        assert_eq!((counts.hits, counts.misses), (1, 3));
        assert_eq!(
            hit.caches[0].accesses, 0,
            "code passes the first data cache by"
        );
        assert_eq!(hit.slots.total, hit.cycles * width);
    }
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
fn a_written_through_store_occupies_the_store_buffer_until_the_next_level_has_it() {
    for through in [false, true] {
        let mut spec = machine();
        spec.dtlb.walk_latency_cycles = 0;
        spec.core.store_buffer_entries = 1;
        if through {
            spec.caches[0].write_policy = WritePolicy::WriteThrough;
        }
        // The line is in all levels; each store has to leave the buffer before the next can enter.
        let stores = |count: usize| {
            let mut events = vec![load(0), after(1, load(0))];
            events.extend(delay(8));
            events.push(after(1, store(0)));
            events.extend(vec![store(0); count]);
            run(&spec, &events)
        };
        let each = (stores(11).cycles - stores(1).cycles) / 10;
        assert_eq!(each, if through { L2 } else { 1 });
        let stats = stores(10);
        assert_eq!(stats.caches[1].counts.hits, if through { 11 } else { 0 });
        assert_eq!(
            stats.bus.write_throughs,
            through.then_some(0),
            "the second level keeps them"
        );
        if through {
            assert!(
                stats.slots.dcache["L2"] >= 9 * (L2 - 1) * 4,
                "they wait for the second level"
            );
        }
    }
}

#[test]
fn a_store_that_no_level_keeps_goes_to_memory() {
    let mut spec = machine();
    for cache in &mut spec.caches {
        cache.write_policy = WritePolicy::WriteThrough;
        cache.write_allocate = false;
    }
    let stats = run(&spec, &[store(0), store(0), load(0), store(0)]);
    assert_eq!(stats.bus.write_throughs, Some(3));
    assert_eq!((stats.bus.fills, stats.bus.write_backs), (1, 0));
}
