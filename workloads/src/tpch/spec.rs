//! What to run on TPC-H's tables, as data.

use super::Table;
use crate::query::Reconstruction;
use serde::{Deserialize, Serialize};

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Query {
    /// Query 1: eight aggregates of nearly all line items.
    Q1,
    /// Query 6: one sum over few line items.
    Q6,
    /// Query 12: orders joined with line items.
    Q12,
    /// Query 14: line items joined with parts.
    Q14,
    /// A range selection on Lineitem, whose projection is written to an output relation (PAX section 7.1).
    Rs,
    /// Fills the pages of `tables`.
    Load,
    /// Adds 1 to attributes of the line items that a range selects (PAX section 7.1).
    Update,
}

/// How records lie in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableLayout {
    /// Contiguous records in slotted pages.
    Nsm,
    /// A minipage per attribute in each page.
    Pax,
    /// A file per attribute.
    Dsm,
}

/// A query on TPC-H's tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TpchWorkload {
    /// What is run.
    pub query: Query,
    /// How records lie in pages.
    pub layout: TableLayout,
    /// How records of tables in a file per attribute are put together.
    pub reconstruction: Reconstruction,
    /// Size of the database: 1 is 1 GB of text, 0.1 the PAX paper's 100 MB.
    pub scale_factor: f64,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Bytes of the buffer pool: pages of a larger table share frames.
    pub pool_bytes: u64,
    /// Bytes that the hash tables of a join may take before partitions are destaged.
    pub heap_bytes: u64,
    /// PAX: share of a page that must be free for a reorganization to be worthwhile.
    pub threshold: f64,
    /// Load: the tables.
    pub tables: Vec<Table>,
    /// Range selection and update: attributes of Lineitem that are tested. The first selects, the others hold always.
    pub predicates: Vec<String>,
    /// Range selection and update: share of the line items that the first predicate selects.
    pub selectivity: f64,
    /// Range selection: attributes of Lineitem in the output.
    pub project: Vec<String>,
    /// Update: attributes of Lineitem that change.
    pub change: Vec<String>,
    /// Seed of the order of pages in the buffer pool.
    pub seed: u64,
}

impl Default for TpchWorkload {
    fn default() -> Self {
        Self {
            query: Query::Q6,
            layout: TableLayout::Nsm,
            reconstruction: Reconstruction::default(),
            scale_factor: 0.1,
            page_bytes: 8192,
            pool_bytes: 128 << 20,
            heap_bytes: 64 << 20,
            threshold: 0.0,
            tables: Table::ALL.to_vec(),
            predicates: vec!["l_partkey".into()],
            selectivity: 0.1,
            project: vec!["l_extendedprice".into()],
            change: vec!["l_extendedprice".into()],
            seed: 1,
        }
    }
}
