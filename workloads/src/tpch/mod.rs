//! TPC-H: its tables, made in process by the generator `tpchgen`, and queries on them.

mod calendar;
mod export;
mod files;
mod joins;
mod kept;
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

pub use export::export;
pub(crate) use kept::Relations;
pub(crate) use relation::Relation;
pub use rows::for_each_record;
pub(crate) use run::TpchRun;
pub use spec::{Query, TableLayout, TpchWorkload};
pub use table::Table;
