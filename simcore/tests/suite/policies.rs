//! Replacement, inclusion and write policies against the textbook, and the laws of hardware prefetching.

use crate::common::random::{
    any_policy_machine, any_prefetcher, any_prefetching_machine, any_streaming_trace, any_trace,
    any_trace_through_caches, arrivals_everywhere, with_arrivals,
};
use crate::common::textbook::{Textbook, simulated};
use crate::common::{PAGE, load, machine, prefetch, run};
use proptest::prelude::*;
use simcore::spec::{MachineSpec, PrefetcherSpec, Replacement};
use simcore::{Engine, Statistics};
use traces::{Event, EventSink, Kind, Layout};

/// Phases that the random traces name.
fn layout() -> Layout {
    Layout {
        phases: vec!["start".to_owned(), "work".to_owned()],
        calls: Vec::new(),
        ..Layout::default()
    }
}

fn run_in_batches(spec: &MachineSpec, events: &[Event], batch: usize) -> Statistics {
    let mut engine = Engine::new(spec, &layout()).unwrap();
    for part in events.chunks(batch) {
        engine.consume(part).unwrap();
    }
    engine.finish()
}

/// The machine with nothing but a first level that holds all that the random traces touch, and a prefetcher.
fn one_large_level(prefetchers: Vec<PrefetcherSpec>) -> MachineSpec {
    let mut spec = machine();
    spec.caches.truncate(1);
    spec.caches[0].size_bytes = 64 << 20;
    spec.caches[0].ways = 64;
    spec.caches[0].prefetchers = prefetchers;
    spec
}

/// One set of four ways.
fn four_ways(replacement: Replacement) -> MachineSpec {
    let mut spec = machine();
    spec.caches.truncate(1);
    spec.caches[0].size_bytes = 256;
    spec.caches[0].replacement = replacement;
    spec
}

fn misses(spec: &MachineSpec, lines: &[u64]) -> u64 {
    let events: Vec<Event> = lines.iter().map(|line| load(line * 64)).collect();
    run(spec, &events).caches[0].counts.misses
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn counts_equal_the_textbook(spec in any_policy_machine(), events in any_streaming_trace()) {
        spec.validate().unwrap();
        let mut book = Textbook::new(&spec);
        book.run(&events);
        prop_assert_eq!(simulated(&run_in_batches(&spec, &events, 400)), book.counts());
    }

    /// In cycles as in no time.
    #[test]
    fn counts_equal_the_textbook_where_pages_arrive(spec in any_policy_machine(), events in with_arrivals(any_streaming_trace())) {
        spec.validate().unwrap();
        let mut book = Textbook::new(&spec);
        book.run(&events);
        let mut engine = Engine::new(&spec, &layout()).unwrap();
        engine.overwrite_frames();
        engine.consume(&events).unwrap();
        prop_assert_eq!(simulated(&engine.finish()), book.counts());
        let mut engine = Engine::new(&spec, &layout()).unwrap();
        engine.overwrite_frames();
        engine.pass(&events).unwrap();
        prop_assert_eq!(simulated(&engine.finish()), book.counts());
    }

    #[test]
    fn pages_from_nowhere_leave_their_frames_as_they_are(spec in any_policy_machine(), events in any_streaming_trace()) {
        let marks: Vec<Event> = events.iter().flat_map(|&event| [Event::new(Kind::PageRead, 0), event]).collect();
        let arrive = |event: &Event| match event.kind {
            Kind::PageRead => Event { size: u16::MAX, ..Event::new(Kind::PageArrival, 0) },
            _ => *event,
        };
        let arrivals: Vec<Event> = marks.iter().map(arrive).collect();
        let mut plain = run_in_batches(&spec, &marks, 400);
        plain.page_requests.clear();
        prop_assert_eq!(run_in_batches(&spec, &arrivals, 400), plain);
    }

    /// Whatever prefetchers brought has been used, or has left unused.
    #[test]
    fn prefetched_lines_that_pages_overwrite_are_counted(
        spec in any_prefetching_machine(),
        mut events in with_arrivals(any_streaming_trace()),
    ) {
        events.extend(arrivals_everywhere());
        let mut engine = Engine::new(&spec, &layout()).unwrap();
        engine.overwrite_frames();
        engine.consume(&events).unwrap();
        let stats = engine.finish();
        for prefetchers in stats.caches.iter().filter_map(|cache| cache.prefetchers) {
            prop_assert_eq!(prefetchers.issued, prefetchers.useful + prefetchers.unused);
        }
    }

    #[test]
    fn random_replacement_is_the_same_in_every_run(mut spec in any_policy_machine(), events in any_trace()) {
        for cache in &mut spec.caches {
            cache.replacement = Replacement::Random;
        }
        let stats = run_in_batches(&spec, &events, 400);
        prop_assert_eq!(&run_in_batches(&spec, &events, 400), &stats);
        let lines = stats.caches[0].accesses;
        prop_assert!(stats.caches[0].counts.misses <= lines);
    }

    #[test]
    fn a_prefetcher_turns_misses_into_hits(prefetcher in any_prefetcher(), events in any_trace_through_caches()) {
        let with = run_in_batches(&one_large_level(vec![prefetcher]), &events, 400);
        let without = run_in_batches(&one_large_level(Vec::new()), &events, 400);
        let (demand, plain) = (with.caches[0].counts, without.caches[0].counts);
        let prefetched = with.caches[0].prefetchers.unwrap();
        prop_assert_eq!(with.caches[0].accesses, without.caches[0].accesses);
        prop_assert_eq!(demand.misses + prefetched.useful, plain.misses);
        prop_assert_eq!(with.bus.fills, demand.misses + prefetched.issued);
        prop_assert_eq!(prefetched.unused, 0, "nothing leaves");
        prop_assert_eq!(&with.dtlb, &without.dtlb);
        prop_assert_eq!(with.branches, without.branches);
        prop_assert_eq!(with.instructions, without.instructions);
    }

    #[test]
    fn no_prefetch_leaves_its_page(prefetcher in any_prefetcher(), lines in prop::collection::vec(0_u64..2048, 0..200)) {
        // Even pages only, so that whatever comes from an odd one was prefetched across a border.
        let lines_per_page = PAGE / 64;
        let even = |line: u64| (line / lines_per_page * 2 * lines_per_page + line % lines_per_page) * 64;
        let mut events: Vec<Event> = lines.iter().map(|&line| load(even(line))).collect();
        let spec = one_large_level(vec![prefetcher]);
        let before = run(&spec, &events).caches[0].counts.misses;
        // Software prefetches do not train the first level.
        let odd = (1..16).step_by(2).flat_map(|page| (0..lines_per_page).map(move |line| page * lines_per_page + line));
        events.extend(odd.map(|line| prefetch(line * 64)));
        let after = run(&spec, &events);
        prop_assert_eq!(after.caches[0].counts.misses - before, 8 * lines_per_page);
    }

    #[test]
    fn laws_hold_with_prefetchers_at_every_level(
        spec in any_prefetching_machine(),
        events in any_streaming_trace(),
        batch in 1_usize..50,
    ) {
        let stats = run_in_batches(&spec, &events, 400);
        prop_assert_eq!(&run_in_batches(&spec, &events, batch), &stats);
        prop_assert_eq!(stats.slots.total, stats.cycles * u64::from(spec.core.issue_width));
        prop_assert_eq!(stats.breakdown.iter().map(|row| row.slots.total).sum::<u64>(), stats.slots.total);
        for cache in &stats.caches {
            let Some(prefetchers) = cache.prefetchers else { continue };
            prop_assert!(prefetchers.issued >= prefetchers.useful + prefetchers.unused);
            prop_assert!(prefetchers.useful >= prefetchers.late);
        }
        let mut plain = spec.clone();
        plain.caches.iter_mut().for_each(|cache| cache.prefetchers.clear());
        let without = run_in_batches(&plain, &events, 400);
        prop_assert_eq!(stats.caches[0].accesses, without.caches[0].accesses);
        prop_assert_eq!(stats.dtlb, without.dtlb);
    }
}

#[test]
fn policies_part_on_a_sequence_worked_out_by_hand() {
    // Four lines fill the set, 0 is used again, 4 comes: LRU and tree-PLRU keep 0, FIFO does not. Under NRU all four
    // bits were set by 3, which cleared the others; with 0 used, 1 is the first that was not. Under SRRIP 0 is near and 1
    // the first of the others.
    let sequence = [0, 1, 2, 3, 0, 4, 0];
    for (replacement, expected) in [
        (Replacement::Lru, 5),
        (Replacement::TreePlru, 5),
        (Replacement::Nru, 5),
        (Replacement::Srrip, 5),
        (Replacement::Fifo, 6),
    ] {
        assert_eq!(
            misses(&four_ways(replacement), &sequence),
            expected,
            "{replacement:?}"
        );
    }
    // The tree: after 0 1 2 3 0 the root points to the upper half, whose node points to 2; LRU would take 1.
    assert_eq!(
        misses(&four_ways(Replacement::TreePlru), &[0, 1, 2, 3, 0, 4, 1]),
        5
    );
    assert_eq!(
        misses(&four_ways(Replacement::TreePlru), &[0, 1, 2, 3, 0, 4, 2]),
        6
    );
    assert_eq!(
        misses(&four_ways(Replacement::Lru), &[0, 1, 2, 3, 0, 4, 1]),
        6
    );
}

/// Random replacement has no order in which lines leave.
#[test]
fn a_line_that_streams_leaves_first_if_it_has_got_a_free_way() {
    let streams = Event::new(Kind::PrefetchNta, 3 * 64);
    let lines = |numbers: &[u64]| -> Vec<Event> {
        let loads = numbers.iter().map(|line| load(line * 64));
        loads.collect()
    };
    let events = [lines(&[0, 1, 2]), vec![streams], lines(&[4, 0, 1, 2])].concat();
    for replacement in [
        Replacement::Lru,
        Replacement::Fifo,
        Replacement::Nru,
        Replacement::Srrip,
        Replacement::TreePlru,
    ] {
        let fills = run(&four_ways(replacement), &events).bus.fills;
        assert_eq!(fills, 5, "{replacement:?}");
    }
}

#[test]
fn srrip_keeps_what_is_used_again_from_a_scan() {
    // Two lines that are used again and again, and between them a scan of four lines, which flushes an LRU set.
    let rounds: Vec<u64> = (0..50)
        .flat_map(|round| {
            [
                0,
                1,
                0,
                1,
                10 + 4 * round,
                11 + 4 * round,
                12 + 4 * round,
                13 + 4 * round,
            ]
        })
        .collect();
    let scanned = 50 * 4;
    assert_eq!(
        misses(&four_ways(Replacement::Lru), &rounds),
        scanned + 50 * 2
    );
    assert_eq!(misses(&four_ways(Replacement::Srrip), &rounds), scanned + 2);
}

#[test]
fn random_replacement_lies_between_none_and_the_best() {
    // Eight lines in turn through four ways: LRU always misses. A random victim leaves a line in place for the whole
    // round with probability (3/4)^misses, so that some accesses hit; the best policy (Belady's) hits 3 of 7.
    let turns: Vec<u64> = (0..4000).map(|access| access % 8).collect();
    let random = misses(&four_ways(Replacement::Random), &turns);
    assert_eq!(misses(&four_ways(Replacement::Lru), &turns), 4000);
    assert!((4000 * 4 / 7..3900).contains(&random), "{random}");
}

#[test]
fn a_machine_without_prefetchers_does_not_speak_of_them() {
    let events = [load(0), Event::new(Kind::Store, 64)];
    let stats = serde_json::to_value(run(&machine(), &events)).unwrap();
    let text = stats.to_string();
    for absent in [
        "prefetchers",
        "icache",
        "walk_reads",
        "write_throughs",
        "non_temporal",
        "back_invalidations",
        "instruction_cache",
    ] {
        assert!(!text.contains(absent), "{absent} in {text}");
    }
}

#[test]
fn keys_left_out_mean_the_defaults() {
    let spec = machine();
    let mut plain = serde_json::to_value(&spec).unwrap();
    let top = plain.as_object_mut().unwrap();
    for key in ["cores", "instruction_cache"] {
        assert!(top.remove(key).is_some());
    }
    assert!(
        plain["dtlb"]
            .as_object_mut()
            .unwrap()
            .remove("page_table")
            .is_some()
    );
    for cache in plain["caches"].as_array_mut().unwrap() {
        for key in [
            "inclusion",
            "write_policy",
            "write_allocate",
            "prefetchers",
            "shared",
        ] {
            assert!(cache.as_object_mut().unwrap().remove(key).is_some());
        }
    }
    assert_eq!(serde_json::from_value::<MachineSpec>(plain).unwrap(), spec);
}
