//! One relation in pages of any layout, and what is run on it: scans, point queries, updates, deletions, and copying its blocks to their places.
//!
//! The relation of the PAX paper (section 6.1) has numeric attributes of random values; that of the comparison of row and
//! column stores (section 3.1) is one of its generated, sorted ones.

mod build;
mod limits;
mod memory;
mod output;
mod places;
mod run;
mod scatter;
mod spec;
mod validate;
mod work;

pub use spec::{PageLayout, TableOperation, TableWorkload};

use crate::family::Family;
use crate::instructions::Instructions;
use crate::memory::Memory;
use crate::traffic::Traffic;
use crate::validate::WorkloadError;
use crate::warm_up::WarmUp;
use crate::work::Work;
use build::{Tables, identity};
use run::TableRun;

impl Family for TableWorkload {
    const DESCRIPTION: &'static str = "scans, point queries, updates or deletions on one relation, in pages of any layout or in a row or column store";
    const CALLS_DBMS: bool = true;
    type Kept = Tables;
    type Kernel = TableRun;

    fn validate(&self) -> Result<(), WorkloadError> {
        self.check()
    }

    fn instructions(&self) -> Instructions {
        Instructions {
            stores: true,
            ..Instructions::default()
        }
    }

    fn traffic(&self) -> Traffic {
        Traffic {
            reads: true,
            writes: matches!(
                self.operation,
                TableOperation::Update | TableOperation::Delete
            ),
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

    fn is_kept(&self, tables: &Tables) -> bool {
        tables.holds(&identity(self))
    }

    fn prepare(&self, tables: &mut Tables) -> Result<TableRun, WorkloadError> {
        TableRun::new(self, tables)
    }
}
