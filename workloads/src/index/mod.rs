//! Operations on a B+-tree or CSB+-tree.

mod kept;
mod memory;
mod run;
mod spec;
mod validate;
mod work;

pub use spec::{IndexWorkload, JumpPointerArray, TreeKind, TreeSpec};

use crate::family::Family;
use crate::instructions::Instructions;
use crate::memory::Memory;
use crate::operations::Operation;
use crate::validate::WorkloadError;
use crate::warm_up::WarmUp;
use crate::work::Work;
use kept::{TreeKey, Trees, tree};
use run::IndexRun;

impl Family for IndexWorkload {
    const DESCRIPTION: &'static str = "searches, insertions, deletions or scans on a B+-tree or CSB+-tree, with and without prefetching";
    type Kept = Trees;
    type Kernel = IndexRun;

    fn validate(&self) -> Result<(), WorkloadError> {
        self.check()
    }

    fn threads(&self) -> u32 {
        self.threads
    }

    fn instructions(&self) -> Instructions {
        Instructions {
            stores: self.operation != Operation::Search,
            prefetches: self.tree.prefetch,
            ..Instructions::default()
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

    fn is_kept(&self, trees: &Trees) -> bool {
        trees.holds(&TreeKey::of(self))
    }

    fn prepare(&self, trees: &mut Trees) -> Result<IndexRun, WorkloadError> {
        Ok(IndexRun {
            workload: self.clone(),
            tree: tree(self, trees),
        })
    }
}
