//! How much memory a workload on a tree takes.

use super::spec::IndexWorkload;
use crate::arena;
use crate::memory::Memory;
use crate::operations::{Maturity, decisive};
use crate::tree::plan::reservations;

impl IndexWorkload {
    /// Bytes of the tree once all insertions are done, and those that are reserved for it.
    fn tree_bytes(&self) -> (u64, u64) {
        let (shape, bulkloaded) = (self.shape(), self.bulkloaded_keys());
        let with_room = |room| reservations(&shape, bulkloaded, self.fills(), room);
        let inserted = self.done().most_insertions();
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
        let keys = self.done().drawn_bytes();
        // What changes the tree gets a copy of all that is reserved.
        let copy = if self.operation.changes() {
            reserved
        } else {
            0
        };
        let buffers = self.buffers().memory_bytes(self.threads);
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
