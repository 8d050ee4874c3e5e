//! Partitioning with filters against sets of keys.

use super::run::PartitionRun;
use super::spec::Input;
use super::tests::{contents, orders};
use super::tuples::Tuples;
use super::{FilterLayout, Filtering, PartitionWorkload};
use crate::family::{Family, Kernel};
use crate::join::algorithm::{OutputPages, PassAlgorithm};
use crate::join::buffers::Found;
use crate::join::filter;
use crate::join::lengths::tests::{fixed_lengths, uniform_lengths};
use crate::join::tuple::Source;
use crate::outcome::Outcome;
use crate::threads::{begin, outcome, take_turns};
use crate::tracer::Trace;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use traces::{Event, EventSink, Kind, Layout};

/// The output pages of a build and a probe relation, in the order of their opening.
pub(super) type Pages = [Vec<Vec<Found>>; 2];

/// A run that keeps its output pages, by thread.
struct Kept {
    run: PartitionRun,
    pages: Mutex<BTreeMap<u32, Pages>>,
}

impl Kernel for Kept {
    fn layout(&self) -> Layout {
        self.run.layout()
    }

    fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
        let mut sides = self.run.sides(thread);
        let filtered = self.run.partition(thread, trace, &mut sides);
        let [build, probe] = sides.as_slice() else {
            panic!("a relation is missing")
        };
        let pages = [build.buffers.all(), probe.buffers.all()];
        self.pages
            .lock()
            .expect("nobody panics")
            .insert(thread, pages);
        let mut outcome = Outcome::default();
        outcome.set("dropped", filtered.dropped);
        outcome.set("filters", filtered.filters);
        outcome.set("ids", filtered.ids);
        outcome.set("switched", filtered.switched);
        outcome.set("out_of_order", filtered.out_of_order);
        outcome.set("unsorted", filtered.unsorted);
        outcome
    }
}

/// What a run leaves: the pages of each thread, numbers, events.
pub(super) struct Left {
    pub(super) pages: Vec<Pages>,
    pub(super) outcome: Outcome,
    pub(super) events: Vec<Event>,
}

pub(super) fn run(workload: &PartitionWorkload) -> Left {
    workload.validate().expect("it can run");
    let kept = Arc::new(Kept {
        run: PartitionRun::new(workload),
        pages: Mutex::default(),
    });
    let mut threads = begin(&kept, workload.threads);
    let mut events: Vec<Event> = Vec::new();
    take_turns(&mut threads, None, |_, part| events.consume(part))
        .expect("all come to every barrier");
    let mut pages = kept.pages.lock().expect("nobody panics");
    Left {
        pages: std::mem::take(&mut *pages).into_values().collect(),
        outcome: outcome(threads),
        events,
    }
}

/// By partition, which keys each sub-partition has: the pages of one thread after the other, K at a time.
fn sub_partitions(workload: &PartitionWorkload, left: &Left) -> Vec<Vec<BTreeSet<u32>>> {
    let mut all = vec![Vec::new(); workload.partitions as usize];
    for [build, _] in &left.pages {
        let mut of_thread: Vec<Vec<&Vec<Found>>> = vec![Vec::new(); all.len()];
        for page in build.iter().filter(|page| !page.is_empty()) {
            of_thread[page[0].partition as usize].push(page);
        }
        for (all, pages) in all.iter_mut().zip(of_thread) {
            for pages in pages.chunks(workload.pages_per_filter() as usize) {
                let keys = pages.iter().copied().flatten().map(|found| found.key);
                all.push(keys.collect::<BTreeSet<u32>>());
            }
        }
    }
    all
}

/// Tuples are in their partitions, those of the build relation and those that may have matches; whoever has one is told where.
pub(super) fn check(workload: &PartitionWorkload, left: &Left) {
    let relation = |number: usize| {
        let pages = left.pages.iter().flat_map(move |sides| &sides[number]);
        pages.flatten()
    };
    for found in relation(0).chain(relation(1)) {
        assert_eq!(found.partition, found.code % workload.partitions);
    }
    let build = Tuples::new(workload, Input::Build);
    let probe = Tuples::new(workload, Input::Probe);
    let expected: BTreeSet<(u32, u32, Vec<u32>)> = (0..workload.tuples)
        .map(|number| {
            let tuple = build.at(number);
            (number as u32, tuple.key, contents(workload, tuple))
        })
        .collect();
    let found = relation(0).map(|one| (one.number, one.key, one.all.clone()));
    let partitioned: Vec<(u32, u32, Vec<u32>)> = found.collect();
    assert_eq!(partitioned.len(), expected.len(), "each once");
    assert_eq!(partitioned.into_iter().collect::<BTreeSet<_>>(), expected);
    let keys: BTreeSet<u32> = expected.iter().map(|(_, key, _)| *key).collect();

    let survivors: BTreeMap<u32, &Found> = relation(1).map(|one| (one.number, one)).collect();
    assert_eq!(survivors.len(), relation(1).count(), "each once");
    let dropped = left.outcome.metrics["dropped"];
    assert_eq!(survivors.len() as u64 + dropped, workload.probe_tuples);
    let subs = sub_partitions(workload, left);
    let mut ids_in_all = 0;
    for number in 0..workload.probe_tuples {
        let tuple = probe.at(number);
        let Some(survivor) = survivors.get(&(number as u32)) else {
            assert!(!keys.contains(&tuple.key), "{number} has a match");
            continue;
        };
        assert_eq!((survivor.key, survivor.code), (tuple.key, tuple.code));
        assert_eq!(survivor.all, contents(workload, tuple));
        let ids: BTreeSet<u8> = survivor.ids.iter().copied().collect();
        assert_eq!(ids.len(), survivor.ids.len());
        ids_in_all += ids.len() as u64;
        if workload.filter == Filtering::Multiple {
            let subs = &subs[survivor.partition as usize];
            assert!(!ids.is_empty() && ids.iter().all(|&id| usize::from(id) < subs.len()));
            for (id, keys) in (0..).zip(subs) {
                assert!(ids.contains(&id) || !keys.contains(&tuple.key));
            }
        }
    }
    assert_eq!(left.outcome.metrics["ids"], ids_in_all);
    if workload.filter == Filtering::Multiple {
        let filters: usize = subs.iter().map(Vec::len).sum();
        assert_eq!(left.outcome.metrics["filters"], filters as u64);
    }
}

fn workloads() -> impl Strategy<Value = PartitionWorkload> {
    let algorithms = [
        PassAlgorithm::Grace,
        PassAlgorithm::Simple,
        PassAlgorithm::Group,
        PassAlgorithm::Pipelined,
    ];
    let layouts = [FilterLayout::Horizontal, FilterLayout::Vertical];
    (
        (
            prop::sample::select(algorithms.to_vec()),
            prop::sample::select(Filtering::BUILT.to_vec()),
            prop::sample::select(layouts.to_vec()),
        ),
        (0..1200_u64, 0..1500_u64, 0.0..1.0_f64, 0.001..0.4_f64),
        prop_oneof![fixed_lengths(&[20, 100, 140]), uniform_lengths()],
        (
            prop::sample::select(vec![1, 2, 7, 25]),
            prop::sample::select(vec![1, 2, 7]),
        ),
        (
            prop::sample::select(vec![4096, 9000, 20_000]),
            1..70_u32,
            1..12_u32,
            0..100_u64,
        ),
        (orders(), prop::sample::select(vec![1, 2, 50])),
    )
        .prop_map(
            |(
                (algorithm, filter, filter_layout),
                sizes,
                lengths,
                (partitions, threads),
                more,
                ((order, displaced, order_buffer_pages), duplicates),
            )| {
                PartitionWorkload {
                    order,
                    displaced,
                    order_buffer_pages,
                    duplicates,
                    algorithm,
                    filter,
                    filter_layout,
                    tuples: sizes.0,
                    probe_tuples: sizes.1,
                    match_share: sizes.2,
                    false_positive_rate: sizes.3,
                    tuple_lengths: lengths.0,
                    shortest_tuple_bytes: lengths.1,
                    tuple_bytes: lengths.2,
                    partitions,
                    threads,
                    cache_bytes: more.0,
                    page_bytes: 4096,
                    group_size: more.1,
                    prefetch_distance: more.2,
                    seed: more.3,
                    ..PartitionWorkload::default()
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn who_has_a_match_is_found_where_it_is(workload in workloads()) {
        check(&workload, &run(&workload));
    }
}

/// A page has room for a tuple with few ids and none for the one before it with many, which waits for the page: nobody is to pass it.
#[test]
fn who_waits_for_a_page_is_not_passed_by_shorter_slots() {
    for seed in 0..30 {
        let workload = PartitionWorkload {
            algorithm: PassAlgorithm::Pipelined,
            prefetch_distance: 2,
            filter: Filtering::Multiple,
            tuples: 948,
            probe_tuples: 1078,
            partitions: 1,
            false_positive_rate: 0.03,
            cache_bytes: 4096,
            tuple_bytes: 20,
            page_bytes: 4096,
            seed,
            ..PartitionWorkload::default()
        };
        check(&workload, &run(&workload));
    }
}

/// Pages that are used again hold the same tuples as new ones.
#[test]
fn reused_pages_hold_the_same() {
    for filter in Filtering::BUILT {
        let fresh = PartitionWorkload {
            filter,
            algorithm: PassAlgorithm::Group,
            match_share: 0.5,
            threads: 2,
            cache_bytes: 20_000,
            ..PartitionWorkload::default()
        };
        let reused = PartitionWorkload {
            output: OutputPages::Reused,
            ..fresh.clone()
        };
        let [fresh, reused] = [fresh, reused].map(|workload| {
            let kernel = Arc::new(PartitionRun::new(&workload));
            let mut threads = begin(&kernel, workload.threads);
            take_turns(&mut threads, None, |_, _| Ok(())).expect("all come to every barrier");
            outcome(threads)
        });
        assert_eq!(fresh, reused);
        assert!(fresh.metrics["dropped"] > 5000);
    }
}

/// The kernel can be run again, and does the same: nothing is left of the first run.
#[test]
fn another_run_is_the_same() {
    for filter in Filtering::BUILT {
        let workload = PartitionWorkload {
            filter,
            threads: 3,
            match_share: 0.3,
            ..PartitionWorkload::default()
        };
        let kernel = Arc::new(PartitionRun::new(&workload));
        let [first, second] = [(), ()].map(|()| {
            let mut threads = begin(&kernel, workload.threads);
            let mut events: Vec<Event> = Vec::new();
            take_turns(&mut threads, None, |_, part| events.consume(part)).expect("all meet");
            events
        });
        assert!(first == second);
    }
}

/// Each filter takes as many keys for its own as equation 5.2 says of its bits and keys.
#[test]
fn ids_that_are_wrong_are_as_many_as_asked() {
    let workload = PartitionWorkload {
        filter: Filtering::Multiple,
        tuples: 20_000,
        probe_tuples: 60_000,
        match_share: 0.5,
        false_positive_rate: 0.02,
        partitions: 3,
        cache_bytes: 1 << 17,
        ..PartitionWorkload::default()
    };
    let left = run(&workload);
    check(&workload, &left);
    let subs = sub_partitions(&workload, &left);
    let bits = f64::from(workload.filter_bits());
    let rate = |keys: &BTreeSet<u32>| (1.0 - (-3.0 * keys.len() as f64 / bits).exp()).powi(3);
    let tested = workload.probe_tuples as f64 / f64::from(workload.partitions);
    let expected: f64 = subs.iter().flatten().map(|keys| tested * rate(keys)).sum();
    // Every probe tuple with a match has one right id.
    let found = left.outcome.metrics["ids"] as f64 - 0.5 * workload.probe_tuples as f64;
    assert!(subs.iter().all(|subs| subs.len() > 5));
    assert!(
        (found - expected).abs() < 4.0 * expected.sqrt() + 0.03 * expected,
        "{found} wrong ids, {expected} expected"
    );
}

/// What a tuple's test reads was prefetched, and is three rows or words.
#[test]
fn bits_are_prefetched_before_they_are_tested() {
    for (filter, filter_layout) in [
        (Filtering::Single, FilterLayout::Vertical),
        (Filtering::Multiple, FilterLayout::Vertical),
        (Filtering::Multiple, FilterLayout::Horizontal),
    ] {
        for algorithm in [PassAlgorithm::Group, PassAlgorithm::Pipelined] {
            let workload = PartitionWorkload {
                algorithm,
                filter,
                filter_layout,
                partitions: 2,
                cache_bytes: 1 << 17,
                ..PartitionWorkload::default()
            };
            let Left {
                events, outcome, ..
            } = run(&workload);
            let at = |kind: Kind, site: filter::Site| {
                let site = u16::from(site);
                let events = events.iter();
                events
                    .filter(move |event| event.kind == kind && event.site == site)
                    .map(|event| event.address / 64)
            };
            let read = at(Kind::Load, filter::Site::TestRead);
            let asked: BTreeSet<u64> = at(Kind::Prefetch, filter::Site::TestPrefetch).collect();
            assert!(read.clone().all(|line| asked.contains(&line)));
            let filters = match filter_layout {
                FilterLayout::Horizontal => outcome.metrics["filters"] / 2,
                FilterLayout::Vertical => 1,
            };
            // Every partition has as many filters.
            assert_eq!(read.count() as u64, 3 * filters * workload.probe_tuples);
            let set = at(Kind::Load, filter::Site::FilterWord);
            let asked: BTreeSet<u64> = at(Kind::Prefetch, filter::Site::FilterPrefetch).collect();
            assert!(set.clone().all(|line| asked.contains(&line)));
            assert_eq!(set.count() as u64, 3 * workload.tuples);
        }
    }
}

/// Where a count lies is known when the row of filters has been read.
#[test]
fn counts_wait_for_the_ids_of_sub_partitions() {
    let workload = PartitionWorkload {
        filter: Filtering::Multiple,
        tuples: 2000,
        probe_tuples: 4000,
        partitions: 3,
        cache_bytes: 1 << 15,
        ..PartitionWorkload::default()
    };
    let left = run(&workload);
    let after = left.events.iter().position(|event| {
        event.kind == Kind::Load && event.site == u16::from(filter::Site::TestRead)
    });
    let counted: Vec<&Event> = left.events[after.expect("filters are tested")..]
        .iter()
        .filter(|event| event.kind == Kind::Load && event.site == u16::from(filter::Site::Counted))
        .collect();
    let waiting = counted.iter().filter(|event| event.dep > 0).count();
    // Those that are added up at the end lie where everybody knows.
    assert!(
        counted.len() > 1000 && waiting * 10 > counted.len() * 9,
        "{waiting} of {}",
        counted.len()
    );
}
