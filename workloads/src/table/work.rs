//! How much work a workload on a relation is.

use super::spec::{PageLayout, TableOperation, TableWorkload};
use crate::family::Family;
use crate::page::COPY_WORD;
use crate::query::Reconstruction;
use crate::tree::EVENTS_PER_KEY_BIT;
use crate::work::{Work, warming};

impl TableWorkload {
    /// Estimates the work of a run.
    pub(super) fn estimated_work(&self) -> Work {
        let rows: f64 = if self.abstraction.is_empty() {
            self.records as f64
        } else {
            self.abstraction
                .iter()
                .map(|&tuples| tuples as f64)
                .product()
        };
        let (columns, projected) = (f64::from(self.attributes), self.wanted().len() as f64);
        let building = rows * columns;
        let look_up = EVENTS_PER_KEY_BIT * rows.max(2.0).log2();
        let tests = f64::from(self.predicates) - 1.0;
        let record = if self.layout == PageLayout::Pax {
            5.0
        } else {
            6.0
        };
        let joined = self.layout == PageLayout::Dsm && self.reconstruction == Reconstruction::Index;
        // The bit of a null, and a branch on it.
        let bit = if self.nullable.is_empty() { 0.0 } else { 2.0 };
        let value = if joined { look_up } else { 3.0 } + bit;
        let (looks, events) = match (self.operation, self.layout) {
            (TableOperation::Point, _) => {
                let queries = self.point_queries as f64;
                let point = match self.layout {
                    PageLayout::Dsm if joined => look_up * projected,
                    PageLayout::Dsm => 8.0 * projected,
                    _ => look_up + 3.5 * projected,
                };
                (queries, queries * point)
            }
            (TableOperation::Scatter, _) => {
                // A word is read, written, and followed by a branch.
                let words = rows * self.value_bytes() as f64 / COPY_WORD as f64;
                (0.0, 3.0 * words)
            }
            (_, PageLayout::StandardRow) => (rows, rows * (4.0 + projected)),
            (_, PageLayout::SuperRow) => (rows, rows * (2.0 + projected)),
            (_, PageLayout::SuperColumn) => (rows, rows * 3.0 * projected),
            (operation, _) => {
                let change = match operation {
                    TableOperation::Scan | TableOperation::Point | TableOperation::Scatter => 1.0,
                    TableOperation::Update => 2.0,
                    TableOperation::Delete => 3.0,
                };
                let test = if joined { look_up } else { 4.0 };
                let selected = projected * value * change + tests * test;
                (rows, rows * (record + self.selectivity * selected))
            }
        };
        let operations = match self.operation {
            TableOperation::Point => self.point_queries as f64,
            _ => 1.0,
        };
        let warm_up = warming(self.warm_up(), events / operations);
        let calls = looks * (1.0 + warm_up / events);
        Work::estimate(building, events + warm_up, calls)
    }
}
