//! How much memory a workload on a tree takes.

use super::spec::IndexWorkload;
use crate::arena;
use crate::memory::{DRAWN_BYTES, LISTED_BYTES, Memory};
use crate::operations::{Maturity, Operation};
use crate::tree::plan::reservations;

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

    /// Estimates the memory of a run.
    pub(super) fn estimated_memory(&self) -> Memory {
        let (used, reserved) = self.tree_bytes();
        let order = match self.maturity {
            Maturity::Mature => self.keys * 4,
            Maturity::Bulkloaded => 0,
        };
        let keys = match self.operation {
            Operation::Search => self.operations * LISTED_BYTES,
            // Each thread has a part of every scan.
            Operation::Scan => self.operations * LISTED_BYTES * u64::from(self.threads),
            Operation::Insert | Operation::Delete => self.operations * DRAWN_BYTES,
        };
        // What changes the tree gets a copy of all that is reserved.
        let copy = match self.operation {
            Operation::Insert | Operation::Delete => reserved,
            Operation::Search => 0,
            Operation::Scan => self.buffer_bytes * u64::from(self.threads),
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
