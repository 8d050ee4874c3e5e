//! TPC-H: its tables, made in process by the generator `tpchgen`.

mod export;
mod table;

pub use export::export;
pub use table::Table;
