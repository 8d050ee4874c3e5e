//! Tuples of 8 bytes beside those of 16.

use super::{found, larger, run};
use crate::family::{Family, Kernel};
use crate::parallel_join::{Algorithm, KeptRelations, Keys, ParallelJoinWorkload};
use std::collections::{BTreeMap, BTreeSet};

/// Tuples of half the bytes: half the lines of inputs and partitions, and two buckets to a line.
#[test]
fn what_is_moved_of_tuples_of_8_bytes_is_half_of_that_of_16() {
    for (algorithm, write_combining) in [
        (Algorithm::NoPartitioning, false),
        (Algorithm::Radix, false),
        (Algorithm::Radix, true),
    ] {
        let [small, large] = [8, 16].map(|tuple_bytes| {
            let workload = ParallelJoinWorkload {
                algorithm,
                tuple_bytes,
                write_combining,
                keys: Keys::Dense,
                build_tuples: 1 << 13,
                probe_tuples: 1 << 14,
                ..larger::<u64>()
            };
            moved(&workload)
        });
        assert_eq!(
            small.keys().collect::<Vec<_>>(),
            large.keys().collect::<Vec<_>>()
        );
        let ratio = |names: &[&str], of: fn(&Moved) -> u64| {
            let sum = |all: &BTreeMap<String, Moved>| -> u64 {
                names.iter().map(|&name| of(&all[name])).sum()
            };
            sum(&large) as f64 / sum(&small) as f64
        };
        let inputs = ["build input", "probe input"];
        assert_eq!(ratio(&inputs, |moved| moved.bytes), 2.0);
        assert_eq!(ratio(&inputs, |moved| moved.lines.len() as u64), 2.0);
        if algorithm == Algorithm::NoPartitioning {
            // Dense keys fill each bucket: 2^12 of them.
            assert_eq!(small["buckets"].lines.len(), 1 << 11);
            assert_eq!(large["buckets"].lines.len(), 1 << 12);
        } else {
            let partitions = ["build partitions", "probe partitions"];
            assert_eq!(ratio(&partitions, |moved| moved.bytes), 2.0);
            // Where partitions begin and end, a line may have few tuples.
            let lines = ratio(&partitions, |moved| moved.lines.len() as u64);
            assert!((lines - 2.0).abs() < 0.15, "{lines}");
        }
    }
}

/// The bytes of a segment that are loaded and stored, and the lines that are touched.
#[derive(Debug, Default)]
struct Moved {
    bytes: u64,
    lines: BTreeSet<u64>,
}

/// What a workload moves of its segments.
fn moved(workload: &ParallelJoinWorkload) -> BTreeMap<String, Moved> {
    let join = workload.prepare(&mut KeptRelations::default()).unwrap();
    let segments = join.layout().segments;
    let mut all: BTreeMap<_, _> = segments
        .iter()
        .map(|segment| (segment.name.clone(), Moved::default()))
        .collect();
    for event in run(&join, workload.threads).0.concat() {
        if !event.kind.moves_words() {
            continue;
        }
        let segment = segments
            .iter()
            .find(|one| (one.base..one.base + one.size_bytes).contains(&event.address))
            .expect("it is in a segment");
        let moved = all.get_mut(&segment.name).expect("all segments are there");
        moved.bytes += u64::from(event.size);
        let last = event.address + u64::from(event.size) - 1;
        moved.lines.extend(event.address / 64..=last / 64);
    }
    all
}

/// Dense keys and their payloads are the same numbers whatever they take, so that joins find the same.
#[test]
fn dense_keys_of_both_sizes_find_the_same() {
    for algorithm in [Algorithm::NoPartitioning, Algorithm::Radix] {
        let [small, large] = [8, 16].map(|tuple_bytes| {
            let workload = ParallelJoinWorkload {
                algorithm,
                tuple_bytes,
                keys: Keys::Dense,
                ..larger::<u64>()
            };
            let join = workload.prepare(&mut KeptRelations::default()).unwrap();
            found(&run(&join, workload.threads).1)
        });
        assert!(small.0 > 3000);
        assert_eq!(small, large, "{algorithm:?}");
    }
}

#[test]
fn tuples_of_other_sizes_are_refused() {
    for tuple_bytes in [0, 4, 12, 32] {
        let workload = ParallelJoinWorkload {
            tuple_bytes,
            ..larger::<u64>()
        };
        let error = workload.validate().expect_err("no such tuples");
        assert_eq!(error.path, "tuple_bytes");
        let expected = format!("{tuple_bytes} bytes; it must be 8 or 16");
        assert_eq!(error.message, expected);
    }
}
