//! Parameters of these joins.

use super::limits::{BUILD_TUPLES, PASSES, PROBE_TUPLES, RADIX_BITS, TUPLE_BYTES};
use crate::bounds::{SHARE, THREADS};
use crate::buckets::{self, Keys};
use crate::ranks::SKEW;
use crate::schema::{bytes, has_effect, parameters, required, takes};
use crate::validate::WorkloadError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What is done with the inputs before they are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Nothing: all threads build one table and probe it.
    NoPartitioning,
    /// Both are partitioned by the lower bits of keys, and joined partition by partition.
    Radix,
}

/// A join of two arrays of tuples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(transform = parameters::<Self>)]
pub struct ParallelJoinWorkload {
    /// What is done with the inputs before they are joined.
    #[schemars(transform = required)]
    pub algorithm: Algorithm,
    /// Tuples of the build relation, each with a key of its own, in random order.
    #[schemars(transform = required, transform = takes(BUILD_TUPLES))]
    pub build_tuples: u64,
    /// Tuples of the probe relation.
    #[schemars(transform = required, transform = takes(PROBE_TUPLES))]
    pub probe_tuples: u64,
    /// Bytes of a tuple, half of them its key and half its payload.
    #[schemars(transform = bytes, transform = takes(TUPLE_BYTES))]
    pub tuple_bytes: u32,
    /// Which keys the build tuples have.
    pub keys: Keys,
    /// Share of the probe tuples that have a match.
    #[schemars(transform = takes(SHARE))]
    pub match_share: f64,
    /// Zipf's exponent of how often keys occur among the probe tuples; 0 for all alike.
    #[schemars(transform = takes(SKEW))]
    pub skew: f64,
    /// Lower bits of keys that are partitioned by: there are two to that power of partitions.
    #[schemars(transform = takes(RADIX_BITS), transform = has_effect("algorithm", vec![Algorithm::Radix]))]
    pub radix_bits: u32,
    /// Passes in which they are partitioned, each by its share of the bits.
    #[schemars(transform = takes(PASSES), transform = has_effect("algorithm", vec![Algorithm::Radix]))]
    pub passes: u32,
    /// Whether tuples go to partitions through buffers of a cache line, of which whole lines are written.
    #[schemars(transform = has_effect("algorithm", vec![Algorithm::Radix]))]
    pub write_combining: bool,
    /// Whether whole lines go from these buffers to memory past the caches, by non-temporal stores.
    #[schemars(transform = has_effect("write_combining", vec![true]))]
    pub non_temporal: bool,
    /// Threads, each with an equal part of both relations.
    #[schemars(transform = takes(THREADS))]
    pub threads: u32,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for ParallelJoinWorkload {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::Radix,
            build_tuples: 10_000,
            probe_tuples: 20_000,
            tuple_bytes: buckets::TUPLE_BYTES as u32,
            keys: Keys::Dense,
            match_share: 1.0,
            skew: 0.0,
            // The published setting: fourteen bits in two passes.
            radix_bits: 14,
            passes: 2,
            write_combining: false,
            non_temporal: false,
            threads: 1,
            seed: 1,
        }
    }
}

/// The part of so many tuples that a thread has.
fn part(tuples: u64, thread: u32, threads: u32) -> Range<usize> {
    let until = |thread: u32| (u64::from(thread) * tuples / u64::from(threads)) as usize;
    until(thread)..until(thread + 1)
}

impl ParallelJoinWorkload {
    /// Checks every parameter.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        BUILD_TUPLES.check("build_tuples", self.build_tuples)?;
        PROBE_TUPLES.check("probe_tuples", self.probe_tuples)?;
        TUPLE_BYTES.check("tuple_bytes", self.tuple_bytes)?;
        SHARE.check("match_share", self.match_share)?;
        SKEW.check("skew", self.skew)?;
        RADIX_BITS.check("radix_bits", self.radix_bits)?;
        PASSES.check("passes", self.passes)?;
        THREADS.check("threads", self.threads)?;
        if self.algorithm == Algorithm::Radix && self.passes > self.radix_bits {
            let message = format!(
                "{} passes partition by {} bits; each takes at least one",
                self.passes, self.radix_bits
            );
            return Err(WorkloadError::new("passes", message));
        }
        Ok(())
    }

    /// Tuples of both relations, build before probe.
    pub(super) fn tuples(&self) -> [u64; 2] {
        [self.build_tuples, self.probe_tuples]
    }

    /// A thread's part of the build tuples.
    pub(super) fn build_of(&self, thread: u32) -> Range<usize> {
        part(self.build_tuples, thread, self.threads)
    }

    /// A thread's part of the probe tuples.
    pub(super) fn probes_of(&self, thread: u32) -> Range<usize> {
        part(self.probe_tuples, thread, self.threads)
    }
}
