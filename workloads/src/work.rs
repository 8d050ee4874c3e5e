//! How much work a workload is, before it runs: what progress and the time left are estimated from, and nothing else.
//!
//! The numbers were fitted to the events that the kernels emit; a test holds them to that.

use crate::query::Reconstruction;
use crate::spec::{IndexWorkload, Maturity, Operation, WarmUp, Workload};
use crate::table::{PageLayout, TableOperation, TableWorkload};
use crate::tpch::{Query, TableLayout, TpchWorkload};
use serde::Serialize;

/// An estimate of the work of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Work {
    /// Steps of building what the workload runs on, each about as long as an event; nothing if it was built before.
    pub building: u64,
    /// Events that the run emits, calls among them.
    pub events: u64,
    /// Calls of the host DBMS among the events; a machine with a DBMS profile spends most of its time on them.
    pub calls: u64,
}

impl Workload {
    /// Estimates the work of running this on a machine.
    #[must_use]
    pub fn work(&self) -> Work {
        match self {
            Self::Index(index) => index.work(),
            Self::PointerArray(array) => lines(array.lines, array.pages, 4.0),
            Self::PointerChase(chase) => lines(chase.lines, chase.pages, 2.0),
            Self::Table(table) => table.work(),
            Self::Tpch(tpch) => tpch.work(),
        }
    }
}

fn estimate(building: f64, events: f64, calls: f64) -> Work {
    // Conversions saturate: nothing that a workload can say overflows.
    Work {
        building: building as u64,
        events: events as u64,
        calls: calls as u64,
    }
}

fn lines(lines: u64, pages: u64, per_line: f64) -> Work {
    estimate(0.0, lines as f64 * per_line + pages as f64, 0.0)
}

/// Events of a binary search over one bit of the number of keys, and of the steps to the next node: a bit halves them.
const PER_KEY_BIT: f64 = 4.7;
/// Events of moving one key and its pointer.
const PER_MOVED_KEY: f64 = 6.0;
/// Events of a tupleID that a scan copies.
const PER_TUPLE: f64 = 5.5;
/// Steps of inserting a key into a growing tree, against bulkloading it.
pub(crate) const MATURING: u64 = 20;

/// Events that finding the length of a warm-up, and then the warm-up, take together: between a hundred times less and
/// twenty times more, as the machine's caches are.
const FINDING_AND_WARMING: f64 = 6e6;

/// Events of a warm-up, one of whose operations has so many.
fn warming(warm_up: Option<WarmUp>, each: f64) -> f64 {
    match warm_up {
        Some(WarmUp::Operations(operations)) => operations as f64 * each,
        Some(WarmUp::Auto) => FINDING_AND_WARMING.max(4.0 * each),
        None => 0.0,
    }
}

impl IndexWorkload {
    fn work(&self) -> Work {
        let keys = self.keys.max(2) as f64;
        let words = f64::from(self.tree.node_lines) * f64::from(self.line_bytes)
            / f64::from(self.word_bytes);
        let keys_per_node = (words / 2.0).max(2.0);
        let levels = (keys.ln() / keys_per_node.ln()).ceil();
        let prefetched = if self.tree.prefetch { 0.5 } else { 0.0 };
        let search =
            PER_KEY_BIT * keys.log2() + prefetched * f64::from(self.tree.node_lines) * levels;
        // Half of the keys of a leaf lie behind the one that comes or goes; full leaves are split.
        let full = self.maturity == Maturity::Bulkloaded && self.fill > 0.95;
        let filled = if full { 1.0 } else { self.fill.min(0.7) };
        let moves = PER_MOVED_KEY * keys_per_node * filled / 2.0;
        let each = match self.operation {
            Operation::Search => search,
            Operation::Insert if full => search + 2.0 * moves + 60.0,
            Operation::Insert | Operation::Delete => search + moves,
            Operation::Scan => search + PER_TUPLE * self.range as f64,
        };
        let later = keys - self.bulkloaded_keys() as f64;
        let warm_up = match self.operation {
            Operation::Scan => warming(self.warm_up(), each),
            _ => warming(self.warm_up(), search),
        };
        let events = each * self.operations as f64 + warm_up;
        estimate(keys + MATURING as f64 * later, events, 0.0)
    }
}

impl TableWorkload {
    fn work(&self) -> Work {
        let rows: f64 = if self.abstraction.is_empty() {
            self.records as f64
        } else {
            self.abstraction
                .iter()
                .map(|&tuples| tuples as f64)
                .product()
        };
        let (columns, projected) = (f64::from(self.attributes), f64::from(self.projected));
        let building = rows * columns;
        let look_up = PER_KEY_BIT * rows.max(2.0).log2();
        let tests = f64::from(self.predicates) - 1.0;
        let record = if self.layout == PageLayout::Pax {
            5.0
        } else {
            6.0
        };
        let joined = self.layout == PageLayout::Dsm && self.reconstruction == Reconstruction::Index;
        let value = if joined { look_up } else { 3.0 };
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
            (_, PageLayout::StandardRow) => (rows, rows * (4.0 + projected)),
            (_, PageLayout::SuperRow) => (rows, rows * (2.0 + projected)),
            (_, PageLayout::SuperColumn) => (rows, rows * 3.0 * projected),
            (operation, _) => {
                let change = if operation == TableOperation::Update {
                    2.0
                } else {
                    1.0
                };
                let test = if joined { look_up } else { 4.0 };
                let selected = projected * value * change + tests * test;
                (rows, rows * (record + self.selectivity * selected))
            }
        };
        let operations = match self.operation {
            TableOperation::Point => self.point_queries as f64,
            TableOperation::Scan | TableOperation::Update => 1.0,
        };
        let warm_up = warming(self.warm_up(), events / operations);
        let calls = looks * (1.0 + warm_up / events);
        estimate(building, events + warm_up, calls)
    }
}

/// Line items of TPC-H at scale factor 1, and records of all its tables.
const LINE_ITEMS: f64 = 6_000_000.0;
const RECORDS: f64 = 8_660_000.0;
/// Steps of generating a record and putting it into pages.
pub(crate) const PER_RECORD: u64 = 16;

impl TpchWorkload {
    fn work(&self) -> Work {
        let items = LINE_ITEMS * self.scale_factor;
        let joined =
            self.layout == TableLayout::Dsm && self.reconstruction == Reconstruction::Index;
        // What a value of a selected line item takes: a look-up of its record number, or a step within the page.
        let value = |within| {
            if joined {
                PER_KEY_BIT * items.max(2.0).log2()
            } else {
                within
            }
        };
        // How many times as many events a query has if it finds values so: fitted, as the rest.
        let finding = |factor| if joined { factor } else { 1.0 };
        let selected = self.selectivity * items;
        let events = match self.query {
            Query::Q1 => items * 41.0 * finding(8.8),
            Query::Q6 => items * 6.0 * finding(3.5),
            Query::Q12 => items * 12.0 * finding(7.5),
            Query::Q14 => items * 6.0 * finding(1.7),
            Query::Rs => items * 6.0 + selected * (4.0 + self.project.len() as f64 * value(2.2)),
            Query::Update => items * 6.0 + selected * self.change.len() as f64 * value(5.3),
            Query::Load => {
                let per_record = match self.layout {
                    TableLayout::Nsm => 5.0,
                    TableLayout::Pax => 43.0,
                    TableLayout::Dsm => 67.0,
                };
                RECORDS * self.scale_factor * per_record
            }
        };
        estimate(PER_RECORD as f64 * items, events, 2.0 * items)
    }
}
