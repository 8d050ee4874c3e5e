//! Hash joins of partitions in memory: GRACE, and the prefetching joins of Chen's thesis (chapter 4).
//!
//! A tuple's visit to the hash table is cut into stages (`visit.rs`), which `build.rs` and `probe.rs` say once. The algorithms are orders in which
//! the stages of many tuples run: `one_by_one.rs`, `group.rs`, `pipeline.rs`.

mod ahead;
mod build;
mod costs;
mod group;
mod hash;
mod limits;
mod one_by_one;
mod output;
mod pages;
mod partition;
mod permutation;
mod pipeline;
mod places;
mod probe;
mod run;
mod sites;
mod spec;
mod states;
mod table;
#[cfg(test)]
mod tests;
mod tuples;
mod validate;
mod visit;
mod work;

pub use spec::{JoinAlgorithm, JoinWorkload, OutputPages};

use crate::family::Family;
use crate::memory::Memory;
use crate::validate::WorkloadError;
use crate::work::Work;
use run::JoinRun;

impl Family for JoinWorkload {
    const DESCRIPTION: &'static str = "hash joins of partitions in memory: GRACE, and with group or software-pipelined prefetching";
    type Kept = ();
    type Kernel = JoinRun;

    fn validate(&self) -> Result<(), WorkloadError> {
        self.check()
    }

    fn threads(&self) -> u32 {
        self.threads
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
