//! How much memory a workload on an index of strings takes.

use super::format::Format;
use super::spec::{StringIndexWorkload, Structure};
use crate::memory::{DRAWN_BYTES, LISTED_BYTES, Memory};
use crate::operations::{Maturity, Operation};
use crate::paged_tree::plan::most_pages;
use crate::pool::limits::FEWEST_FRAMES;

impl StringIndexWorkload {
    /// Fewest insertions that split a page that came out of a split.
    fn room_after_split(&self) -> usize {
        match self.in_page_tree() {
            Some(format) if self.structure == Structure::InPageTree => format.room_after_split(),
            _ => self.slotted_page().room_after_split(),
        }
    }

    /// Pages that the bulkload makes, more or less, by level.
    fn built_pages(&self) -> Vec<u64> {
        let fanout = (self.fanout() * self.fill).max(2.0);
        let above = |below: u64| ((below as f64 / fanout).ceil() as u64).max(1);
        let mut built = vec![above(self.bulkloaded_keys())];
        while built[built.len() - 1] > 1 {
            built.push(above(built[built.len() - 1]));
        }
        built
    }

    /// Estimates the memory of a run.
    pub(super) fn estimated_memory(&self) -> Memory {
        let page_bytes = u64::from(self.page_bytes);
        let built = self.built_pages();
        let most: u64 = most_pages(self.room_after_split(), &built, self.room())
            .iter()
            .sum();
        let reserved = most.saturating_mul(page_bytes);
        let inserted = match self.operation {
            Operation::Insert => self.operations,
            _ => 0,
        };
        let later = self.keys - self.bulkloaded_keys() + inserted;
        // Pages are two thirds full when they have grown for a while.
        let grown = (later as f64 * page_bytes as f64 / self.fanout() * 1.5) as u64;
        let used = reserved.min((built.iter().sum::<u64>() * page_bytes).saturating_add(grown));
        let order = match self.maturity {
            Maturity::Mature => self.keys * 4,
            Maturity::Bulkloaded => 0,
        };
        let keys = match self.operation {
            Operation::Search | Operation::Scan => self.operations * LISTED_BYTES,
            Operation::Insert | Operation::Delete => self.operations * DRAWN_BYTES,
        };
        // What changes the index gets a copy of all that is reserved, or of the pages that it changes.
        let copy = match (self.operation, self.pool_frames) {
            (Operation::Insert | Operation::Delete, 0) => reserved,
            (Operation::Search, 0) => 0,
            (Operation::Scan, 0) => self.buffer_bytes,
            (_, frames) => frames.min(most.max(FEWEST_FRAMES)) * page_bytes,
        };
        let (parameter, remedy) = if self.operations > self.keys {
            ("operations", "take fewer operations")
        } else {
            ("keys", "take fewer keys")
        };
        Memory {
            building: used.saturating_add(order),
            running: keys.saturating_add(copy),
            piece: reserved,
            parameter,
            remedy,
        }
    }
}
