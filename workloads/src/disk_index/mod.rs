//! Operations on indexes in disk pages (thesis chapter 3).

mod counts;
mod kept;
mod limits;
mod memory;
mod named_file;
mod page_file;
mod run;
mod spec;
mod turns;
mod validate;
mod work;

pub use crate::paged_tree::file::{Header, PageFileError, seal as seal_page_file};
pub use crate::paged_tree::structure::Structure;
pub use named_file::PageFile;
pub use page_file::check_page_file;
pub use spec::DiskIndexWorkload;

use crate::family::Family;
use crate::instructions::Instructions;
use crate::memory::Memory;
use crate::traffic::Traffic;
use crate::validate::WorkloadError;
use crate::warm_up::WarmUp;
use crate::work::Work;
use kept::{IndexKey, Indexes, index};
use run::DiskIndexRun;

impl Family for DiskIndexWorkload {
    const DESCRIPTION: &'static str = "searches, insertions, deletions or scans on an index in disk pages behind a buffer pool: B+-trees, micro-indexing, fractal prefetching B+-trees";
    const ASKS_FOR_PAGES: bool = true;
    type Kept = Indexes;
    type Kernel = DiskIndexRun;

    fn validate(&self) -> Result<(), WorkloadError> {
        self.check()
    }

    fn threads(&self) -> u32 {
        self.threads
    }

    fn instructions(&self) -> Instructions {
        Instructions {
            stores: true,
            prefetches: self.structure.prefetches(),
            exchanges: self.is_shared(),
            ..Instructions::default()
        }
    }

    fn traffic(&self) -> Traffic {
        Traffic {
            reads: self.pool_frames > 0,
            writes: self.pool_frames > 0 && !self.done().read_only(),
            asks_ahead: self.distance_pages > 0,
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
        indexes.holds(&IndexKey::of(self))
    }

    fn prepare(&self, indexes: &mut Indexes) -> Result<DiskIndexRun, WorkloadError> {
        Ok(DiskIndexRun::new(self, index(self, indexes)?))
    }
}
