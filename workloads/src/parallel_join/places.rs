//! Where everything lies.

use super::spec::{Algorithm, ParallelJoinWorkload};
use crate::arena::{Reservation, place};
use crate::buckets::{BUCKET_TUPLES, bucket_bytes, heads};
use traces::Segment;

/// Counters of a task: where its build and its probe tuples begin and end.
pub(super) const TASK_WORDS: usize = 4;
/// Bytes of a cache line: arrays of tuples begin with one, and none is of two threads.
pub(super) const LINE_BYTES: u64 = 64;

/// Segments of every algorithm.
pub(super) const BUILD_INPUT: usize = 0;
pub(super) const PROBE_INPUT: usize = 1;

/// Segments of a join without partitioning.
pub(super) const BUCKETS: usize = 2;
pub(super) const OVERFLOW: usize = 3;
pub(super) const FREE_BUCKET: usize = 4;

/// Segments of a radix join; those of partitions are two for each pass.
pub(super) const HISTOGRAMS: usize = 2;
pub(super) const OFFSETS: usize = 3;
pub(super) const PLACES: usize = 4;
pub(super) const BUFFERS: usize = 5;
pub(super) const TASKS: usize = 6;
pub(super) const QUEUES: usize = 7;
pub(super) const HEADS: usize = 8;
pub(super) const CHAINS: usize = 9;
pub(super) const PARTITIONS: usize = 10;

/// Room for so many lines, and at least one.
fn lines(name: &str, bytes: u64) -> Reservation {
    Reservation {
        name: name.into(),
        object_bytes: LINE_BYTES,
        objects: bytes.div_ceil(LINE_BYTES).max(1),
    }
}

/// Room for the inputs: the same whatever joins them.
pub(super) fn input_reservations(tuples: [u64; 2], tuple_bytes: u64) -> [Reservation; 2] {
    let [build, probe] = tuples.map(|tuples| tuples * tuple_bytes);
    [lines("build input", build), lines("probe input", probe)]
}

/// What is known of the build keys, from which the room follows that some structures take.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sizes {
    /// Buckets of tuples that have no room in the first bucket.
    Overflow(u64),
    /// Build tuples of the largest partition.
    LargestPartition(u64),
}

/// The addresses of a run.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) segments: Vec<Segment>,
}

impl Places {
    pub(super) fn new(workload: &ParallelJoinWorkload, sizes: Sizes) -> Self {
        let (tuples, bytes) = (workload.tuples(), workload.tuple_bytes.into());
        let mut all = input_reservations(tuples, bytes).to_vec();
        all.extend(match sizes {
            Sizes::Overflow(overflow) => workload.table(overflow),
            Sizes::LargestPartition(tuples) => workload.partitioned(tuples),
        });
        Self {
            segments: place(&all),
        }
    }

    /// Where a segment begins.
    pub(super) fn base(&self, segment: usize) -> u64 {
        self.segments[segment].base
    }

    /// Words of so many bytes in a segment.
    pub(super) fn words(&self, segment: usize, bytes: usize) -> usize {
        self.segments[segment].size_bytes as usize / bytes
    }
}

/// Bytes of so many counters.
fn counters(count: usize) -> u64 {
    (count * size_of::<u32>()) as u64
}

impl ParallelJoinWorkload {
    /// Counters of a thread, so many that no line is of two threads.
    pub(super) fn row(&self, counters: usize) -> usize {
        counters.next_multiple_of(LINE_BYTES as usize / size_of::<u32>())
    }

    /// A table: its first buckets, so many behind them, and the number of the next that is free.
    fn table(&self, overflow: u64) -> Vec<Reservation> {
        let bytes = bucket_bytes(BUCKET_TUPLES, self.tuple_bytes.into());
        vec![
            lines("buckets", heads(self.build_tuples, BUCKET_TUPLES) * bytes),
            lines("overflow buckets", overflow * bytes),
            lines("free bucket", LINE_BYTES),
        ]
    }

    /// What partitioning takes, if the largest partition has so many build tuples.
    fn partitioned(&self, largest: u64) -> Vec<Reservation> {
        let threads = self.threads as usize;
        let row = self.row(self.most_fan_out());
        let rows = |name: &str, rows: usize, row: usize| lines(name, counters(rows * row));
        let buffers = if self.write_combining {
            self.most_fan_out()
        } else {
            0
        };
        let tasks: usize = (0..self.passes as usize)
            .map(|pass| self.partitions(pass))
            .sum();
        let largest = largest as usize;
        let mut all = vec![
            rows("histograms", 2 * threads, row),
            rows("partition offsets", threads, row),
            rows("partition places", threads, row),
            lines(
                "write-combining buffers",
                (threads * buffers) as u64 * LINE_BYTES,
            ),
            rows("tasks", tasks, TASK_WORDS),
            lines("task queues", u64::from(self.passes) * LINE_BYTES),
            rows(
                "chain heads",
                threads,
                self.row(largest.next_power_of_two()),
            ),
            rows("chains", threads, self.row(largest)),
        ];
        let names = match self.passes {
            1 => vec!["build partitions", "probe partitions"],
            _ => vec![
                "build partitions (first pass)",
                "probe partitions (first pass)",
                "build partitions",
                "probe partitions",
            ],
        };
        let inputs = self.tuples().into_iter().cycle();
        let bytes = u64::from(self.tuple_bytes);
        let partitions = names.into_iter().zip(inputs);
        all.extend(partitions.map(|(name, tuples)| lines(name, self.room(tuples) * bytes)));
        all
    }

    /// Whether the inputs are partitioned.
    pub(super) fn partitions_inputs(&self) -> bool {
        self.algorithm == Algorithm::Radix
    }
}
