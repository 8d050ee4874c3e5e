//! How much of the host's memory a workload takes: known before anything is built, so that what does not fit is refused and not
//! half done.
//!
//! Trees and pages of fixed-length records follow from their formats; the rest was fitted, and a test holds it to what runs take.

use crate::arena;
use crate::query::Reconstruction;
use crate::spec::{IndexWorkload, Maturity, Operation, TlbState, Workload};
use crate::table::{PageLayout, TableOperation, TableWorkload};
use crate::tpch::{Query, Table, TableLayout, TpchWorkload};
use crate::tree::plan::reservations;
use crate::validate::WorkloadError;
use traces::host_memory::{Free, size};

/// Bytes of the host's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// For what the workload runs on; nothing if it was built before.
    pub building: u64,
    /// For the run besides.
    pub running: u64,
    /// Of these, what is asked of the system in one piece, whether or not all of it is touched.
    pub piece: u64,
}

impl Workload {
    /// Estimates the memory of a run in simulated memory.
    #[must_use]
    pub fn memory(&self) -> Memory {
        match self {
            Self::Index(index) => index.memory(),
            Self::PointerArray(array) => lines(array.lines, array.pages),
            Self::PointerChase(chase) => {
                let own = chase.tlb == TlbState::Cold;
                lines(chase.lines, if own { 0 } else { chase.pages })
            }
            Self::Table(table) => table.memory(),
            Self::Tpch(tpch) => tpch.memory(),
        }
    }

    /// Checks that a workload has the memory that it takes; what it runs on may have been built before.
    ///
    /// # Errors
    /// It has not: the parameter that decides, what it would take and what is free.
    pub fn check_memory(&self, free: Free, built: bool) -> Result<(), WorkloadError> {
        let Memory {
            building,
            running,
            piece,
        } = self.memory();
        let takes = if built { running } else { building + running };
        let (path, less) = self.decides();
        let message = if takes > free.memory {
            format!(
                "would take about {}, and {} of memory are free; {less}, or run fewer processes at once",
                size(takes),
                size(free.memory)
            )
        } else if !built && piece > free.piece {
            format!(
                "needs {} in one piece, and the system gives {} at most; {less}",
                size(piece),
                size(free.piece)
            )
        } else {
            return Ok(());
        };
        Err(WorkloadError::new(path, message))
    }

    /// The parameter that decides about memory, and what to do about it.
    fn decides(&self) -> (&'static str, &'static str) {
        match self {
            Self::Index(index) if index.operations > index.keys => {
                ("operations", "take fewer operations")
            }
            Self::Index(_) => ("keys", "take fewer keys"),
            Self::PointerArray(_) | Self::PointerChase(_) => ("lines", "take fewer lines"),
            Self::Table(_) => ("records", "take fewer records or attributes"),
            Self::Tpch(_) => ("scale_factor", "take a smaller scale factor"),
        }
    }
}

/// Bytes of a number that is drawn without repetition: in the list of them, and in the table of those that have moved.
const DRAWN_BYTES: u64 = 80;
/// Bytes of a key, a line or a place in a list; and of one in a list that grows.
const LISTED_BYTES: u64 = 8;
const GROWING_BYTES: u64 = 24;
/// Bytes that the host's allocator and the list of pages take for a page.
const PAGE_EXTRA_BYTES: u64 = 36;

fn lines(lines: u64, pages: u64) -> Memory {
    Memory {
        building: lines * (DRAWN_BYTES + LISTED_BYTES) + pages * LISTED_BYTES,
        running: 0,
        piece: 0,
    }
}

impl IndexWorkload {
    /// Bytes of the tree once all insertions are done, and those that are reserved for it.
    fn tree_bytes(&self) -> (u64, u64) {
        let (shape, bulkloaded) = (self.shape(), self.bulkloaded_keys());
        let with_room = |room| reservations(&shape, bulkloaded, self.fills(), room);
        let inserted = match self.operation {
            Operation::Insert => self.operations,
            _ => 0,
        };
        let later = self.keys - bulkloaded + inserted;
        let used = with_room(later).iter().fold(0_u64, |sum, level| {
            sum.saturating_add(level.object_bytes.saturating_mul(level.objects))
        });
        let reserved = arena::place(&with_room(self.room()));
        let end = reserved
            .last()
            .map_or(0, |last| last.base + last.size_bytes);
        (used, end)
    }

    fn memory(&self) -> Memory {
        let (used, reserved) = self.tree_bytes();
        let order = match self.maturity {
            Maturity::Mature => self.keys * 4,
            Maturity::Bulkloaded => 0,
        };
        let keys = match self.operation {
            Operation::Search | Operation::Scan => self.operations * LISTED_BYTES,
            Operation::Insert | Operation::Delete => self.operations * DRAWN_BYTES,
        };
        // What changes the tree gets a copy of all that is reserved.
        let copy = match self.operation {
            Operation::Insert | Operation::Delete => reserved,
            Operation::Search => 0,
            Operation::Scan => self.buffer_bytes,
        };
        Memory {
            building: used.saturating_add(order),
            running: keys.saturating_add(copy),
            piece: reserved,
        }
    }
}

/// What a slotted page keeps with a record, and what a sub-relation keeps besides.
const SLOTTED_BYTES: u64 = 8;
const NUMBER_BYTES: u64 = 4;

impl TableWorkload {
    /// Bytes of pages with records of so many bytes each.
    fn pages(&self, record_bytes: u64) -> u64 {
        // Pages and records that do not fit each other are refused when the pages are made.
        let usable = self.page_bytes.saturating_sub(self.header_bytes);
        let per_page = (u64::from(usable) / record_bytes).max(1);
        let pages = self.records.div_ceil(per_page);
        pages.saturating_mul(u64::from(self.page_bytes) + PAGE_EXTRA_BYTES)
    }

    fn memory(&self) -> Memory {
        let (attributes, value) = (u64::from(self.attributes), u64::from(self.attribute_bytes));
        let indexed = self.reconstruction == Reconstruction::Index;
        let stored = match self.layout {
            PageLayout::Nsm => self.pages(attributes * value + SLOTTED_BYTES),
            PageLayout::Pax => self.pages(attributes * value + attributes.div_ceil(8)),
            PageLayout::Dsm if indexed => {
                attributes * self.pages(value + NUMBER_BYTES + SLOTTED_BYTES)
            }
            PageLayout::Dsm => attributes * self.pages(value),
            PageLayout::StandardRow | PageLayout::SuperRow | PageLayout::SuperColumn => {
                self.pages(attributes * value + SLOTTED_BYTES)
            }
        };
        // Where each record is, and an index of that.
        let places = match (self.layout, self.operation) {
            (PageLayout::Dsm, _) if indexed => {
                self.records * attributes * (GROWING_BYTES + LISTED_BYTES)
            }
            (PageLayout::Nsm | PageLayout::Pax, TableOperation::Point) => {
                self.records * (GROWING_BYTES + LISTED_BYTES)
            }
            _ => 0,
        };
        let copy = match (self.layout, self.operation) {
            (PageLayout::Nsm | PageLayout::Pax, TableOperation::Update) => stored,
            _ => 0,
        };
        Memory {
            building: stored + places,
            running: copy,
            piece: 0,
        }
    }
}

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
    fn memory(&self) -> Memory {
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
            piece: 0,
        }
    }
}
