//! How much work a workload on an index in pages is.

use super::kept::MATURING;
use super::spec::DiskIndexWorkload;
use crate::family::Family;
use crate::operations::Maturity;
use crate::paged_tree::Shape;
use crate::paged_tree::structure::Structure;
use crate::pool::UpwardMoves;
use crate::work::{Work, warming};

/// Events of a binary search over one bit of the number of keys, and of reaching a page through the pool.
const PER_BIT: f64 = 3.2;
const PER_PAGE: f64 = 22.0;
/// Events of moving one word, and of a tupleID that a scan copies.
const PER_MOVED_WORD: f64 = 3.0;
/// Words of a byte that is copied as by `memcpy`.
const PER_COPIED_BYTE: f64 = 1.0 / 8.0;
const PER_TUPLE: f64 = 5.0;
/// Events of moving an entry of a slotted page when it is split.
const PER_SLOTTED_ENTRY: f64 = 10.0;
/// Events of a page split, and of one of a node, besides those of entries that move.
const PER_PAGE_SPLIT: f64 = 250.0;
const PER_NODE_SPLIT: f64 = 160.0;

/// Of so many things that are split when they are first hit, those that an insertion splits.
fn first_hits(things: f64, insertions: f64) -> f64 {
    things * (1.0 - (-insertions / things).exp()) / insertions
}

impl DiskIndexWorkload {
    /// Estimates the work of a run.
    pub(super) fn estimated_work(&self) -> Work {
        let keys = self.keys.max(2) as f64;
        let fanout = self.shape().fanout(&self.sizes()) as f64;
        let levels = ((keys / fanout).max(1.0).ln() / fanout.ln()).ceil() + 1.0;
        let slots = if self.structure == Structure::Slotted {
            1.0
        } else {
            0.0
        };
        let search = (PER_BIT + slots) * keys.log2() + PER_PAGE * levels + self.prefetched();
        let scan = search + (PER_TUPLE + slots) * self.done().mean_length();
        let done = self.done();
        let each = done.mean(search, scan, search + self.changing(search));
        let warm_up = warming(self.warm_up(), done.mean(search, scan, search));
        let later = if self.grows() {
            keys - self.bulkloaded_keys() as f64
        } else {
            0.0
        };
        let events = each * self.operations as f64 + warm_up;
        Work::estimate(keys + MATURING as f64 * later, events, 0.0)
    }

    /// Lines that a search prefetches on the way: two levels of nodes or sub-arrays, more or less.
    fn prefetched(&self) -> f64 {
        let lines = match self.structure {
            Structure::Slotted | Structure::Array => 0,
            Structure::MicroIndex => 4 * self.subarray_lines,
            Structure::DiskFirst => 2 * (self.nonleaf_lines + self.leaf_lines),
            Structure::CacheFirst => 3 * self.node_lines,
        };
        f64::from(lines)
    }

    /// Entries of a node, or of a page that has no nodes.
    fn node_entries(&self) -> f64 {
        let sizes = self.sizes();
        let entries = match self.shape() {
            Shape::DiskFirst(tree) => tree.leaf_fanout,
            Shape::CacheFirst(nodes) => nodes.leaf_fanout,
            shape => shape.fanout(&sizes) as u32,
        };
        f64::from(entries).min(self.keys as f64)
    }

    /// Estimates the events of an insertion or deletion, once its place is found.
    fn changing(&self, search: f64) -> f64 {
        let entry_bytes = f64::from(self.sizes().entry());
        let insertion = self.operation.inserts();
        let full = self.maturity == Maturity::Bulkloaded && self.fill > 0.95;
        let filled = match self.maturity {
            Maturity::Mature => 0.7,
            // What is full is split when it is first hit.
            Maturity::Bulkloaded if full && insertion => 0.5,
            Maturity::Bulkloaded => self.fill,
        };
        let (up, down) = match self.upward_moves {
            UpwardMoves::Bytes => (1.0, PER_COPIED_BYTE),
            UpwardMoves::ThroughBuffer => (2.0 * PER_COPIED_BYTE, PER_COPIED_BYTE),
        };
        // Slots are in descending order, and two bytes each.
        let words = match (self.structure, insertion) {
            (Structure::Slotted, true) => 2.0 * down,
            (Structure::Slotted, false) => 2.0 * up,
            (_, true) => entry_bytes * up,
            (_, false) => entry_bytes * down,
        };
        let entries = self.node_entries();
        let moves = entries * filled / 2.0 * words * PER_MOVED_WORD;
        if !(full && insertion) {
            return moves;
        }
        let insertions = self.done().insertions();
        let fanout = self.shape().fanout(&self.sizes()) as f64;
        let copied = entry_bytes * PER_COPIED_BYTE * PER_MOVED_WORD;
        let (page, nodes) = match self.structure {
            Structure::Slotted => (PER_SLOTTED_ENTRY, 0.0),
            Structure::Array | Structure::MicroIndex => (copied, 0.0),
            // A leaf node and its parent's entries.
            Structure::DiskFirst => (
                copied,
                search + entries / 2.0 * copied + PER_NODE_SPLIT / 2.0,
            ),
            Structure::CacheFirst => (copied, 2.0 * entries * copied + PER_NODE_SPLIT),
        };
        let pages = (self.keys as f64 / fanout).max(1.0);
        let halving = fanout / 2.0 * page + PER_PAGE_SPLIT + search;
        let node_splits = first_hits((self.keys as f64 / entries).max(1.0), insertions);
        moves + first_hits(pages, insertions) * halving + node_splits * nodes
    }
}
