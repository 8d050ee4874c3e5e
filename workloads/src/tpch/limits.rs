//! The numbers and names that parameters of TPC-H's queries take.

use super::Table;
use crate::bounds::{Between, PowersOfTwo};
use crate::page::{MOST_PAGE_BYTES, Type};

/// Databases. In the smallest every table has records. The largest is 4 GB of text, which take 11 GB of memory when they are
/// decomposed. Sums of charges, in millionths, fit their 64 bits up to twenty times as much.
pub(super) const SCALE: Between<f64> = Between {
    least: 0.001,
    most: 4.0,
};
/// Largest buffer pool and heap.
const MOST_BYTES: u64 = 1 << 36;
/// Pages: every table's longest record fits the smallest in every layout.
pub(super) const PAGE_BYTES: PowersOfTwo = PowersOfTwo {
    least: 512,
    most: MOST_PAGE_BYTES,
};
/// Fewest frames of the buffer pool: one for each attribute of a table, and more.
pub(super) const LEAST_FRAMES: u64 = 64;
/// Buffer pools.
pub(super) const POOL_BYTES: Between<u64> = Between {
    least: LEAST_FRAMES * PAGE_BYTES.least as u64,
    most: MOST_BYTES,
};
/// Heaps: the smallest has two chunks.
pub(super) const HEAP_BYTES: Between<u64> = Between {
    least: 1 << 14,
    most: MOST_BYTES,
};

/// Names of the attributes of Lineitem.
pub(super) fn of_lineitem() -> Vec<String> {
    fitting(|_| true)
}

/// Names of the attributes of Lineitem that are numbers.
pub(super) fn numbers_of_lineitem() -> Vec<String> {
    fitting(|kind| matches!(kind, Type::Int32 | Type::Int64 | Type::Date))
}

fn fitting(fit: impl Fn(Type) -> bool) -> Vec<String> {
    let schema = Table::Lineitem.schema();
    let attributes = schema.attributes().iter();
    attributes
        .filter(|attribute| fit(attribute.kind))
        .map(|attribute| attribute.name.to_string())
        .collect()
}
