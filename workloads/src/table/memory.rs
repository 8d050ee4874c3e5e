//! How much memory a workload on a relation takes.

use super::spec::{PageLayout, TableOperation, TableWorkload};
use crate::memory::{LISTED_BYTES, Memory};
use crate::query::Reconstruction;

/// Bytes of a place in a list that grows.
const GROWING_BYTES: u64 = 24;
/// Bytes that the host's allocator and the list of pages take for a page.
const PAGE_EXTRA_BYTES: u64 = 36;
/// What a slotted page keeps with a record, and what a sub-relation keeps besides.
const SLOTTED_BYTES: u64 = 8;
const NUMBER_BYTES: u64 = 4;

impl TableWorkload {
    /// Bytes of the values of a record, strings at their longest.
    pub(super) fn value_bytes(&self) -> u64 {
        let longest = self.string_bytes.max(self.updated_string_bytes);
        let strings = self.strings.len() as u64;
        let numbers = u64::from(self.attributes).saturating_sub(strings);
        numbers * u64::from(self.attribute_bytes) + strings * u64::from(longest)
    }

    /// Bytes of pages with records of so many bytes each.
    fn pages(&self, record_bytes: u64) -> u64 {
        // Pages and records that do not fit each other are refused when the pages are made.
        let usable = self.page_bytes.saturating_sub(self.header_bytes);
        let per_page = (u64::from(usable) / record_bytes).max(1);
        let pages = self.records.div_ceil(per_page);
        pages.saturating_mul(u64::from(self.page_bytes) + PAGE_EXTRA_BYTES)
    }

    /// Estimates the memory of a run.
    pub(super) fn estimated_memory(&self) -> Memory {
        let (attributes, record) = (u64::from(self.attributes), self.value_bytes());
        let column = record.div_ceil(attributes);
        let indexed = self.reconstruction == Reconstruction::Index;
        let stored = match self.layout {
            PageLayout::Pax => self.pages(record + attributes.div_ceil(8)),
            PageLayout::Dsm if indexed => {
                attributes * self.pages(column + NUMBER_BYTES + SLOTTED_BYTES)
            }
            PageLayout::Dsm => attributes * self.pages(column),
            PageLayout::Nsm
            | PageLayout::StandardRow
            | PageLayout::SuperRow
            | PageLayout::SuperColumn => self.pages(record + SLOTTED_BYTES),
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
            (_, TableOperation::Delete | TableOperation::Update) => stored + places,
            // What was read, and where it is copied to.
            (_, TableOperation::Scatter) => 2 * stored,
            _ => 0,
        };
        Memory {
            building: stored + places,
            running: copy,
            piece: 0,
            parameter: "records",
            remedy: "take fewer records or attributes",
        }
    }
}
