//! How much memory a workload on TPC-H's tables takes.

use super::Table;
use super::spec::{Query, TableLayout, TpchWorkload};
use crate::memory::Memory;
use crate::query::Reconstruction;

/// What the generator of TPC-H keeps to draw texts from, whatever the scale factor.
const TEXT_POOL_BYTES: u64 = 300 << 20;

/// Bytes of the text of a table of TPC-H at scale factor 1.
fn table_bytes(table: Table) -> f64 {
    let millions = match table {
        Table::Lineitem => 760.0,
        Table::Orders => 175.0,
        Table::Partsupp => 120.0,
        Table::Part => 25.0,
        Table::Customer => 25.0,
        Table::Supplier | Table::Nation | Table::Region => 2.0,
    };
    millions * 1e6
}

impl TpchWorkload {
    /// Estimates the memory of a run.
    pub(super) fn estimated_memory(&self) -> Memory {
        let tables = match self.query {
            Query::Load => self.tables.clone(),
            _ => self.needs(),
        };
        let text: f64 = tables.into_iter().map(table_bytes).sum();
        let spread = match (self.layout, self.reconstruction) {
            (TableLayout::Dsm, Reconstruction::Index) => 2.9,
            (TableLayout::Dsm, _) => 1.1,
            (TableLayout::Nsm | TableLayout::Pax, _) => 1.25,
        };
        let stored = TEXT_POOL_BYTES + (text * spread * self.scale_factor) as u64;
        let changed = self.query == Query::Update;
        let heap = match self.query {
            Query::Q12 | Query::Q14 => self.heap_bytes,
            _ => 0,
        };
        Memory {
            building: stored,
            running: heap + if changed { stored } else { 0 },
            piece: heap,
            parameter: "scale_factor",
            remedy: "take a smaller scale factor",
        }
    }
}
