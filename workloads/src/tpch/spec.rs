//! What to run on TPC-H's tables, as data.

use super::Table;
use super::limits::{HEAP_BYTES, PAGE_BYTES, POOL_BYTES, SCALE, numbers_of_lineitem, of_lineitem};
use crate::bounds::SHARE;
use crate::query::{INDEX_FRAMES, IndexNodes, IndexPages, Order, Reconstruction};
use crate::schema::{applies, bytes, has_effect, one_of, parameters, required, takes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

impl Query {
    /// What scans tables and changes none.
    pub(super) const SCANS: [Self; 5] = [Self::Q1, Self::Q6, Self::Q12, Self::Q14, Self::Rs];

    /// Whether it multiplies: prices, or in hash functions of joins.
    pub(super) fn multiplies(self) -> bool {
        matches!(self, Self::Q1 | Self::Q6 | Self::Q12 | Self::Q14)
    }
}

/// How records lie in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(transform = parameters::<Self>)]
pub struct TpchWorkload {
    /// What is run.
    #[schemars(transform = required)]
    pub query: Query,
    /// How records lie in pages.
    #[schemars(transform = required)]
    pub layout: TableLayout,
    /// How records of tables in a file per attribute are put together.
    #[schemars(transform = has_effect("layout", vec![TableLayout::Dsm]))]
    pub reconstruction: Reconstruction,
    /// In which order scans of minipages test predicates: attribute by attribute, each for all records of a page that are left, or record by record.
    #[schemars(
        transform = has_effect("query", Query::SCANS.to_vec()),
        transform = has_effect("layout", vec![TableLayout::Pax]),
    )]
    pub scan_order: Order,
    /// Where the nodes of indexes are through which records are put together; they have the size of a page.
    #[schemars(transform = has_effect("layout", vec![TableLayout::Dsm]))]
    pub index_pages: IndexPages,
    /// Nodes of all indexes together that the buffer pool has frames for, replaced by CLOCK; 0 is two of each level of each index, those used last, and 1 is too few.
    #[schemars(transform = takes(INDEX_FRAMES), transform = has_effect("index_pages", vec![IndexPages::Stored]))]
    pub index_frames: u32,
    /// Size of the database: 1 is 1 GB of text, 0.1 the PAX paper's 100 MB.
    #[schemars(transform = required, transform = takes(SCALE))]
    pub scale_factor: f64,
    /// Size of a page.
    #[schemars(transform = bytes, transform = takes(PAGE_BYTES))]
    pub page_bytes: u32,
    /// Buffer pool, of which the pages of a larger table share frames.
    #[schemars(transform = bytes, transform = takes(POOL_BYTES))]
    pub pool_bytes: u64,
    /// What the entries of a join's hash tables may take before partitions are destaged to storage; each of 32 partitions takes 8 KiB at once.
    #[schemars(transform = bytes, transform = takes(HEAP_BYTES), transform = has_effect("query", vec![Query::Q12, Query::Q14]))]
    pub heap_bytes: u64,
    /// Share of a page that must be free for a reorganization to be worthwhile.
    #[schemars(transform = takes(SHARE), transform = has_effect("layout", vec![TableLayout::Pax]))]
    pub threshold: f64,
    /// The tables that are loaded.
    #[schemars(transform = applies("query", vec![Query::Load]))]
    pub tables: Vec<Table>,
    /// Attributes of Lineitem that are tested; the first selects, the others hold always.
    #[schemars(transform = one_of(numbers_of_lineitem()), transform = applies("query", vec![Query::Rs, Query::Update]))]
    pub predicates: Vec<String>,
    /// Share of the line items that the first predicate selects, and as many more as have its last value.
    #[schemars(transform = takes(SHARE), transform = applies("query", vec![Query::Rs, Query::Update]))]
    pub selectivity: f64,
    /// Attributes of Lineitem that a range selection returns.
    #[schemars(transform = one_of(of_lineitem()), transform = applies("query", vec![Query::Rs]))]
    pub project: Vec<String>,
    /// Attributes of Lineitem that an update adds 1 to.
    #[schemars(transform = one_of(numbers_of_lineitem()), transform = applies("query", vec![Query::Update]))]
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
            scan_order: Order::default(),
            index_pages: IndexPages::default(),
            index_frames: 0,
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

impl TpchWorkload {
    /// Where the nodes of its indexes are.
    pub(super) fn index_nodes(&self) -> IndexNodes {
        IndexNodes {
            pages: self.index_pages,
            frames: self.index_frames,
        }
    }
}
