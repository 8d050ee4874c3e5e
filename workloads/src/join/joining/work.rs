//! How much work a join is, and how much memory it takes.

use super::algorithm::JoinAlgorithm;
use super::output;
use super::spec::JoinWorkload;
use super::table::{CELL_BYTES, HEADER_BYTES, MOST_CELLS};
use crate::join::costs::COPY_STEP_BYTES;
use crate::memory::Memory;
use crate::work::Work;

/// Events of inserting a build tuple, and of probing, whatever is found.
const PER_BUILD: f64 = 9.0;
const PER_PROBE: f64 = 9.0;
/// Events of a match, without the copy of its tuples.
const PER_MATCH: f64 = 9.0;
/// Events of copying a tuple into a sub-partition, without the copy itself.
const PER_REPARTITIONED: f64 = 11.0;
/// Events of finding a tuple's state in each stage and of prefetching for the next.
const PER_STAGE: f64 = 5.0;

impl JoinWorkload {
    /// Pairs of tuples that match.
    fn matches(&self) -> f64 {
        self.probe_tuples as f64 * self.match_share * f64::from(self.duplicates)
    }

    pub(super) fn estimated_work(&self) -> Work {
        let (build, probe) = (self.build_tuples as f64, self.probe_tuples as f64);
        let steps = 1.0 + f64::from(self.tuple_bytes / COPY_STEP_BYTES);
        let stages = match self.algorithm {
            JoinAlgorithm::Grace | JoinAlgorithm::Simple | JoinAlgorithm::CachePartitioning => 0.0,
            JoinAlgorithm::Group | JoinAlgorithm::Pipelined => PER_STAGE,
        };
        let repartitioned = if self.algorithm.repartitions() {
            build + probe
        } else {
            0.0
        };
        let events = build * (PER_BUILD + 2.0 * stages)
            + probe * (PER_PROBE + 3.0 * stages)
            + self.matches() * (PER_MATCH + 4.0 * steps)
            + repartitioned * (PER_REPARTITIONED + 2.0 * steps);
        Work::estimate(0.0, events, 0.0)
    }

    pub(super) fn estimated_memory(&self) -> Memory {
        let pages = |pages: u64| pages.saturating_mul(self.page_bytes.into());
        let format = self.partition_format();
        let build = pages(format.pages(self.build_tuples));
        let probe = pages(format.pages(self.probe_tuples));
        let table = self.build_tuples * (HEADER_BYTES + MOST_CELLS * CELL_BYTES);
        let output = pages(output::pages(self, self.matches() as u64));
        let threads = 0..self.threads;
        let sub_pages = threads.flat_map(|thread| self.sub_pages_of(thread));
        let sub_partitions = pages(sub_pages.sum());
        let running = build + probe + table + sub_partitions;
        let (parameter, remedy) = if output > running {
            ("output", "take `output: reused`")
        } else {
            ("probe_tuples", "take fewer tuples")
        };
        Memory {
            building: 0,
            running: running.saturating_add(output),
            piece: build.max(probe).max(table).max(sub_partitions).max(output),
            parameter,
            remedy,
        }
    }
}
