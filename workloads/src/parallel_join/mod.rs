//! Hash joins of two arrays of tuples by threads that share memory: without partitioning, and by radix partitioning (Balkesen, Teubner, Alonso and
//! Ozsu, ICDE 2013).
//!
//! **Without partitioning** all threads build one table (`table.rs`), whose buckets have a latch each, and then probe it, each with its part of the
//! probe tuples (`no_partitioning.rs`). **Radix** partitions both inputs first, by the lower bits of keys in one or two passes: each thread counts
//! the tuples of its part, adds up what all have counted (`histogram.rs`), and scatters its tuples (`scatter.rs`), through buffers of a line if it is
//! told to (`combining.rs`). Later passes, and the joins of partitions by chains of tuple numbers (`chains.rs`), are tasks that threads take
//! (`tasks.rs`). `radix.rs` has the order of all that.
//!
//! Tuples have two words of eight bytes or of four (`tuple_word.rs`), for each of which all of this is compiled: `kernel.rs` chooses.
//!
//! What threads do at the same time has one order in the simulation (docs/decisions/041-threads-that-share-a-table.md); natively they latch and
//! count as they come.

mod chains;
mod combining;
mod costs;
mod found;
mod histogram;
mod kernel;
mod limits;
mod loops;
mod memory;
mod no_partitioning;
mod passes;
mod places;
mod radix;
mod relations;
mod run;
mod scatter;
mod sites;
mod spec;
mod table;
mod tasks;
#[cfg(test)]
mod tests;
mod tuple_word;
mod work;

pub use crate::buckets::Keys;
pub use spec::{Algorithm, ParallelJoinWorkload};

use crate::family::Family;
use crate::instructions::Instructions;
use crate::kept::Kept;
use crate::memory::Memory;
use crate::validate::WorkloadError;
use crate::work::Work;
use kernel::{Drawn, JoinKernel};
use relations::Inputs;

/// The inputs of the latest workload.
pub(crate) type KeptRelations = Kept<Inputs, Drawn, 1>;

impl Family for ParallelJoinWorkload {
    const DESCRIPTION: &'static str = "hash join of two arrays of tuples by threads that share memory: one table without partitioning, or parallel radix partitioning";
    type Kept = KeptRelations;
    type Kernel = JoinKernel;

    fn validate(&self) -> Result<(), WorkloadError> {
        self.check()
    }

    fn threads(&self) -> u32 {
        self.threads
    }

    fn instructions(&self) -> Instructions {
        Instructions {
            stores: true,
            exchanges: true,
            ..Instructions::default()
        }
    }

    fn work(&self) -> Work {
        self.estimated_work()
    }

    fn memory(&self) -> Memory {
        self.estimated_memory()
    }

    fn is_kept(&self, kept: &KeptRelations) -> bool {
        kept.holds(&Inputs::of(self))
    }

    fn prepare(&self, kept: &mut KeptRelations) -> Result<JoinKernel, WorkloadError> {
        let drawn = kept.get(Inputs::of(self), |inputs| Ok(Drawn::of(inputs)))?;
        Ok(JoinKernel::of(self, drawn))
    }
}
