//! Every algorithm against partitions that are computed without it.

use super::PartitionWorkload;
use super::run::PartitionRun;
use super::spec::Input;
use super::tuples::Tuples;
use crate::family::{Family, Kernel};
use crate::join::algorithm::{OutputPages, PassAlgorithm};
use crate::join::copy::of_words;
use crate::join::hash::hash;
use crate::join::lengths::TupleLengths;
use crate::join::lengths::tests::{fixed_lengths, uniform_lengths};
use crate::join::nearly_sorted::TupleOrder;
use crate::join::tuple::{Source, Tuple};
use crate::outcome::{Checksum, Outcome};
use crate::threads::{begin, outcome, take_turns};
use crate::tracer::Untraced;
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use traces::{Event, EventSink, Kind, Segment};

pub(super) const ALGORITHMS: [PassAlgorithm; 4] = [
    PassAlgorithm::Grace,
    PassAlgorithm::Simple,
    PassAlgorithm::Group,
    PassAlgorithm::Pipelined,
];

/// All words of a tuple, if lengths differ.
pub(super) fn contents(workload: &PartitionWorkload, tuple: Tuple) -> Vec<u32> {
    match workload.tuple_lengths {
        TupleLengths::Fixed => Vec::new(),
        TupleLengths::Uniform => tuple.words().collect(),
    }
}

/// How many tuples there are, and what is to be found of each, and where.
pub(super) fn oracle(workload: &PartitionWorkload) -> (u64, u64) {
    let input = Tuples::new(workload, Input::Build);
    let mut checksum = Checksum::default();
    for number in 0..workload.tuples {
        let tuple = input.at(number);
        let code = hash(tuple.key);
        let words = [code % workload.partitions, code, tuple.key, number as u32];
        let all = contents(workload, tuple);
        checksum.add(of_words(words.into_iter().chain(all).map(u64::from)));
    }
    (workload.tuples, checksum.value())
}

pub(super) fn found(outcome: &Outcome) -> (u64, u64) {
    (outcome.metrics["returned"], outcome.metrics["checksum"])
}

/// Runs all threads, each up to its end.
pub(super) fn run(workload: &PartitionWorkload) -> Outcome {
    workload.validate().expect("it can run");
    let run = PartitionRun::new(workload);
    let threads = 0..workload.threads;
    let outcomes = threads.map(|thread| run.run(thread, &mut Untraced));
    outcomes.fold(Outcome::default(), Outcome::and)
}

/// How tuples follow each other, and the pages for those that are out of order.
pub(super) fn orders() -> impl Strategy<Value = (TupleOrder, f64, u32)> {
    let pages = prop::sample::select(vec![0, 1, 2, 100]);
    let displaced = prop::option::of(prop::sample::select(vec![0.0, 0.02, 0.3]));
    (displaced, pages).prop_map(|(displaced, pages)| match displaced {
        None => (TupleOrder::Random, 0.0, pages),
        Some(displaced) => (TupleOrder::NearlySorted, displaced, pages),
    })
}

fn workloads() -> impl Strategy<Value = PartitionWorkload> {
    let partitions = prop::sample::select(vec![1, 2, 3, 7, 25, 200]);
    (
        prop::sample::select(ALGORITHMS.to_vec()),
        (
            0..1500_u64,
            prop_oneof![fixed_lengths(&[20, 100, 140, 1024]), uniform_lengths()],
            prop::sample::select(vec![4096, 8192]),
        ),
        partitions,
        (1..70_u32, 1..40_u32, 0..9_u32),
        (
            any::<bool>(),
            prop::sample::select(vec![1, 2, 7]),
            0..100_u64,
        ),
        (orders(), prop::sample::select(vec![1, 2, 50])),
    )
        .prop_map(
            |(
                algorithm,
                sizes,
                partitions,
                ahead,
                (reused, threads, seed),
                ((order, displaced, order_buffer_pages), duplicates),
            )| PartitionWorkload {
                algorithm,
                order,
                displaced,
                order_buffer_pages,
                duplicates,
                tuples: sizes.0,
                tuple_lengths: sizes.1.0,
                shortest_tuple_bytes: sizes.1.1,
                tuple_bytes: sizes.1.2,
                page_bytes: sizes.2,
                partitions,
                group_size: ahead.0,
                prefetch_distance: ahead.1,
                page_ahead: ahead.2,
                output: if reused {
                    OutputPages::Reused
                } else {
                    OutputPages::Fresh
                },
                threads,
                seed,
                ..PartitionWorkload::default()
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_tuple_is_in_its_partition_once(workload in workloads()) {
        prop_assert_eq!(found(&run(&workload)), oracle(&workload));
    }
}

#[test]
fn few_tuples_or_none_are_enough() {
    for algorithm in ALGORITHMS {
        for tuples in [0, 1, 3] {
            let workload = PartitionWorkload {
                algorithm,
                tuples,
                threads: 2,
                ..PartitionWorkload::default()
            };
            let found = found(&run(&workload));
            assert_eq!(
                (found.0, found),
                (tuples, oracle(&workload)),
                "{algorithm:?}"
            );
        }
    }
}

/// All tuples go into pages that hold three, so that most find theirs full of tuples that are still to be copied.
#[test]
fn tuples_wait_for_pages_that_others_are_copied_into() {
    for algorithm in [PassAlgorithm::Group, PassAlgorithm::Pipelined] {
        for partitions in [1, 2] {
            let workload = PartitionWorkload {
                algorithm,
                tuples: 1000,
                tuple_bytes: 1024,
                page_bytes: 4096,
                partitions,
                prefetch_distance: 9,
                ..PartitionWorkload::default()
            };
            let run = PartitionRun::new(&workload);
            let held = run
                .layout()
                .sites
                .iter()
                .position(|name| name.contains("still to be copied"))
                .expect("it is a site");
            let (events, outcome) = events(&workload);
            assert_eq!(
                found(&outcome),
                oracle(&workload),
                "{algorithm:?}, {partitions}"
            );
            let waits = events.iter().filter(|event| {
                event.kind == Kind::Branch && usize::from(event.site) == held && event.address == 1
            });
            assert!(waits.count() > 500, "{algorithm:?}, {partitions}");
        }
    }
}

/// The events of all threads.
pub(super) fn events(workload: &PartitionWorkload) -> (Vec<Event>, Outcome) {
    let run = Arc::new(PartitionRun::new(workload));
    let mut threads = begin(&run, workload.threads);
    let mut events: Vec<Event> = Vec::new();
    take_turns(&mut threads, None, |_, part| events.consume(part))
        .expect("all come to every barrier");
    (events, outcome(threads))
}

#[test]
fn threads_partition_together_what_one_does() {
    let one = PartitionWorkload {
        algorithm: PassAlgorithm::Group,
        tuples: 5000,
        ..PartitionWorkload::default()
    };
    for threads in [1, 2, 7] {
        let several = PartitionWorkload {
            threads,
            ..one.clone()
        };
        let (events, outcome) = events(&several);
        assert_eq!(found(&outcome), oracle(&one), "{threads} threads");
        let barriers = events.iter().filter(|event| event.kind == Kind::Barrier);
        assert_eq!(barriers.count(), threads as usize);
    }
}

/// Accesses to a segment, and those of them to lines that nobody asked for or touched shortly before.
pub(super) fn touched_and_missed(workload: &PartitionWorkload, name: &str) -> (u32, u32) {
    // More than a group of 25 takes between two stages, and far less than pass between two visits to a page of 200.
    const RECENT: usize = 2000;
    let segments = PartitionRun::new(workload).layout().segments;
    let named = |segment: &&Segment| segment.name == name;
    let segment = segments.iter().find(named).expect("there is one");
    let inside = segment.base..segment.base + segment.size_bytes;
    let (events, _) = events(workload);
    let mut known = HashMap::new();
    let (mut touched, mut missed) = (0, 0);
    for (now, event) in events.iter().enumerate() {
        let touches = matches!(event.kind, Kind::Load | Kind::Store);
        if !(touches || event.kind == Kind::Prefetch) || !inside.contains(&event.address) {
            continue;
        }
        let last = event.address + u64::from(event.size.max(1)) - 1;
        for line in event.address / 64..=last / 64 {
            let then = known.insert(line, now);
            touched += u32::from(touches);
            missed += u32::from(touches && then.is_none_or(|then| now - then > RECENT));
        }
    }
    (touched, missed)
}

#[test]
fn output_buffers_are_prefetched() {
    for algorithm in [PassAlgorithm::Group, PassAlgorithm::Pipelined] {
        let workload = PartitionWorkload {
            algorithm,
            partitions: 200,
            ..PartitionWorkload::default()
        };
        let (touched, missed) = touched_and_missed(&workload, "output buffers");
        assert!(touched > 100_000, "{touched}");
        // New pages are given headers at once, and those of the last ones are read at the end.
        let pages = 200 + 10_000 / 75;
        assert!(missed < pages + 200, "{algorithm:?}: {missed}");
        // Headers tell how many tuples there are to be prefetched.
        let (touched, missed) = touched_and_missed(&workload, "input");
        assert!(
            touched > 80_000 && missed <= 10_000 / 78 + 1,
            "{algorithm:?}: {missed} of {touched}"
        );
    }
}

/// Simple prefetching asks for every line of a page when it is opened, and for none of them again.
#[test]
fn simple_prefetching_fetches_whole_output_pages() {
    let workload = PartitionWorkload {
        algorithm: PassAlgorithm::Simple,
        ..PartitionWorkload::default()
    };
    let run = PartitionRun::new(&workload);
    let layout = run.layout();
    let output = layout
        .segments
        .iter()
        .find(|one| one.name == "output buffers");
    let output = output.expect("there is one");
    let inside = output.base..output.base + output.size_bytes;
    let (events, _) = events(&workload);
    let mut asked: HashMap<u64, u32> = HashMap::new();
    let mut written = Vec::new();
    for event in events
        .iter()
        .filter(|event| inside.contains(&event.address))
    {
        let line = event.address / 64;
        match event.kind {
            Kind::Prefetch => *asked.entry(line).or_default() += 1,
            Kind::Store => written.push(asked.contains_key(&line)),
            _ => {}
        }
    }
    assert!(asked.values().all(|&times| times == 1));
    assert_eq!(asked.len() % (8192 / 64), 0);
    assert!(written.len() > 50_000 && written.into_iter().all(|known| known));
}

#[test]
fn an_algorithm_that_does_not_prefetch_has_no_prefetches() {
    let (events, _) = events(&PartitionWorkload::default());
    assert!(events.iter().all(|event| event.kind != Kind::Prefetch));
}
