//! Partitioning of tuples whose lengths differ.

use super::run::PartitionRun;
use super::spec::Input;
use super::tests::{ALGORITHMS, events, found, oracle, run, touched_and_missed};
use super::tuples::Tuples;
use super::{Filtering, PartitionWorkload};
use crate::join::algorithm::{OutputPages, PassAlgorithm};
use crate::join::lengths::TupleLengths;
use crate::join::sites::Site;
use crate::join::tuple::Source;
use std::collections::HashSet;
use traces::Kind;

fn uneven(algorithm: PassAlgorithm) -> PartitionWorkload {
    PartitionWorkload {
        algorithm,
        tuple_lengths: TupleLengths::Uniform,
        tuple_bytes: 140,
        ..PartitionWorkload::default()
    }
}

/// Few, none, one partition, and pages that hold three tuples or many, so that short ones would find room where a long one waits.
#[test]
fn extremes_are_partitioned_by_every_algorithm() {
    for algorithm in ALGORITHMS {
        for (tuples, partitions, threads, shortest_tuple_bytes, tuple_bytes) in [
            (0, 25, 2, 20, 140),
            (3, 25, 7, 20, 140),
            (3000, 1, 1, 20, 140),
            (3000, 1, 1, 12, 1024),
            (3000, 2, 7, 12, 1024),
            (3000, 3, 2, 20, 20),
        ] {
            for (prefetch_distance, output) in [(1, OutputPages::Fresh), (9, OutputPages::Reused)] {
                let workload = PartitionWorkload {
                    tuples,
                    partitions,
                    threads,
                    shortest_tuple_bytes,
                    tuple_bytes,
                    prefetch_distance,
                    output,
                    page_bytes: 4096,
                    ..uneven(algorithm)
                };
                let found = found(&run(&workload));
                assert_eq!(found, oracle(&workload), "{workload:?}");
            }
        }
    }
}

/// Who finds its page full of tuples that are still to be copied waits, and shorter ones do not go before it in a pipeline.
#[test]
fn tuples_wait_for_pages() {
    let workload = PartitionWorkload {
        tuples: 1000,
        shortest_tuple_bytes: 12,
        tuple_bytes: 1024,
        page_bytes: 4096,
        partitions: 1,
        prefetch_distance: 9,
        ..uneven(PassAlgorithm::Pipelined)
    };
    let (events, outcome) = events(&workload);
    assert_eq!(found(&outcome), oracle(&workload));
    let site = Site::BufferHeld as u16;
    let waits = events
        .iter()
        .filter(|event| event.kind == Kind::Branch && event.site == site && event.address == 1);
    assert!(waits.count() > 300);
}

/// Slots have said how long tuples are: tuples are not asked, unless they were kept back by whoever looks for those out of order.
#[test]
fn lengths_are_read_where_slots_have_not_told_them() {
    for (order_buffer_pages, told) in [(0, false), (3, true)] {
        let workload = PartitionWorkload {
            order_buffer_pages,
            tuples: 2000,
            ..uneven(PassAlgorithm::Group)
        };
        let (events, _) = events(&workload);
        let of = |site: Site| {
            let site = site as u16;
            events
                .iter()
                .filter(move |event| event.kind == Kind::Load && event.site == site)
        };
        let keys: HashSet<u64> = of(Site::InputKey).map(|event| event.address).collect();
        let lengths = of(Site::InputCopy)
            .filter(|event| event.size == 4 && keys.contains(&(event.address - 4)))
            .count();
        assert_eq!(lengths > 0, told, "{lengths}");
    }
}

/// Every page but a partition's last is so full that the longest tuple might not fit.
#[test]
fn output_pages_are_full() {
    for algorithm in ALGORITHMS {
        let run = PartitionRun::new(&uneven(algorithm));
        let mut sides = run.sides(0);
        run.partition(0, &mut crate::tracer::Untraced, &mut sides);
        let pages = sides[0].buffers.all();
        let bytes = |page: &Vec<crate::join::buffers::Found>| -> u32 {
            page.iter().map(|one| 4 * one.all.len() as u32 + 8).sum()
        };
        let ends = pages.len() - 25;
        let room = 8192 - 32;
        let full = pages.iter().filter(|page| bytes(page) + 148 > room).count();
        assert!(pages.iter().all(|page| bytes(page) <= room));
        assert!(full >= ends, "{algorithm:?}: {full} of {}", pages.len());
        // 10,000 tuples of 88 bytes with their slots.
        let least = 880_000 / room as usize;
        assert!(pages.len() < least + 40, "{}", pages.len());
    }
}

/// Of output pages, every line that is written was asked for, and of the input, too.
#[test]
fn pages_are_prefetched() {
    for algorithm in [PassAlgorithm::Group, PassAlgorithm::Pipelined] {
        let workload = PartitionWorkload {
            partitions: 200,
            ..uneven(algorithm)
        };
        let (touched, missed) = touched_and_missed(&workload, "output buffers");
        assert!(touched > 100_000, "{touched}");
        // New pages are given headers at once, and those of the last ones are read at the end.
        let pages = 200 + 10_000 / 80;
        assert!(missed < pages + 200, "{algorithm:?}: {missed}");
        let (touched, missed) = touched_and_missed(&workload, "input");
        assert!(
            touched > 80_000 && missed <= 10_000 / 90 + 3,
            "{algorithm:?}: {missed} of {touched}"
        );
    }
}

/// Lengths belong to tuples: threads that share a relation see the tuples that one sees.
#[test]
fn threads_partition_the_same_tuples() {
    let one = uneven(PassAlgorithm::Grace);
    for threads in [1, 2, 7] {
        let several = PartitionWorkload {
            threads,
            ..one.clone()
        };
        assert_eq!(found(&run(&several)), oracle(&one));
    }
    let tuples = Tuples::new(&one, Input::Build);
    assert_eq!(tuples.part(5..9).bytes(1), tuples.bytes(6));
}

/// With filters, build slots have no lengths and probe slots lists instead.
#[test]
fn filters_do_not_mind_lengths() {
    for filter in Filtering::BUILT {
        let workload = PartitionWorkload {
            filter,
            match_share: 0.5,
            cache_bytes: 20_000,
            threads: 2,
            ..uneven(PassAlgorithm::Pipelined)
        };
        super::filter_tests::check(&workload, &super::filter_tests::run(&workload));
    }
}
