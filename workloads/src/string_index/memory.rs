//! How much memory a workload on an index of strings takes.

use super::format::Format;
use super::spec::{StringIndexWorkload, Structure};
use crate::memory::Memory;
use crate::operations::{Maturity, decisive};
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
        let inserted = self.done().most_insertions();
        let later = self.keys - self.bulkloaded_keys() + inserted;
        // Pages are two thirds full when they have grown for a while.
        let grown = (later as f64 * page_bytes as f64 / self.fanout() * 1.5) as u64;
        let used = reserved.min((built.iter().sum::<u64>() * page_bytes).saturating_add(grown));
        let order = match self.maturity {
            Maturity::Mature => self.keys * 4,
            Maturity::Bulkloaded => 0,
        };
        let keys = self.done().drawn_bytes();
        // What changes the index gets a copy of all that is reserved, or of the pages that it changes.
        let copy = match self.pool_frames {
            0 if self.operation.changes() => reserved,
            0 => 0,
            frames => frames.min(most.max(FEWEST_FRAMES)) * page_bytes,
        };
        let buffers = self.buffers().memory_bytes(1);
        let (parameter, remedy) = decisive(self.operations, self.keys);
        Memory {
            building: used.saturating_add(order),
            running: keys.saturating_add(copy).saturating_add(buffers),
            piece: reserved,
            parameter,
            remedy,
        }
    }
}
