//! Parameters of probes.

use super::limits::{BUCKET_TUPLES, BUILD_TUPLES, IN_FLIGHT};
use super::table::TableSpec;
use crate::bounds::{OPERATIONS, THREADS};
use crate::buckets::{self, Keys};
use crate::ranks::SKEW;
use crate::schema::{has_effect, parameters, required, takes};
use crate::validate::WorkloadError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// In which order the pieces of many probes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interleaving {
    /// A probe ends before the next begins: only the processor overlaps them.
    OneByOne,
    /// A group of probes goes through the same stage, then through the next (Chen et al., ICDE 2004).
    Group,
    /// Each probe waits in a slot of a ring, and the next slot's goes on; a probe that ends leaves its slot to a new one (AMAC: Kocberber,
    /// Falsafi and Grot, VLDB 2015).
    Amac,
    /// The same order, each probe a coroutine that suspends itself where it needs a line (Jonathan et al., VLDB 2018).
    Coroutine,
}

impl Interleaving {
    /// Those with several probes under way.
    pub(super) const INTERLEAVED: [Self; 3] = [Self::Group, Self::Amac, Self::Coroutine];
}

/// What becomes of what probes find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Results {
    /// It is counted, and added to a sum.
    Counted,
    /// Key and payload are written behind those found before, too.
    Stored,
}

/// Probes of a hash table that is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(transform = parameters::<Self>)]
pub struct ProbeWorkload {
    /// In which order the pieces of many probes run.
    #[schemars(transform = required)]
    pub interleaving: Interleaving,
    /// Tuples of the table, of 16 bytes, each with a key of its own.
    #[schemars(transform = required, transform = takes(BUILD_TUPLES))]
    pub build_tuples: u64,
    /// Tuples of 16 bytes that the table is probed with, all threads together; each finds its match.
    #[schemars(transform = required, transform = takes(OPERATIONS))]
    pub probe_tuples: u64,
    /// Which keys they have.
    pub keys: Keys,
    /// Tuples of a bucket, which takes half a line with one and a line with two; what does not fit is in another bucket behind it.
    #[schemars(transform = takes(BUCKET_TUPLES))]
    pub bucket_tuples: u64,
    /// Zipf's exponent of how often keys are looked for; 0 for all alike.
    #[schemars(transform = takes(SKEW))]
    pub skew: f64,
    /// What becomes of what they find.
    pub results: Results,
    /// Probes under way at a time.
    #[schemars(transform = takes(IN_FLIGHT), transform = has_effect("interleaving", Interleaving::INTERLEAVED.to_vec()))]
    pub in_flight: u32,
    /// Threads, which share the table, each with an equal part of the probe tuples.
    #[schemars(transform = takes(THREADS))]
    pub threads: u32,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for ProbeWorkload {
    fn default() -> Self {
        Self {
            interleaving: Interleaving::OneByOne,
            build_tuples: 10_000,
            probe_tuples: 20_000,
            keys: Keys::Scattered,
            bucket_tuples: buckets::BUCKET_TUPLES,
            skew: 0.0,
            results: Results::Counted,
            // As many as AMAC's study found enough for the ten miss registers of its processor (section 5.1).
            in_flight: 10,
            threads: 1,
            seed: 1,
        }
    }
}

impl ProbeWorkload {
    /// Checks every parameter.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        BUILD_TUPLES.check("build_tuples", self.build_tuples)?;
        OPERATIONS.check("probe_tuples", self.probe_tuples)?;
        BUCKET_TUPLES.check("bucket_tuples", self.bucket_tuples)?;
        SKEW.check("skew", self.skew)?;
        IN_FLIGHT.check("in_flight", self.in_flight)?;
        THREADS.check("threads", self.threads)
    }

    /// What the table is made of.
    pub(super) fn table(&self) -> TableSpec {
        TableSpec {
            tuples: self.build_tuples,
            keys: self.keys,
            bucket_tuples: self.bucket_tuples,
            seed: self.seed,
        }
    }

    /// The probe tuples of a thread.
    pub(super) fn tuples_of(&self, thread: u32) -> Range<u64> {
        let until = |thread: u32| u64::from(thread) * self.probe_tuples / u64::from(self.threads);
        until(thread)..until(thread + 1)
    }
}
