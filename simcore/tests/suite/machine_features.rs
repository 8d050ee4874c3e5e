//! Hardware prefetchers and write-through to the cycle: not ready at t-1, ready at t.

use crate::common::*;
use simcore::Statistics;
use simcore::spec::{
    Inclusion, InterferenceSpec, Interval, MachineSpec, MemorySpec, PageTableSpec, PrefetcherSpec,
    Replacement, WritePolicy,
};
use traces::{Event, Kind};

const NEXT_LINE: PrefetcherSpec = PrefetcherSpec::NextLine { degree: 1 };

fn prefetching(level: usize, prefetcher: PrefetcherSpec) -> MachineSpec {
    let mut spec = machine();
    spec.dtlb.walk_latency_cycles = 0;
    spec.caches[level].prefetchers = vec![prefetcher];
    spec
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

/// What a nearer prefetcher asks for is a request like others: a level learns from it, and its lines are of use to it.
#[test]
fn a_prefetcher_learns_from_what_a_nearer_one_asks_for() {
    let mut spec = prefetching(0, NEXT_LINE);
    spec.caches[1].prefetchers = vec![NEXT_LINE];
    let (cycles, stats) = last_load(&spec, &[load(0)], 60, 2 * LINE);
    // The load brings the second line to both levels. That the first asks for it brings the third to the second.
    assert_eq!(cycles, L2);
    let counts = |level: usize| stats.caches[level].prefetchers.unwrap();
    let of_first = counts(0);
    assert_eq!((of_first.issued, of_first.useful), (2, 0));
    let of_second = counts(1);
    // The last load is the first use of the third; the fourth and the fifth follow as the second and the third did.
    assert_eq!(
        (of_second.issued, of_second.useful, of_second.late),
        (4, 3, 0)
    );
}

/// A stream of the second level keeps ahead of a scan whose misses a next-line prefetcher of the first level hides from it.
#[test]
fn a_prefetcher_of_the_first_level_does_not_blind_the_second() {
    let stream = PrefetcherSpec::Stream {
        streams: 2,
        degree: 2,
        distance_lines: 16,
    };
    let scan: Vec<Event> = (0..60).map(|n| after(1, load(n * LINE))).collect();
    let cycles = |spec: &MachineSpec| run(spec, &scan).cycles;
    let alone = prefetching(1, stream);
    let mut both = alone.clone();
    both.caches[0].prefetchers = vec![NEXT_LINE];
    assert!(cycles(&both) < cycles(&alone));
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
    let stream = PrefetcherSpec::Stream {
        streams: 2,
        degree: 3,
        distance_lines: 3,
    };
    let lines = |lines: &[u64]| -> Vec<Event> {
        lines
            .iter()
            .map(|line| after(1, load(line * LINE)))
            .collect()
    };
    let spec = prefetching(0, stream);
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

/// Stores to lines that no cache has wait for memory, whether or not the first level fetches them before it passes the stores on.
#[test]
fn a_written_through_store_is_served_by_who_has_its_line() {
    let served = |stats: &Statistics| {
        let rows = stats.breakdown.iter();
        [0, 1, 2, 3].map(|level| rows.clone().map(|row| row.served[level]).sum::<u64>())
    };
    for allocates in [true, false] {
        let mut spec = machine();
        spec.dtlb.walk_latency_cycles = 0;
        spec.core.store_buffer_entries = 1;
        spec.caches[0].write_policy = WritePolicy::WriteThrough;
        spec.caches[0].write_allocate = allocates;
        let stores: Vec<Event> = (0..10).map(|line| store(line * LINE)).collect();
        let stats = run(&spec, &stores);
        assert_eq!(served(&stats), [0, 0, 0, 10]);
        assert_eq!(stats.slots.dcache["L2"], 0);
        assert!(stats.slots.dcache["memory"] >= 8 * T1 * 4);
        // Once the second level has them, they wait for that.
        let again = run(&spec, &[&stores[..], &delay(4000), &stores].concat());
        assert_eq!(served(&again), [0, 10, 0, 10]);
    }
}

/// Write-through levels that allocate fetch what they lack, and the store is not done before.
#[test]
fn lines_that_stores_bring_into_further_levels_take_the_bus() {
    let mut spec = in_order();
    spec.memory = MemorySpec::Fixed {
        latency_cycles: T1 as u32,
        interval_cycles: Interval::of_cycles(T_NEXT),
        write_backs_use_bus: false,
        write_interval_cycles: None,
    }
    .into();
    spec.caches[0].write_allocate = false;
    for cache in &mut spec.caches[1..] {
        cache.write_policy = WritePolicy::WriteThrough;
    }
    let lines = 1000;
    let stores: Vec<Event> = (0..lines).map(|line| store(line * LINE)).collect();
    let stats = run(&spec, &stores);
    assert_eq!(stats.bus.fills, lines);
    assert!(stats.cycles >= lines * T_NEXT, "{}", stats.cycles);
}

/// A line that an exclusive level takes before its data have come has them no earlier there, and is still memory's to serve.
#[test]
fn an_exclusive_level_waits_for_a_line_on_its_way() {
    for first in [store(0), load(0)] {
        let mut spec = in_order();
        spec.caches.truncate(2);
        spec.caches[0].ways = 1;
        spec.caches[1].inclusion = Inclusion::Exclusive;
        spec.dtlb.walk_latency_cycles = 0;
        let displaces = load(spec.caches[0].size_bytes);
        let stats = run(
            &spec,
            &[first, displaces, load(0), after(1, load(64 * LINE))],
        );
        // The last load waits for what the first access has asked for.
        assert!(stats.cycles >= 2 * T1, "{}", stats.cycles);
        assert_eq!(stats.slots.dcache["L2"], 0);
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

/// The second level's prefetcher has asked for the next line when the first level's comes for it there.
#[test]
fn a_prefetch_of_a_line_on_its_way_has_it_no_earlier() {
    let mut spec = prefetching(0, NEXT_LINE);
    spec.caches[1].prefetchers = vec![NEXT_LINE];
    let (cycles, stats) = last_load(&spec, &[load(0)], 0, LINE);
    assert_eq!(cycles, T_NEXT);
    assert_eq!(stats.caches[0].prefetchers.expect("one").late, 1);
    assert_eq!(stats.caches[1].prefetchers.expect("one").useful, 2);
    // Later it is there, from the second level.
    let (cycles, _) = last_load(&spec, &[load(0)], 16, LINE);
    assert_eq!(cycles, 1);
}

/// With one miss handler a line is asked for when the one before is there: no sooner does the second level hear of it.
#[test]
fn a_prefetcher_of_the_second_level_learns_from_a_miss_when_it_has_a_handler() {
    for kind in [machine(), in_order()] {
        let mut spec = kind;
        spec.caches[0].mshrs = Some(1);
        spec.caches[1].prefetchers = vec![NEXT_LINE];
        let until = |lines: u64| {
            let loads: Vec<_> = (0..lines).map(|line| load(line * LINE)).collect();
            cycles(&spec, &loads)
        };
        // The first miss asks for the second line, too. When the first is there the second has the handler, and the third is asked for;
        // when the second is there the third has it, and the fourth is asked for; and so on.
        assert_eq!(until(2) - until(1), T_NEXT);
        assert_eq!(until(3) - until(1), T1);
        assert_eq!(until(4) - until(1), T1 + T_NEXT);
        assert_eq!(until(8) - until(4), 2 * T1);
    }
}

/// Each of several prefetchers has as many requests as it may ask for.
#[test]
fn prefetchers_of_a_level_do_not_take_requests_from_each_other() {
    let next_lines = PrefetcherSpec::NextLine { degree: 32 };
    let stream = PrefetcherSpec::Stream {
        streams: 1,
        degree: 4,
        distance_lines: 100,
    };
    let loads: Vec<_> = (0..20).map(|line| after(1, load(line * LINE))).collect();
    let fills = |prefetchers: Vec<PrefetcherSpec>| {
        let mut spec = machine();
        spec.caches[1].prefetchers = prefetchers;
        run(&spec, &loads).bus.fills
    };
    // Ever further ahead, the stream asks for all that the next lines are.
    let both = fills(vec![next_lines, stream]);
    assert_eq!(both, fills(vec![stream, next_lines]));
    assert_eq!(both, fills(vec![stream]));
    assert!(both > fills(vec![next_lines]));
}

#[test]
fn an_access_to_two_lines_teaches_prefetchers_both() {
    let wide = Event {
        size: 8,
        ..load(LINE - 4)
    };
    let stats = run(&prefetching(0, NEXT_LINE), &[wide]);
    assert_eq!(stats.bus.fills, 3, "both, and the one behind");
}

/// One instruction's bytes, in two lines at times; a copy of several lines teaches each of them.
#[test]
fn strides_are_from_first_byte_to_first_byte() {
    let stride = PrefetcherSpec::Stride {
        table_entries: 16,
        degree: 1,
    };
    let issued = |offset: u64, size: u16| {
        let loads: Vec<Event> = (0..12)
            .map(|number| Event {
                size,
                ..after(1, load(offset + 256 * number))
            })
            .collect();
        let stats = run(&prefetching(0, stride), &loads);
        stats.caches[0].prefetchers.expect("one").issued
    };
    // The first two show the stride, and the last would leave the page.
    assert_eq!(issued(0, 8), 10);
    assert_eq!(issued(LINE - 4, 8), 10);
    // In two pages, too.
    let page = machine().dtlb.page_bytes;
    let crossing = |number: u64| Event {
        size: 8,
        ..after(1, load(page - 4 + number * (page / 2)))
    };
    let loads: Vec<Event> = (0..4).map(crossing).collect();
    let stats = run(&prefetching(0, stride), &loads);
    assert_eq!(
        stats.caches[0].prefetchers.expect("one").issued,
        1,
        "from the middle of a page to its end"
    );
    assert!(
        issued(0, 256) > 20,
        "every line of a copy is one line ahead"
    );
}

/// An exclusive level fetches nothing that any nearer cache has, so that all that it brings is used, or leaves, or is there.
#[test]
fn a_prefetcher_of_an_exclusive_level_leaves_what_nearer_caches_have() {
    let mut spec = prefetching(2, NEXT_LINE);
    spec.caches[2].inclusion = Inclusion::Exclusive;
    for (cache, ways) in spec.caches.iter_mut().zip([2, 1, 2]) {
        cache.ways = ways;
        cache.size_bytes = LINE * u64::from(ways);
    }
    let round = |number: u64| {
        let line = |place: u64| (1024 * number + place) * LINE;
        let far = |place| load(line(place));
        [
            store(line(101)),
            far(200),
            far(101),
            far(300),
            far(101),
            far(100),
            far(100),
            far(400),
        ]
    };
    let events: Vec<Event> = (0..50).flat_map(round).collect();
    let counts = run(&spec, &events).caches[2].prefetchers.expect("one");
    assert_eq!(
        counts.issued,
        4 * 50,
        "line 101 is in the first cache when 100 is missed"
    );
    assert!(
        counts.issued - counts.useful - counts.unused <= 2,
        "{counts:?}"
    );
}

/// An exclusive second level has nothing that the first has.
#[test]
fn lines_that_no_further_level_holds_are_written_to_memory_when_caches_are_emptied() {
    for inclusion in [Inclusion::NonInclusive, Inclusion::Exclusive] {
        let mut spec = machine();
        spec.caches.truncate(2);
        spec.caches[1].inclusion = inclusion;
        spec.interference = Some(InterferenceSpec {
            flush_interval_cycles: 1000,
        });
        let events = [
            &[store(0)],
            &delay(1200)[..],
            &[after(1, branch(true)); 400],
        ]
        .concat();
        let stats = run(&spec, &events);
        assert_eq!(stats.cache_flushes, Some(1));
        assert_eq!(stats.bus.write_backs, 1, "{inclusion:?}");
        assert_eq!(stats.caches[0].counts.write_backs, 1);
        // What writes through keeps nothing dirty, also of what it is given then.
        spec.caches[1].write_policy = WritePolicy::WriteThrough;
        let stats = run(&spec, &events);
        assert_eq!(stats.bus.write_backs, 1, "{inclusion:?}");
        assert_eq!(stats.caches[1].counts.write_backs, 0);
    }
}

/// So many lines are asked for by a prefetcher of the first level.
fn issued(prefetcher: PrefetcherSpec, addresses: &[u64]) -> u64 {
    let loads: Vec<Event> = addresses.iter().map(|&address| load(address)).collect();
    let stats = run(&prefetching(0, prefetcher), &loads);
    stats.caches[0].prefetchers.expect("one").issued
}

#[test]
fn a_stream_takes_no_line_that_it_has_left_or_that_is_far_ahead() {
    let stream = PrefetcherSpec::Stream {
        streams: 2,
        degree: 1,
        distance_lines: 1,
    };
    let of = |lines: &[u64]| {
        let addresses: Vec<u64> = lines.iter().map(|line| line * LINE).collect();
        issued(stream, &addresses)
    };
    assert_eq!(of(&[100, 101]), 1);
    assert_eq!(of(&[100, 101, 50]), 1, "begins another stream");
    assert_eq!(of(&[100, 101, 50, 51]), 2, "which goes on");
    assert_eq!(of(&[101, 100]), 1);
    assert_eq!(of(&[101, 100, 50]), 1);
    assert_eq!(of(&[101, 100, 150, 149]), 2);
}

#[test]
fn a_flush_ends_a_stream() {
    let stream = PrefetcherSpec::Stream {
        streams: 2,
        degree: 1,
        distance_lines: 1,
    };
    let flush = Event::new(Kind::Flush, 0);
    let loads = [100, 101, 102].map(|line| load(line * LINE));
    let events = [loads[0], loads[1], flush, loads[2]];
    let stats = run(&prefetching(0, stream), &events);
    assert_eq!(stats.caches[0].prefetchers.expect("one").issued, 1);
}

#[test]
fn a_stride_of_less_than_a_line_asks_for_the_next_line() {
    let stride = PrefetcherSpec::Stride {
        table_entries: 1,
        degree: 1,
    };
    assert!(issued(stride, &[0, 8, 16, 24]) > 0);
}

#[test]
fn random_replacement_spares_no_way() {
    let mut spec = machine();
    spec.caches.truncate(1);
    spec.caches[0].size_bytes = 4 * LINE;
    spec.caches[0].replacement = Replacement::Random;
    let first = (0..4).map(|line| load(line * LINE));
    let others = (4..100).map(|line| load(line * LINE));
    let events: Vec<Event> = first.clone().chain(others).chain(first).collect();
    assert_eq!(run(&spec, &events).caches[0].counts.misses, 104);
}

/// Whatever a machine remembers of what it did: behind a flush it does all as at the beginning.
#[test]
fn behind_a_flush_a_machine_is_as_at_the_beginning() {
    let prefetchers = [
        NEXT_LINE,
        PrefetcherSpec::Stride {
            table_entries: 4,
            degree: 2,
        },
        PrefetcherSpec::Stream {
            streams: 2,
            degree: 2,
            distance_lines: 4,
        },
    ];
    // Ascending lines, then descending ones, pages in turn, and some lines again and again.
    let addresses = (0..300)
        .map(|line| line * LINE)
        .chain((400..700).rev().map(|line| line * LINE))
        .chain((0..200).map(|step| step % 7 * 37 * PAGE + step * LINE))
        .chain((0..600).map(|step| (step * step * 7 + step * 3) % 61 * LINE));
    let once: Vec<Event> = addresses.map(|address| after(1, load(address))).collect();
    let policies = [
        Replacement::Lru,
        Replacement::Nru,
        Replacement::TreePlru,
        Replacement::Srrip,
        Replacement::Fifo,
    ];
    for (policy, kind) in policies
        .into_iter()
        .flat_map(|policy| [(policy, machine()), (policy, in_order())])
    {
        let mut spec = kind;
        spec.dtlb.page_bytes = 4096;
        spec.dtlb.levels[0].entries = 4;
        spec.dtlb.page_table = Some(PageTableSpec {
            levels: 4,
            entry_bytes: 8,
            node_bytes: None,
            walk_cache_entries: 2,
            first_cache: "L2".to_owned(),
        });
        for (cache, prefetcher) in spec.caches.iter_mut().zip(prefetchers) {
            cache.replacement = policy;
            cache.prefetchers = vec![prefetcher];
            cache.size_bytes = 8 * u64::from(cache.ways) * LINE;
        }
        let flush = Event::new(Kind::Flush, 0);
        let counts = |events: &[Event]| {
            let stats = run(&spec, events);
            let mut counts = vec![stats.bus.fills, stats.dtlb.walks];
            counts.extend(stats.dtlb.walk_reads);
            for cache in &stats.caches {
                counts.push(cache.counts.misses);
                counts.extend(cache.prefetchers.map(|counts| counts.issued));
            }
            counts
        };
        let twice: Vec<u64> = counts(&once).iter().map(|count| 2 * count).collect();
        let again = [&once[..], &[flush], &once].concat();
        assert_eq!(counts(&again), twice, "{policy:?} {:?}", spec.core.kind);
    }
}
