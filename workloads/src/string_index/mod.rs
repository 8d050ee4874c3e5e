//! Operations on indexes in disk pages whose keys are strings of bytes, of any length (thesis section 3.8).

mod area;
mod format;
mod in_page;
mod kept;
mod limits;
mod memory;
mod plan;
mod run;
mod sites;
mod slotted;
mod spec;
#[cfg(test)]
mod tests;
mod text;
mod tree;
mod validate;
mod wanted;
mod work;

pub use spec::{StringIndexWorkload, Structure};

use crate::family::Family;
use crate::instructions::Instructions;
use crate::memory::Memory;
use crate::traffic::Traffic;
use crate::validate::WorkloadError;
use crate::warm_up::WarmUp;
use crate::work::Work;
use kept::Indexes;
use run::StringIndexRun;
use sites::Site;

impl Family for StringIndexWorkload {
    const DESCRIPTION: &'static str = "searches, insertions, deletions or scans on a B+-tree in disk pages whose keys are strings of any length: slotted pages, prefixes of keys in the slots, trees in pages";
    const ASKS_FOR_PAGES: bool = true;
    type Kept = Indexes;
    type Kernel = StringIndexRun;

    fn validate(&self) -> Result<(), WorkloadError> {
        self.check()
    }

    fn instructions(&self) -> Instructions {
        Instructions {
            stores: true,
            prefetches: self.structure == Structure::InPageTree,
            ..Instructions::default()
        }
    }

    fn traffic(&self) -> Traffic {
        Traffic {
            reads: self.pool_frames > 0,
            writes: self.pool_frames > 0 && !self.done().read_only(),
            ..Traffic::default()
        }
    }

    fn warm_up(&self) -> Option<WarmUp> {
        WarmUp::of(self.caches, self.warm_up)
    }

    fn set_warm_up(&mut self, operations: u64) {
        self.warm_up = Some(WarmUp::Operations(operations));
    }

    fn work(&self) -> Work {
        self.estimated_work()
    }

    fn memory(&self) -> Memory {
        self.estimated_memory()
    }

    fn is_kept(&self, indexes: &Indexes) -> bool {
        indexes.holds(self)
    }

    fn prepare(&self, indexes: &mut Indexes) -> Result<StringIndexRun, WorkloadError> {
        Ok(StringIndexRun::new(self, indexes.get(self)))
    }
}
