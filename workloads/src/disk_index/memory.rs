//! How much memory a workload on an index in pages takes.

use super::spec::DiskIndexWorkload;
use crate::memory::Memory;
use crate::operations::decisive;
use crate::paged_tree::plan::Plan;
use crate::pool::coloring::colored_bytes;
use crate::pool::{HOME_BYTES, MET_BYTES};

impl DiskIndexWorkload {
    /// The pages of the index, with room for so many insertions.
    pub(super) fn plan(&self, room: u64) -> Plan {
        self.shape()
            .plan(&self.sizes(), self.bulkloaded_keys(), self.fill, room)
    }

    /// Estimates the memory of a run.
    pub(super) fn estimated_memory(&self) -> Memory {
        let page_bytes = u64::from(self.page_bytes);
        let bytes = |plan: &Plan| plan.most.iter().sum::<u64>().saturating_mul(page_bytes);
        let reserved = bytes(&self.plan(self.room()));
        let inserted = self.done().most_insertions();
        let later = self.keys - self.bulkloaded_keys() + inserted;
        let built = self.plan(0).built.iter().sum::<u64>() * page_bytes;
        // Pages are two thirds full when they have grown for a while.
        let fanout = self.shape().fanout(&self.sizes()) as u64;
        let grown = later.saturating_mul(page_bytes) / fanout * 3 / 2;
        let used = reserved.min(built.saturating_add(grown));
        let order = if self.grows() { self.keys * 4 } else { 0 };
        let keys = self.done().drawn_bytes();
        // What changes the index gets a copy of all that is reserved, or of the pages that it changes.
        let copy = match self.frames() {
            Some(frames) => u64::from(frames) * page_bytes,
            None if self.operation.changes() => reserved,
            None => 0,
        };
        let buffers = self.buffers().memory_bytes(self.threads);
        // What each thread knows of frames of a pool that is shared, and of pages if it has an index of its own.
        let homes = if self.is_changing() {
            0
        } else {
            reserved / page_bytes * HOME_BYTES
        };
        let each = homes + self.frames().map_or(0, u64::from) * MET_BYTES;
        let known = if self.is_shared() {
            u64::from(self.threads).saturating_mul(each)
        } else {
            0
        };
        // Frames that keep off control structures are others than those the index was built in.
        let colored = colored_bytes(
            self.coloring_way_bytes,
            self.page_bytes,
            &self.plan(self.room()).most,
        );
        let moved = if colored > 0 { used } else { 0 };
        let (parameter, remedy) = decisive(self.operations, self.keys);
        Memory {
            building: used.saturating_add(order),
            running: keys
                .saturating_add(copy)
                .saturating_add(moved)
                .saturating_add(buffers)
                .saturating_add(known),
            piece: reserved.max(colored),
            parameter,
            remedy,
        }
    }
}
