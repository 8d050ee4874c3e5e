//! How much work partitioning is, and how much memory it takes.

use super::spec::PartitionWorkload;
use crate::join::algorithm::{OutputPages, PassAlgorithm};
use crate::join::buffers::ENTRY_BYTES;
use crate::join::costs::COPY_STEP_BYTES;
use crate::memory::Memory;
use crate::work::Work;

/// Events of a tuple, without its copy.
const PER_TUPLE: f64 = 9.0;
/// Events of prefetching input pages, and of states, prefetches and the holders of pages.
const PER_SIMPLE: f64 = 2.0;
const PER_INTERLEAVED: f64 = 18.0;
/// Events of a partition's first and last page.
const PER_PARTITION: f64 = 6.0;

impl PartitionWorkload {
    /// Output pages of all threads, at most.
    fn all_output_pages(&self) -> u64 {
        let own = |thread: u32| {
            let tuples = self.tuples_of(thread);
            self.output_pages(tuples.end - tuples.start)
        };
        (0..self.threads).map(own).sum()
    }

    pub(super) fn estimated_work(&self) -> Work {
        let partitions = f64::from(self.partitions) * f64::from(self.threads);
        // The key, and the rest of the tuple.
        let steps = 1 + (self.tuple_bytes - 4).div_ceil(COPY_STEP_BYTES);
        let more = match self.algorithm {
            PassAlgorithm::Grace => 0.0,
            PassAlgorithm::Simple => PER_SIMPLE,
            PassAlgorithm::Group | PassAlgorithm::Pipelined => PER_INTERLEAVED,
        };
        let pages = match self.algorithm {
            PassAlgorithm::Simple => {
                let turned = self.tuples as f64 / f64::from(self.output_format().tuples());
                (partitions + turned) * f64::from(self.page_bytes) / f64::from(self.line_bytes)
            }
            _ => 0.0,
        };
        let events = self.tuples as f64 * (PER_TUPLE + more + 2.0 * f64::from(steps))
            + partitions * PER_PARTITION
            + pages;
        Work::estimate(0.0, events, 0.0)
    }

    pub(super) fn estimated_memory(&self) -> Memory {
        let pages = |pages: u64| pages.saturating_mul(self.page_bytes.into());
        let threads = u64::from(self.threads);
        // The last page of a thread's input may be nearly empty.
        let input = pages(self.input_format().pages(self.tuples) + threads);
        let first = u64::from(self.partitions) * threads;
        let table = first * ENTRY_BYTES;
        let output = pages(self.all_output_pages());
        let (parameter, remedy) = if pages(first) > input {
            ("partitions", "take fewer partitions")
        } else if self.output == OutputPages::Fresh {
            ("output", "take `output: reused`")
        } else {
            ("tuples", "take fewer tuples")
        };
        Memory {
            building: 0,
            running: input + table + output,
            piece: input.max(output),
            parameter,
            remedy,
        }
    }
}
