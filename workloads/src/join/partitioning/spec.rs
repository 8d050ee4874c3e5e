//! Parameters of partitioning.

use crate::bounds::LINE_BYTES;
use crate::join::algorithm::{Order, OutputPages, PassAlgorithm};
use crate::join::buffers::BufferSpec;
use crate::join::limits::{
    PAGE_AHEAD, PAGE_BYTES, PARTITIONS, THREADS, TUPLE_BYTES, TUPLES, TUPLES_AHEAD,
};
use crate::join::pages::{HASHED_SLOT, PLAIN_SLOT, PageFormat};
use crate::schema::{bytes, has_effect, parameters, required, takes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Partitioning of relations (thesis chapter 4, partition phase).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(transform = parameters::<Self>)]
pub struct PartitionWorkload {
    /// How tuples go to their partitions.
    #[schemars(transform = required)]
    pub algorithm: PassAlgorithm,
    /// Tuples of the input, all relations one after the other.
    #[schemars(transform = required, transform = takes(TUPLES))]
    pub tuples: u64,
    /// Partitions that the input is divided into, each with an output page in memory.
    #[schemars(transform = required, transform = takes(PARTITIONS))]
    pub partitions: u32,
    /// Bytes of a tuple, of which the key takes four.
    #[schemars(transform = takes(TUPLE_BYTES), transform = bytes)]
    pub tuple_bytes: u32,
    /// Tuples of a group.
    #[schemars(transform = takes(TUPLES_AHEAD), transform = has_effect("algorithm", vec![PassAlgorithm::Group]))]
    pub group_size: u32,
    /// Iterations between two stages of a tuple.
    #[schemars(transform = takes(TUPLES_AHEAD), transform = has_effect("algorithm", vec![PassAlgorithm::Pipelined]))]
    pub prefetch_distance: u32,
    /// Tuples that prefetches of input pages are ahead of their use; 0 for a whole page when it is opened.
    #[schemars(transform = takes(PAGE_AHEAD), transform = has_effect("algorithm", PassAlgorithm::PREFETCHING.to_vec()))]
    pub page_ahead: u32,
    /// What becomes of full output pages.
    pub output: OutputPages,
    /// Threads, each of which partitions an equal part of the input into output pages of its own.
    #[schemars(transform = takes(THREADS))]
    pub threads: u32,
    /// Bytes of an input page, and of an output page.
    #[schemars(transform = takes(PAGE_BYTES), transform = bytes)]
    pub page_bytes: u32,
    /// Bytes between prefetches of what spans several lines: those of a cache line.
    #[schemars(transform = takes(LINE_BYTES), transform = bytes, transform = has_effect("algorithm", PassAlgorithm::PREFETCHING.to_vec()))]
    pub line_bytes: u32,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for PartitionWorkload {
    fn default() -> Self {
        Self {
            algorithm: PassAlgorithm::Grace,
            tuples: 10_000,
            partitions: 25,
            tuple_bytes: 100,
            // As in the join phase.
            group_size: 25,
            prefetch_distance: 1,
            page_ahead: 6,
            output: OutputPages::Fresh,
            threads: 1,
            page_bytes: 8192,
            line_bytes: 64,
            seed: 1,
        }
    }
}

impl PartitionWorkload {
    /// The order of the tuples' stages.
    pub(super) fn order(&self) -> Order {
        Order {
            algorithm: self.algorithm,
            group_size: self.group_size,
            prefetch_distance: self.prefetch_distance,
            page_ahead: self.page_ahead,
            line_bytes: self.line_bytes,
        }
    }

    /// What input pages look like: nobody has hashed the keys yet.
    pub(super) fn input_format(&self) -> PageFormat {
        PageFormat {
            page_bytes: self.page_bytes,
            tuple_bytes: self.tuple_bytes,
            slot_bytes: PLAIN_SLOT,
        }
    }

    /// What pages of partitions look like.
    pub(super) fn output_format(&self) -> PageFormat {
        PageFormat {
            slot_bytes: HASHED_SLOT,
            ..self.input_format()
        }
    }

    /// What output pages are like.
    pub(super) fn buffers(&self) -> BufferSpec {
        BufferSpec {
            format: self.output_format(),
            partitions: self.partitions,
            reused: self.output == OutputPages::Reused,
            whole_pages: self.algorithm == PassAlgorithm::Simple,
            line_bytes: self.line_bytes,
        }
    }

    /// The tuples that a thread partitions.
    pub(super) fn tuples_of(&self, thread: u32) -> Range<u64> {
        let until = |thread: u32| u64::from(thread) * self.tuples / u64::from(self.threads);
        until(thread)..until(thread + 1)
    }

    /// Output pages that so many tuples take at most: those that are full, and one of each partition.
    pub(super) fn output_pages(&self, tuples: u64) -> u64 {
        let full = match self.output {
            OutputPages::Fresh => tuples / u64::from(self.output_format().tuples()),
            OutputPages::Reused => 0,
        };
        full + u64::from(self.partitions)
    }
}
