//! TPC-H: its tables, made in process by the generator `tpchgen`, and queries on them.

mod blocks;
mod calendar;
mod data_file;
mod export;
mod files;
mod intake;
mod joins;
mod kept;
mod limits;
mod memory;
mod parsed;
mod phase;
mod places;
mod queries;
mod range;
mod relation;
mod rows;
mod run;
mod spec;
mod statements;
mod table;
mod validate;
mod work;

pub use export::export;
pub use rows::for_each_record;
pub use spec::{Query, TableLayout, TpchWorkload};
pub use table::Table;

use crate::family::Family;
use crate::instructions::Instructions;
use crate::memory::Memory;
use crate::traffic::Traffic;
use crate::validate::WorkloadError;
use crate::work::Work;
use kept::Relations;
use run::TpchRun;

impl Family for TpchWorkload {
    const DESCRIPTION: &'static str = "queries of TPC-H, range selections, loads and updates on its generated tables in NSM, PAX or DSM pages";
    const CALLS_DBMS: bool = true;
    type Kept = Relations;
    type Kernel = TpchRun;

    fn validate(&self) -> Result<(), WorkloadError> {
        self.check()
    }

    fn instructions(&self) -> Instructions {
        Instructions {
            stores: true,
            multiplies: self.query.multiplies(),
            ..Instructions::default()
        }
    }

    fn traffic(&self) -> Traffic {
        Traffic {
            reads: true,
            writes: matches!(self.query, Query::Rs | Query::Load | Query::Update),
            ..Traffic::default()
        }
    }

    fn work(&self) -> Work {
        self.estimated_work()
    }

    fn memory(&self) -> Memory {
        self.estimated_memory()
    }

    fn is_kept(&self, relations: &Relations) -> bool {
        kept::holds(self, relations)
    }

    fn prepare(&self, relations: &mut Relations) -> Result<TpchRun, WorkloadError> {
        TpchRun::new(self, relations)
    }
}
