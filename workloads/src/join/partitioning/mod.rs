//! The partition phase: tuples of a relation are copied into the output page of their partition (thesis section 4.6).
//!
//! With filters it partitions two relations: `inspect.rs` fills filters with the build tuples' keys, and `sift.rs` drops probe tuples that
//! they say have no matches (section 5.4).

mod counts;
mod filter_table;
#[cfg(test)]
mod filter_tests;
mod filtering;
mod inspect;
#[cfg(test)]
mod length_tests;
#[cfg(test)]
mod order_tests;
mod ordered;
mod pass;
mod places;
mod run;
mod shared;
mod sift;
mod sites;
mod spec;
mod stored_pages;
#[cfg(test)]
mod tests;
mod tuples;
mod validate;
mod work;

pub use spec::{FilterLayout, Filtering, PartitionWorkload};

use crate::family::Family;
use crate::instructions::Instructions;
use crate::join::algorithm::PassAlgorithm;
use crate::memory::Memory;
use crate::traffic::Traffic;
use crate::validate::WorkloadError;
use crate::work::Work;
use run::PartitionRun;

impl Family for PartitionWorkload {
    const DESCRIPTION: &'static str = "the partition phase of hash joins: by GRACE, and with group or software-pipelined prefetching; with Bloom filters, too";
    const ASKS_FOR_PAGES: bool = true;
    type Kept = ();
    type Kernel = PartitionRun;

    fn validate(&self) -> Result<(), WorkloadError> {
        self.check()
    }

    fn threads(&self) -> u32 {
        self.threads
    }

    fn instructions(&self) -> Instructions {
        Instructions {
            stores: true,
            prefetches: PassAlgorithm::PREFETCHING.contains(&self.algorithm),
            multiplies: self.filter != Filtering::None,
            divides: true,
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

    fn prepare(&self, (): &mut ()) -> Result<PartitionRun, WorkloadError> {
        Ok(PartitionRun::new(self))
    }
}
