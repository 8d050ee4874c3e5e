//! One relation in pages of any layout, and what is run on it: scans, point queries, updates.
//!
//! The relation of the PAX paper (section 6.1) has numeric attributes of random values; that of the comparison of row and
//! column stores (section 3.1) is one of its generated, sorted ones.

mod build;
mod output;
mod places;
mod run;
mod spec;
mod validate;

pub(crate) use build::Tables;
pub(crate) use run::TableRun;
pub use spec::{PageLayout, TableOperation, TableWorkload};
