//! How much work a workload on TPC-H's tables is.

use super::spec::{Query, TableLayout, TpchWorkload};
use crate::query::Reconstruction;
use crate::tree::EVENTS_PER_KEY_BIT;
use crate::work::Work;

/// Line items of TPC-H at scale factor 1, and records of all its tables.
const LINE_ITEMS: f64 = 6_000_000.0;
const RECORDS: f64 = 8_660_000.0;
/// Steps of generating a record and putting it into pages.
pub(super) const PER_RECORD: u64 = 16;

impl TpchWorkload {
    /// Estimates the work of a run.
    pub(super) fn estimated_work(&self) -> Work {
        let items = LINE_ITEMS * self.scale_factor;
        let joined =
            self.layout == TableLayout::Dsm && self.reconstruction == Reconstruction::Index;
        // What a value of a selected line item takes: a look-up of its record number, or a step within the page.
        let value = |within| {
            if joined {
                EVENTS_PER_KEY_BIT * items.max(2.0).log2()
            } else {
                within
            }
        };
        // How many times as many events a query has if it finds values so: fitted, as the rest.
        let finding = |factor| if joined { factor } else { 1.0 };
        let selected = self.selectivity * items;
        let events = match self.query {
            Query::Q1 => items * 51.0 * finding(8.8),
            Query::Q6 => items * 6.0 * finding(3.5),
            Query::Q12 => items * 12.0 * finding(14.0),
            Query::Q14 => items * 6.0 * finding(1.7),
            Query::Rs => items * 6.0 + selected * (4.0 + self.project.len() as f64 * value(2.2)),
            Query::Update => items * 6.0 + selected * self.change.len() as f64 * value(5.3),
            Query::Load => {
                let per_record = match self.layout {
                    TableLayout::Nsm => 26.0,
                    TableLayout::Pax => 80.0,
                    TableLayout::Dsm => 170.0,
                };
                RECORDS * self.scale_factor * per_record
            }
        };
        Work::estimate(PER_RECORD as f64 * items, events, 2.0 * items)
    }
}
