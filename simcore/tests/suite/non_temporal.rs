//! Stores past the caches: what they move, what they wait for, and what they leave of cached lines.

use crate::common::random::{any_machine, any_trace};
use crate::common::*;
use crate::multicore::on_cores;
use proptest::prelude::*;
use simcore::spec::{Inclusion, Interval, MachineSpec, MemorySpec, PrefetcherSpec};
use simcore::stack_distance::StackDistances;
use simcore::{Counts, Statistics};
use traces::{Event, EventSink, Kind, Layout};

const LINE: u64 = 64;

/// A store of so many bytes past the caches, 16 at a time.
fn past(address: u64, size: u16) -> Event {
    Event {
        size,
        words: size.div_ceil(16),
        ..Event::new(Kind::StoreNta, address)
    }
}

/// The same through the caches.
fn through(event: &Event) -> Event {
    Event {
        kind: Kind::Store,
        ..*event
    }
}

/// Whole lines, one behind the other.
fn lines(count: u64) -> Vec<Event> {
    (0..count).map(|line| past(line * LINE, 64)).collect()
}

/// A machine on which translation takes no time, with so many miss handlers.
fn with_handlers(mut spec: MachineSpec, handlers: u32) -> MachineSpec {
    spec.dtlb.walk_latency_cycles = 0;
    spec.caches[0].mshrs = Some(handlers);
    spec
}

fn bus(stats: &Statistics) -> (u64, u64, Option<u64>) {
    let bus = stats.bus;
    (bus.fills, bus.write_backs, bus.non_temporal)
}

#[test]
fn a_whole_line_moves_once_and_is_not_looked_up() {
    for spec in [machine(), in_order()] {
        let stats = run(&spec, &lines(1000));
        assert_eq!(bus(&stats), (0, 0, Some(1000)));
        assert_eq!(stats.caches[0].accesses, 0);
        assert_eq!(stats.dtlb.accesses, 1000, "addresses are translated");
        assert_eq!(stats.instructions, 4000);
        let cached: Vec<Event> = lines(1000).iter().map(through).collect();
        assert_eq!(bus(&run(&spec, &cached)), (1000, 0, None));
    }
}

#[test]
fn parts_of_a_line_are_combined_in_any_order() {
    let parts = [48, 0, 32, 16].map(|place| past(LINE + place, 16));
    assert_eq!(bus(&run(&machine(), &parts)), (0, 0, Some(1)));
    // One event over three lines writes one of them whole; what is left of the others goes at the end.
    assert_eq!(bus(&run(&machine(), &[past(60, 100)])), (0, 0, Some(3)));
}

/// Two lines in turn with one buffer leave it each time; with two they are combined.
#[test]
fn a_line_that_finds_no_buffer_sends_the_oldest() {
    let turns: Vec<Event> = (0..4)
        .flat_map(|part| [past(part * 16, 16), past(LINE + part * 16, 16)])
        .collect();
    let sent = |buffers| bus(&run(&with_handlers(machine(), buffers), &turns)).2;
    assert_eq!((sent(1), sent(2)), (Some(8), Some(2)));
}

/// Cycles from one write to the next on a way of their own.
const WRITE: f64 = 20.25;

/// Writes that use the bus, have a way of their own, or never wait.
fn written(by: Option<Interval>, use_bus: bool) -> MachineSpec {
    let mut spec = with_handlers(machine(), 64);
    spec.memory = MemorySpec::Fixed {
        latency_cycles: T1 as u32,
        interval_cycles: Interval::of_cycles(T_NEXT),
        write_backs_use_bus: use_bus,
        write_interval_cycles: by,
    }
    .into();
    spec
}

/// Whether `found` is so many cycles, but for what begins and ends a run.
fn is_about(found: u64, cycles: f64) -> bool {
    (cycles..cycles + 3. * T1 as f64).contains(&(found as f64))
}

/// Streams past the caches and loads: each waits for its own way, or all for one.
#[test]
fn writes_on_a_way_of_their_own_wait_for_each_other() {
    let own = Some(Interval::nearest(WRITE));
    let count = 400;
    let writes = lines(count);
    let found = |spec: &MachineSpec, events: &[Event]| cycles(spec, events);
    let takes = found(&written(own, false), &writes);
    assert!(is_about(takes, count as f64 * WRITE), "{takes}");
    let takes = found(&written(None, true), &writes);
    assert!(is_about(takes, (count * T_NEXT) as f64), "{takes}");
    let takes = found(&written(None, false), &writes);
    assert!(takes < count * T_NEXT / 2, "{takes}: only handlers bind");
    let both: Vec<Event> = (0..count)
        .flat_map(|line| [past(line * LINE, 64), load((1 << 30) + line * LINE)])
        .collect();
    let takes = found(&written(own, false), &both);
    assert!(
        is_about(takes, count as f64 * WRITE),
        "{takes}: loads are quicker"
    );
    let takes = found(&written(None, true), &both);
    assert!(is_about(takes, (2 * count * T_NEXT) as f64), "{takes}");
    let takes = found(&written(Some(Interval::of_cycles(1)), false), &both);
    assert!(
        is_about(takes, (count * T_NEXT) as f64),
        "{takes}: loads are slower"
    );
}

/// Memory has one way of writes, whoever writes: each of four cores has a quarter of it.
#[test]
fn the_way_of_writes_is_shared_by_cores() {
    let count = 100;
    let of_core = |core: u64| {
        let mut writes = lines(count);
        for event in &mut writes {
            event.address += core << 30;
        }
        writes
    };
    let traces: Vec<Vec<Event>> = (0..4).map(of_core).collect();
    let takes = |by: Interval, threads: &[Vec<Event>]| {
        let found = on_cores(&written(Some(by), false), threads);
        found.together.cycles
    };
    let own = Interval::nearest(WRITE);
    for cores in [1, 4] {
        let found = takes(own, &traces[..cores]);
        let cycles = (cores as u64 * count) as f64 * WRITE;
        assert!(is_about(found, cycles), "{cores} cores: {found}");
    }
}

/// Each line that is fetched displaces a dirty one. Reads wait for writes once more of them wait than there is room for.
#[test]
fn lines_are_fetched_no_quicker_than_they_are_written_back() {
    let mut spec = written(Some(Interval::nearest(WRITE)), false);
    let fits = spec.caches.last().expect("caches").size_bytes / LINE;
    let (few, many) = (fits + 600, fits + 2000);
    let stores = |count: u64| -> Vec<Event> { (0..count).map(|line| store(line * LINE)).collect() };
    let further = |spec: &MachineSpec| cycles(spec, &stores(many)) - cycles(spec, &stores(few));
    let took = further(&spec) as f64 / 1400.;
    assert!((took - WRITE).abs() < 0.02 * WRITE, "{took}");
    spec.memory = written(None, false).memory;
    let took = further(&spec) as f64 / 1400.;
    assert!(
        (took - T_NEXT as f64).abs() < 0.02 * T_NEXT as f64,
        "{took}"
    );
}

/// A line holds its handler from its turn on the bus until memory has it.
#[test]
fn a_stream_is_bound_by_handlers_or_by_the_bus() {
    for spec in [machine(), in_order()] {
        let cycles = |handlers| cycles(&with_handlers(spec.clone(), handlers), &lines(200));
        for handlers in [1, 2, 8] {
            let rounds = 200 / u64::from(handlers);
            let least = rounds * T1;
            let found = cycles(handlers);
            assert!(
                (least..least + least / 5 + 2 * T1).contains(&found),
                "{handlers}: {found}, and {least}"
            );
        }
        let (found, least) = (cycles(64), 200 * T_NEXT);
        assert!((least..least + 2 * T1).contains(&found), "{found}");
    }
}

/// Where the bus decides, lines that are not fetched first take half of its time.
#[test]
fn streams_past_the_caches_save_the_fetch() {
    // More than the caches hold, so that dirty lines come back.
    let count = 4 * (2 << 20) / LINE;
    let mut spec = with_handlers(machine(), 64);
    spec.core.store_buffer_entries = 512;
    let past = cycles(&spec, &lines(count));
    let cached: Vec<Event> = lines(count).iter().map(through).collect();
    let ratio = cycles(&spec, &cached) as f64 / past as f64;
    assert!((1.6..2.1).contains(&ratio), "{ratio}");
}

#[test]
fn a_cached_line_leaves_every_cache_and_is_written_back_if_dirty() {
    let part = past(0, 16);
    for (first, write_backs) in [(load(0), 0), (store(0), 1)] {
        let stats = run(&machine(), &[first, part, load(0)]);
        // The part goes to memory before the line is fetched again.
        assert_eq!(bus(&stats), (2, write_backs, Some(1)));
        assert_eq!(stats.caches[0].counts.hits, 0);
        assert!(stats.caches.iter().all(|cache| cache.counts.misses == 2));
    }
    let kept = run(&machine(), &[load(LINE), part, load(LINE)]);
    assert_eq!(
        kept.caches[0].counts.misses, 1,
        "its neighbour stays where it is"
    );
}

/// What an inclusive cache that cores share gives up leaves the caches of them all.
#[test]
fn a_line_leaves_the_caches_of_other_cores_with_an_inclusive_one() {
    let mut spec = machine();
    spec.caches[2].inclusion = Inclusion::Inclusive;
    let line = 5 * LINE;
    for (fetch, write_backs) in [(load(line), 0), (store(line), 1)] {
        let uses = [vec![fetch], delay(8000), vec![after(1, load(line))]];
        let writes = [delay(4000), vec![after(1, past(line, 16))]];
        let statistics = on_cores(&spec, &[uses.concat(), writes.concat()]);
        assert_eq!(statistics.cores[0].caches[0].counts.misses, 2);
        assert_eq!(statistics.together.bus.write_backs, write_backs);
    }
}

#[test]
fn a_flush_forgets_what_is_in_a_buffer() {
    let parts = [past(0, 16), Event::new(Kind::Flush, 0), past(LINE, 16)];
    assert_eq!(bus(&run(&with_handlers(machine(), 1), &parts)).2, Some(1));
}

#[test]
fn prefetches_of_a_line_in_a_buffer_fetch_it_behind_the_write() {
    let stats = run(&machine(), &[past(0, 32), prefetch(0), load(8)]);
    assert_eq!(bus(&stats), (1, 0, Some(1)));
    assert_eq!(stats.caches[0].counts.misses, 1);
    assert_eq!(
        stats.caches[0].counts.merges, 1,
        "the load finds the prefetch"
    );
}

/// A longer line of a further cache is fetched when all that buffers have of it has been sent, and is taken out again when the rest is written.
#[test]
fn a_part_of_a_longer_line_is_sent_before_that_is_fetched() {
    let mut spec = machine();
    for cache in &mut spec.caches[1..] {
        cache.line_bytes = 2 * LINE;
    }
    let beside = [past(0, 16), load(LINE), past(16, 48), load(0)];
    let stats = run(&spec, &beside);
    assert_eq!(bus(&stats), (2, 0, Some(2)));
    assert_eq!(stats.caches[1].counts.misses, 2);
    let counts = |events: &[Event]| {
        let mut counts = Counts::new(&spec, &Layout::default()).unwrap();
        counts.consume(events).unwrap();
        counts.finish().bus
    };
    assert_eq!(counts(&beside), stats.bus);
    // What was stored beside it goes to memory before the rest.
    let dirty = [past(0, 16), store(LINE), past(16, 48), load(100 * LINE)];
    assert_eq!(bus(&run(&spec, &dirty)), (2, 1, Some(2)));
}

/// Else it would stay, older than memory.
#[test]
fn a_prefetcher_leaves_a_line_that_is_being_written_past_the_caches() {
    let mut spec = with_handlers(machine(), 8);
    spec.caches[0].prefetchers = vec![PrefetcherSpec::NextLine { degree: 1 }];
    let stats = run(
        &spec,
        &[past(LINE, 16), load(0), past(LINE + 16, 48), load(LINE)],
    );
    assert_eq!(stats.caches[0].counts.misses, 2);
    let prefetched = stats.caches[0].prefetchers.expect("one");
    assert_eq!((prefetched.issued, prefetched.useful), (1, 0), "line 2");
}

/// A store that goes around a first cache which does not allocate sends what a buffer has of its line first.
#[test]
fn a_store_around_the_first_cache_comes_behind_what_was_written() {
    let mut spec = in_order();
    spec.caches[0].write_allocate = false;
    let rest = [past(16, 16), past(32, 32)];
    let stats = run(&spec, &[&[past(0, 16), store(32)], &rest[..]].concat());
    assert_eq!(bus(&stats).2, Some(2));
}

/// Hardware prefetchers see look-ups, of which there are none.
#[test]
fn prefetchers_learn_nothing() {
    let mut spec = machine();
    spec.caches[0].prefetchers = vec![PrefetcherSpec::NextLine { degree: 2 }];
    assert_eq!(bus(&run(&spec, &lines(100))), (0, 0, Some(100)));
}

#[test]
fn a_store_that_waits_is_charged_to_memory() {
    let stats = run(&with_handlers(machine(), 1), &lines(400));
    let memory = stats.slots.dcache["memory"];
    assert!(
        memory > stats.slots.total * 8 / 10,
        "{memory} of {}",
        stats.slots.total
    );
}

proptest! {
    /// Every size of an LRU cache in one pass, as each by itself: lines written past it are not there.
    #[test]
    fn a_curve_has_the_misses_of_each_size(mut spec in any_machine(), events in any_trace(), ways in 1_u32..40) {
        spec.caches.truncate(1);
        spec.caches[0].ways = ways;
        spec.caches[0].size_bytes = spec.caches[0].line_bytes * u64::from(ways);
        let layout = Layout { phases: vec!["one".to_owned(), "other".to_owned()], ..Layout::default() };
        let mut counts = Counts::new(&spec, &layout).unwrap();
        counts.consume(&events).unwrap();
        let mut distances = StackDistances::new(spec.caches[0].line_bytes, 1).unwrap();
        distances.consume(&events).unwrap();
        let curve = distances.finish().misses();
        let misses = curve[(ways as usize).min(curve.len() - 1)];
        prop_assert_eq!(misses, counts.finish().caches[0].counts.misses);
    }
}
