//! The join phase: partitions in memory, or on storage, are joined pair by pair.

mod algorithm;
mod buckets;
mod build;
#[cfg(test)]
mod dependence_tests;
mod inspector;
#[cfg(test)]
mod length_tests;
#[cfg(test)]
mod non_temporal_tests;
mod output;
mod pairs;
mod places;
mod probe;
mod run;
mod sites;
mod sort_merge;
#[cfg(test)]
mod sorted_tests;
mod spec;
#[cfg(test)]
mod stage_tests;
mod sub_partitions;
mod sub_places;
mod table;
#[cfg(test)]
mod tests;
mod tuples;
mod validate;
mod visit;
mod work;

pub use algorithm::JoinAlgorithm;
pub use spec::{JoinWorkload, MatchedKeys};

use crate::family::Family;
use crate::instructions::Instructions;
use crate::memory::Memory;
use crate::traffic::Traffic;
use crate::validate::WorkloadError;
use crate::work::Work;
use run::JoinRun;

impl Family for JoinWorkload {
    const DESCRIPTION: &'static str = "hash joins of partitions in memory or on storage: GRACE, with group or software-pipelined prefetching, cache partitioning, inspector joins, and sort-merge of nearly sorted relations";
    const ASKS_FOR_PAGES: bool = true;
    type Kept = ();
    type Kernel = JoinRun;

    fn validate(&self) -> Result<(), WorkloadError> {
        self.check()
    }

    fn threads(&self) -> u32 {
        self.threads
    }

    fn instructions(&self) -> Instructions {
        Instructions {
            stores: true,
            prefetches: JoinAlgorithm::PREFETCHING.contains(&self.algorithm),
            divides: self.algorithm != JoinAlgorithm::SortMerge,
            ..Instructions::default()
        }
    }

    fn traffic(&self) -> Traffic {
        self.output.traffic(self.pages_asked_ahead)
    }

    fn work(&self) -> Work {
        self.estimated_work()
    }

    fn memory(&self) -> Memory {
        self.estimated_memory()
    }

    fn is_kept(&self, (): &()) -> bool {
        true
    }

    fn prepare(&self, (): &mut ()) -> Result<JoinRun, WorkloadError> {
        Ok(JoinRun::new(self))
    }
}
