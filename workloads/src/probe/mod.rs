//! Probes of a hash table in memory, many of them under way at a time: what today's in-memory joins do with their larger side.
//!
//! The table is chained, with two tuples to a bucket and a bucket to a cache line, or half of both (`table.rs`; Balkesen et al., ICDE 2013);
//! a probe sees references to buckets (`bucket.rs`). It is cut where it needs a bucket's line (`lookup.rs`), and the algorithms are orders in
//! which the pieces of many probes run: one probe after the other, group prefetching, asynchronous memory access chaining, and coroutines
//! (`one_by_one.rs`, `group.rs`, `chaining.rs`). What is found may be written behind what was found before (`results.rs`).

mod bucket;
mod chaining;
mod costs;
mod group;
mod keys;
mod limits;
mod lookup;
mod one_by_one;
mod places;
mod results;
mod run;
mod sites;
mod spec;
mod states;
mod table;
#[cfg(test)]
mod tests;
mod work;

pub use spec::{Interleaving, ProbeWorkload, Results};

use crate::buckets::Keys;
use crate::family::Family;
use crate::instructions::Instructions;
use crate::kept::Kept;
use crate::memory::Memory;
use crate::validate::WorkloadError;
use crate::work::Work;
use run::ProbeRun;
use std::sync::Arc;
use table::{Table, TableSpec};

/// The table of the latest workload.
pub(crate) type KeptTable = Kept<TableSpec, Arc<Table>, 1>;

impl Family for ProbeWorkload {
    const DESCRIPTION: &'static str = "probes of a chained hash table in memory: one by one, or many at a time by group prefetching, AMAC or coroutines";
    type Kept = KeptTable;
    type Kernel = ProbeRun;

    fn validate(&self) -> Result<(), WorkloadError> {
        self.check()
    }

    fn threads(&self) -> u32 {
        self.threads
    }

    fn instructions(&self) -> Instructions {
        // Each key is the only one of its bucket, and is found there.
        let goes_straight = self.interleaving == Interleaving::OneByOne
            && (self.keys, self.bucket_tuples) == (Keys::Dense, 1)
            && self.results == Results::Counted;
        Instructions {
            branches: !goes_straight,
            stores: self.interleaving != Interleaving::OneByOne || self.results == Results::Stored,
            prefetches: self.interleaving != Interleaving::OneByOne,
            multiplies: self.table().multiplies(),
            ..Instructions::default()
        }
    }

    fn work(&self) -> Work {
        self.estimated_work()
    }

    fn memory(&self) -> Memory {
        self.estimated_memory()
    }

    fn is_kept(&self, kept: &KeptTable) -> bool {
        kept.holds(&self.table())
    }

    fn prepare(&self, kept: &mut KeptTable) -> Result<ProbeRun, WorkloadError> {
        let table = kept.get(self.table(), |&spec| Ok(Arc::new(Table::new(spec))))?;
        Ok(ProbeRun::new(self, table))
    }
}
