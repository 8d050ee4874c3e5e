//! Every algorithm against a join by a dictionary.

use super::run::JoinRun;
use super::sites;
use super::tuples::{Side, Tuples};
use super::{JoinAlgorithm, JoinWorkload, MatchedKeys};
use crate::family::{Family, Kernel};
use crate::join::algorithm::OutputPages;
use crate::join::copy::of_words;
use crate::join::lengths::TupleLengths;
use crate::join::lengths::tests::{fixed_lengths, uniform_lengths};
use crate::join::nearly_sorted::TupleOrder;
use crate::join::sites::Site;
use crate::join::tuple::{Source, Tuple};
use crate::outcome::{Checksum, Outcome};
use crate::threads::{begin, outcome, take_turns};
use crate::tracer::Untraced;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use traces::{Event, EventSink, Kind, Segment};

pub(super) const ALGORITHMS: [JoinAlgorithm; 9] = [
    JoinAlgorithm::Grace,
    JoinAlgorithm::Simple,
    JoinAlgorithm::Group,
    JoinAlgorithm::Pipelined,
    JoinAlgorithm::CachePartitioning,
    JoinAlgorithm::EnhancedCachePartitioning,
    JoinAlgorithm::Inspector,
    JoinAlgorithm::ChoosingInspector,
    JoinAlgorithm::SortMerge,
];

/// What a dictionary finds: how many pairs, and which.
pub(super) fn oracle(workload: &JoinWorkload) -> (u64, u64) {
    let tuples = |side| {
        (0..workload.partitions).flat_map(move |partition| {
            let tuples = Tuples::new(workload, partition, side);
            (0..tuples.count())
                .map(|number| tuples.at(number))
                .collect::<Vec<Tuple>>()
        })
    };
    let mut dictionary: HashMap<u32, Vec<Tuple>> = HashMap::new();
    for tuple in tuples(Side::Build) {
        dictionary.entry(tuple.key).or_default().push(tuple);
    }
    let (mut pairs, mut checksum) = (0, Checksum::default());
    for probe in tuples(Side::Probe) {
        for build in dictionary.get(&probe.key).into_iter().flatten() {
            pairs += 1;
            // If lengths differ, all words count.
            checksum.add(match workload.tuple_lengths {
                TupleLengths::Fixed => {
                    let words = [build.key, build.number, probe.key, probe.number];
                    of_words(words.map(u64::from))
                }
                TupleLengths::Uniform => {
                    of_words(build.words().chain(probe.words()).map(u64::from))
                }
            });
        }
    }
    (pairs, checksum.value())
}

pub(super) fn found(outcome: &Outcome) -> (u64, u64) {
    (outcome.metrics["returned"], outcome.metrics["checksum"])
}

/// Runs all threads, each up to its end.
pub(super) fn run(workload: &JoinWorkload) -> Outcome {
    workload.validate().expect("it can run");
    let run = JoinRun::new(workload);
    let threads = 0..workload.threads;
    let outcomes = threads.map(|thread| run.run(thread, &mut Untraced));
    outcomes.fold(Outcome::default(), Outcome::and)
}

fn joins() -> impl Strategy<Value = JoinWorkload> {
    (
        prop::sample::select(ALGORITHMS.to_vec()),
        (
            0..600_u64,
            0..900_u64,
            prop_oneof![fixed_lengths(&[8, 20, 100, 140]), uniform_lengths()],
        ),
        (
            prop::sample::select(vec![1, 2, 3, 50, 1000]),
            0.0..=1.0,
            any::<bool>(),
            prop::sample::select(vec![0.0, 0.001, 0.05, 0.5, 1.0]),
            1..6_u32,
            prop::option::of(prop::sample::select(vec![0.0, 0.05, 0.5, 1.0])),
            prop::sample::select(vec![0.0, 0.5, 1.0, 2.0]),
        ),
        (1..30_u32, 1..20_u32, (0..9_u32, 0..9_u32), 4096..40_000_u32),
        (
            any::<bool>(),
            1..5_u32,
            prop::sample::select(vec![1, 2, 7]),
            0..100_u64,
        ),
    )
        .prop_map(
            |(algorithm, sizes, matches, ahead, (reused, partitions, threads, seed))| {
                JoinWorkload {
                    algorithm,
                    build_tuples: sizes.0,
                    probe_tuples: sizes.1,
                    tuple_lengths: sizes.2.0,
                    shortest_tuple_bytes: sizes.2.1,
                    tuple_bytes: sizes.2.2,
                    duplicates: matches.0,
                    match_share: matches.1,
                    matched_keys: if matches.2 {
                        MatchedKeys::All
                    } else {
                        MatchedKeys::Share
                    },
                    false_positives: matches.3,
                    switch_at: matches.4,
                    order: if matches.5.is_some() {
                        TupleOrder::NearlySorted
                    } else {
                        TupleOrder::Random
                    },
                    displaced: matches.5.unwrap_or(0.0),
                    skew: matches.6,
                    group_size: ahead.0,
                    prefetch_distance: ahead.1,
                    page_ahead: ahead.2.0,
                    output_ahead: ahead.2.1,
                    cache_bytes: ahead.3,
                    output: if reused {
                        OutputPages::Reused
                    } else {
                        OutputPages::Fresh
                    },
                    partitions: partitions.max(threads),
                    threads,
                    seed,
                    ..JoinWorkload::default()
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn every_algorithm_finds_what_a_dictionary_finds(workload in joins()) {
        prop_assert_eq!(found(&run(&workload)), oracle(&workload));
    }
}

/// All build tuples have one key, so each but the first finds its bucket busy.
#[test]
fn tuples_wait_for_busy_buckets() {
    for algorithm in ALGORITHMS {
        let workload = JoinWorkload {
            algorithm,
            build_tuples: 100,
            probe_tuples: 30,
            duplicates: 100,
            prefetch_distance: 5,
            ..JoinWorkload::default()
        };
        let found = found(&run(&workload));
        assert_eq!((found.0, found), (3000, oracle(&workload)), "{algorithm:?}");
    }
}

/// The events of all threads.
pub(super) fn events(workload: &JoinWorkload) -> (Vec<Event>, Outcome) {
    let run = Arc::new(JoinRun::new(workload));
    let mut threads = begin(&run, workload.threads);
    let mut events: Vec<Event> = Vec::new();
    take_turns(&mut threads, None, |_, part| events.consume(part))
        .expect("all come to every barrier");
    (events, outcome(threads))
}

#[test]
fn threads_find_together_what_one_finds() {
    for algorithm in [
        JoinAlgorithm::Group,
        JoinAlgorithm::CachePartitioning,
        JoinAlgorithm::EnhancedCachePartitioning,
        JoinAlgorithm::Inspector,
        JoinAlgorithm::ChoosingInspector,
        JoinAlgorithm::SortMerge,
    ] {
        let one = JoinWorkload {
            algorithm,
            partitions: 7,
            build_tuples: 3000,
            probe_tuples: 5000,
            cache_bytes: 10_000,
            ..JoinWorkload::default()
        };
        for threads in [1, 2, 7] {
            let several = JoinWorkload {
                threads,
                ..one.clone()
            };
            let (events, outcome) = events(&several);
            assert_eq!(found(&outcome), oracle(&one), "{threads} threads");
            let barriers = events.iter().filter(|event| event.kind == Kind::Barrier);
            assert_eq!(barriers.count(), threads as usize);
        }
    }
}

/// No bucket, cell or build tuple is visited that was not asked for, by this tuple or another one of about the same time.
#[test]
fn visits_are_prefetched() {
    // More than a group of 25 takes between two stages, and far less than pass between two visits to a bucket.
    const RECENT: usize = 3000;
    for algorithm in [JoinAlgorithm::Group, JoinAlgorithm::Pipelined] {
        let workload = JoinWorkload {
            algorithm,
            ..JoinWorkload::default()
        };
        let segments = JoinRun::new(&workload).layout().segments;
        let (events, _) = events(&workload);
        let mut phase = 0;
        let mut asked = HashMap::new();
        let (mut visited, mut missed) = ([0; 3], [0; 3]);
        for (now, event) in events.iter().enumerate() {
            let line = event.address / 64;
            match event.kind {
                Kind::Mark => {
                    phase = event.address as usize;
                    asked.clear();
                }
                Kind::Prefetch => drop(asked.insert(line, now)),
                Kind::Load | Kind::Store => {
                    let holds =
                        |segment: &&Segment| event.address < segment.base + segment.size_bytes;
                    let segment = segments.iter().find(holds).expect("it is in one");
                    // Of build tuples, building reads the slots, which pages' prefetches are for.
                    let visits = ["bucket headers", "cell arrays"].contains(&segment.name.as_str())
                        || phase == 2 && segment.name == "build tuples";
                    visited[phase] += u32::from(visits);
                    let recently = asked.get(&line).is_some_and(|&then| now - then < RECENT);
                    missed[phase] += u32::from(visits && !recently);
                }
                _ => {}
            }
        }
        assert!(visited[1] > 20_000 && visited[2] > 50_000, "{visited:?}");
        // A tuple that waited for its bucket is inserted without prefetches, and may need a new array.
        assert!(
            missed[1] < 10 && missed[2] == 0,
            "{algorithm:?}: {missed:?}"
        );
    }
}

/// Inserting reads slots, and entire input pages are prefetched, tuples included: once each, but for the line of the header.
#[test]
fn building_prefetches_entire_pages() {
    for algorithm in [
        JoinAlgorithm::Simple,
        JoinAlgorithm::Group,
        JoinAlgorithm::Pipelined,
    ] {
        let workload = JoinWorkload {
            algorithm,
            ..JoinWorkload::default()
        };
        let run = JoinRun::new(&workload);
        let segments = run.layout().segments;
        let build = segments.iter().find(|one| one.name == "build tuples");
        let build = build.expect("there is one");
        let (events, _) = events(&workload);
        let site = Site::PagePrefetch as u16;
        let own = events.iter().filter(|event| {
            event.site == site
                && (build.base..build.base + build.size_bytes).contains(&event.address)
        });
        let lines: Vec<u64> = own.map(|event| event.address / 64).collect();
        let distinct: HashSet<u64> = lines.iter().copied().collect();
        assert_eq!(lines.len(), distinct.len(), "{algorithm:?}");
        // 76 tuples of a page end in its line 119, and their slots begin in line 120.
        let pages = 10_000 / 76;
        assert!(
            (127 * pages..128 * (pages + 1)).contains(&lines.len()),
            "{}",
            lines.len()
        );
    }
}

#[test]
fn an_algorithm_that_does_not_prefetch_has_no_prefetches() {
    let (events, _) = events(&JoinWorkload::default());
    assert!(events.iter().all(|event| event.kind != Kind::Prefetch));
}

/// A partition is copied once, hash codes are read from slots, and no sub-partition is built before all tuples have been copied.
#[test]
fn cache_partitioning_copies_every_tuple_once_and_joins_small_tables() {
    let workload = JoinWorkload {
        algorithm: JoinAlgorithm::CachePartitioning,
        cache_bytes: 100_000,
        partitions: 3,
        ..JoinWorkload::default()
    };
    let layout = JoinRun::new(&workload).layout();
    assert_eq!(layout.phases, ["start", "re-partition", "build", "probe"]);
    let (events, _) = events(&workload);
    let of = |site: Site| {
        let number = site as u16;
        events.iter().filter(move |event| event.site == number)
    };
    assert_eq!(
        of(Site::BufferSlot).count(),
        2 * 30_000,
        "a hash code and a place each"
    );
    assert_eq!(of(Site::PartitionNumber).count(), 30_000);
    assert_eq!(of(Site::InputKey).count(), 0, "nobody hashes a key");
    let marks: Vec<u64> = events
        .iter()
        .filter(|event| event.kind == Kind::Mark)
        .map(|event| event.address)
        .collect();
    let pair = [2, 3].repeat(workload.sub_partitions() as usize);
    let partition = [&[1], &pair[..]].concat();
    assert_eq!(marks, [&[0], &partition.repeat(3)[..]].concat());
}

/// What a sub-partition's build tuples and table take is visited again and again, and it is as little as asked.
#[test]
fn what_is_probed_fits_into_the_cache() {
    let workload = JoinWorkload {
        algorithm: JoinAlgorithm::CachePartitioning,
        cache_bytes: 100_000,
        ..JoinWorkload::default()
    };
    let segments = JoinRun::new(&workload).layout().segments;
    let (events, _) = events(&workload);
    let mut parts: Vec<HashSet<u64>> = Vec::new();
    let mut probes = false;
    for event in &events {
        match event.kind {
            Kind::Mark => {
                probes = event.address == 3;
                if probes {
                    parts.push(HashSet::new());
                }
            }
            Kind::Load if probes => {
                let holds = |segment: &&Segment| event.address < segment.base + segment.size_bytes;
                let segment = segments.iter().find(holds).expect("it is in one");
                let of_build = [Site::BuildKey, Site::BuildCopy].map(|site| site as u16);
                let table = ["bucket headers", "cell arrays"].contains(&segment.name.as_str());
                if table || of_build.contains(&event.site) {
                    parts
                        .last_mut()
                        .expect("one has begun")
                        .insert(event.address / 64);
                }
            }
            _ => {}
        }
    }
    assert_eq!(parts.len(), workload.sub_partitions() as usize);
    for lines in parts {
        let bytes = lines.len() * 64;
        assert!((60_000..110_000).contains(&bytes), "{bytes}");
    }
}

#[test]
fn sub_partitions_that_are_too_many_are_refused() {
    let workload = JoinWorkload {
        algorithm: JoinAlgorithm::CachePartitioning,
        build_tuples: 1_000_000,
        cache_bytes: 4096,
        ..JoinWorkload::default()
    };
    let error = workload
        .validate()
        .expect_err("a page of each is in memory");
    assert!(error.to_string().contains("cache_bytes"), "{error}");
    let enough = JoinWorkload {
        partitions: 4,
        ..workload
    };
    enough.validate().expect("fewer of each partition");
}

/// Inputs of 12,000 bytes of tuples in a sub-partition.
pub(super) fn inspected() -> JoinWorkload {
    JoinWorkload {
        algorithm: JoinAlgorithm::Inspector,
        build_tuples: 3000,
        probe_tuples: 12_000,
        match_share: 0.5,
        matched_keys: MatchedKeys::All,
        false_positives: 0.01,
        cache_bytes: 50_000,
        ..JoinWorkload::default()
    }
}

/// Without a visit to a tuple, pointers are sorted; then each sub-partition is built and probed.
#[test]
fn an_inspector_sorts_pointers_and_joins_consecutive_pages() {
    let workload = inspected();
    let run = JoinRun::new(&workload);
    let layout = run.layout();
    assert_eq!(layout.phases, ["start", "extract", "build", "probe"]);
    let pages = workload.paging(0, Side::Build).pages();
    let sub_partitions = workload.stationary_sub_partitions(pages) as usize;
    assert_eq!(sub_partitions, 10, "four pages of 76 tuples each");
    let (events, _) = events(&workload);
    let segment_of = |event: &Event| {
        let holds = |segment: &&Segment| event.address < segment.base + segment.size_bytes;
        let segment = layout.segments.iter().find(holds);
        segment.expect("it is in one")
    };
    let (mut phase, mut marks) = (0, Vec::new());
    let mut probed: HashSet<u64> = HashSet::new();
    let mut parts: Vec<HashSet<u64>> = Vec::new();
    for event in &events {
        match event.kind {
            Kind::Mark => {
                phase = event.address;
                marks.push(phase);
                if phase == 2 {
                    parts.push(HashSet::new());
                }
            }
            Kind::Load | Kind::Store => {
                let segment = segment_of(event);
                let of_build = segment.name == "build tuples";
                assert!(
                    !(phase == 1 && of_build),
                    "only slots of probe tuples are read"
                );
                if of_build {
                    let page = (event.address - segment.base) / 8192;
                    parts.last_mut().expect("one has begun").insert(page);
                }
                if phase == 1 && segment.name == "probe input" {
                    let place = (event.address - segment.base) % 8192;
                    assert!(place == 0 || place > 7000, "headers and slots: {place}");
                }
                if event.site == Site::ProbeKey as u16 {
                    probed.insert(event.address);
                }
            }
            _ => {}
        }
    }
    assert_eq!(
        marks,
        [&[0, 1], &[2, 3].repeat(sub_partitions)[..]].concat()
    );
    for (number, pages) in (0..).zip(parts) {
        let mut pages: Vec<u64> = pages.into_iter().collect();
        pages.sort_unstable();
        assert!(pages.into_iter().eq((4 * number)..(4 * number + 4).min(40)));
    }
    // Of 6000 tuples without matches hardly one has another's hash code.
    assert_eq!(probed.len(), 6000, "who has no match is not visited");
}

/// What passes is as much as was asked for: all tuples with matches, and for each sub-partition some others.
#[test]
fn filters_let_few_others_pass() {
    let stored = |false_positives, duplicates| {
        let workload = JoinWorkload {
            false_positives,
            duplicates,
            ..inspected()
        };
        let (events, _) = events(&workload);
        let site = u16::from(sites::Site::ArrayStore);
        events.iter().filter(|event| event.site == site).count()
    };
    assert_eq!(stored(0.0, 1), 6000);
    assert_eq!(
        stored(1.0, 1),
        120_000,
        "no filter: all in all sub-partitions"
    );
    // 6000 tuples are in nine other sub-partitions, 6000 in ten.
    let few = stored(0.01, 1) - 6000;
    assert!((940..1340).contains(&few), "{few}");
    // A key's tuples lie in one or two sub-partitions: in 1.9 on average.
    let twice = stored(0.0, 2);
    assert!((11_200..11_600).contains(&twice), "{twice}");
    let one_filter = |false_positives| {
        let workload = JoinWorkload {
            algorithm: JoinAlgorithm::Group,
            false_positives,
            ..inspected()
        };
        Tuples::new(&workload, 0, Side::Probe).count()
    };
    assert_eq!([0.0, 0.05, 1.0].map(one_filter), [6000, 6300, 12_000]);
}

/// What is used once is prefetched so, and what is prefetched so is used.
#[test]
fn arrays_and_probe_tuples_are_prefetched_to_be_used_once() {
    for (algorithm, first_phase) in [
        (JoinAlgorithm::Inspector, 3),
        (JoinAlgorithm::EnhancedCachePartitioning, 3),
    ] {
        let workload = JoinWorkload {
            algorithm,
            prefetch_distance: 4,
            ..inspected()
        };
        let (events, _) = events(&workload);
        let (mut phase, mut asked) = (0, HashSet::new());
        let (mut used, mut missed) = (0, 0);
        for event in &events {
            let line = event.address / 64;
            match event.kind {
                Kind::Mark => phase = event.address,
                Kind::PrefetchNta => {
                    assert_eq!(phase, first_phase, "{algorithm:?}");
                    asked.insert(line);
                }
                Kind::Load => {
                    let once = [
                        Site::ProbeKey as u16,
                        Site::ProbeCopy as u16,
                        sites::Site::ArrayEntry.into(),
                    ];
                    used += u32::from(once.contains(&event.site));
                    missed += u32::from(once.contains(&event.site) && !asked.contains(&line));
                }
                _ => {}
            }
        }
        assert!(used > 40_000, "{used}");
        assert_eq!(missed, 0, "{algorithm:?}");
    }
}

#[test]
fn sub_partitions_that_no_byte_can_tell_are_refused() {
    let workload = JoinWorkload {
        algorithm: JoinAlgorithm::Inspector,
        build_tuples: 100_000,
        cache_bytes: 4096,
        ..JoinWorkload::default()
    };
    let error = workload.validate().expect_err("1316 pages, one each");
    assert!(error.to_string().contains("cache_bytes"), "{error}");
}

/// With as many sub-partitions on average as asked, an inspector that chooses does what enhanced cache partitioning does, and with fewer
/// what an inspector does.
#[test]
fn duplicates_are_partitioned_again() {
    let phases = |duplicates, switch_at| {
        let workload = JoinWorkload {
            algorithm: JoinAlgorithm::ChoosingInspector,
            duplicates,
            switch_at,
            false_positives: 0.0,
            ..inspected()
        };
        let layout = JoinRun::new(&workload).layout();
        let all = ["start", "re-partition", "extract", "build", "probe"];
        assert_eq!(layout.phases, all);
        let (events, outcome) = events(&workload);
        assert_eq!(found(&outcome), oracle(&workload));
        let marks = events.iter().filter(|event| event.kind == Kind::Mark);
        let marks: HashSet<u64> = marks.map(|event| event.address).collect();
        (marks.contains(&1), marks.contains(&2))
    };
    let (again, in_place) = ((true, false), (false, true));
    // Tuples of a key lie in 1, 1.9 and 5.7 of ten sub-partitions.
    assert_eq!(phases(1, 2), in_place);
    assert_eq!(phases(1, 1), again);
    assert_eq!(phases(2, 2), in_place);
    assert_eq!(phases(8, 5), again);
    assert_eq!(phases(8, 6), in_place);
}
