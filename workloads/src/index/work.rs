//! How much work a workload on a tree is.

use super::spec::IndexWorkload;
use crate::family::Family;
use crate::operations::{Maturity, Operation};
use crate::tree::EVENTS_PER_KEY_BIT;
use crate::tree::layout::{Kind, Shape};
use crate::tree::plan::level_nodes;
use crate::work::{Work, warming};

/// Events of moving one key and its pointer.
const PER_MOVED_KEY: f64 = 6.0;
/// Events of a tupleID that a scan copies.
const PER_TUPLE: f64 = 5.5;
/// Events of moving one word of a node that is copied with its group.
const PER_COPIED_WORD: f64 = 3.1;
/// Steps of inserting a key into a growing tree, against bulkloading it.
const MATURING: u64 = 20;
/// Words of copied nodes that are as much work as a step.
const COPIED_PER_STEP: f64 = 8.0;

/// Steps of inserting a key into a growing tree of `shape`, against bulkloading it.
pub(super) fn maturing(shape: &Shape) -> u64 {
    MATURING + (splits_per_insertion(shape) * copied_words(shape) / COPIED_PER_STEP) as u64
}

/// Leaves that a random insertion splits when the tree has grown for a while: leaves are ln 2 full.
fn splits_per_insertion(shape: &Shape) -> f64 {
    1.0 / (std::f64::consts::LN_2 * shape.node(0).max_keys as f64)
}

/// Words that a split of a leaf copies with its group: groups are between half full and full.
fn copied_words(shape: &Shape) -> f64 {
    match shape.kind {
        Kind::BPlus => 0.0,
        Kind::CsbPlus => {
            0.75 * (shape.max_children(1) * (shape.node_bytes() / shape.word_bytes) as usize) as f64
        }
    }
}

impl IndexWorkload {
    /// Estimates the work of a run.
    pub(super) fn estimated_work(&self) -> Work {
        let keys = self.keys.max(2) as f64;
        let words = f64::from(self.tree.node_lines) * f64::from(self.line_bytes)
            / f64::from(self.word_bytes);
        let keys_per_node = (words / 2.0).max(2.0);
        let levels = (keys.ln() / keys_per_node.ln()).ceil();
        let prefetched = if self.tree.prefetch { 0.5 } else { 0.0 };
        let search = EVENTS_PER_KEY_BIT * keys.log2()
            + prefetched * f64::from(self.tree.node_lines) * levels;
        // Half of the keys of a leaf lie behind the one that comes or goes; full leaves are split.
        let full = self.maturity == Maturity::Bulkloaded && self.fill > 0.95;
        let filled = if full { 1.0 } else { self.fill.min(0.7) };
        let copies = || PER_COPIED_WORD * copied_words(&self.shape()) * self.leaf_splits();
        let moves = PER_MOVED_KEY * keys_per_node * filled / 2.0;
        let change = match self.operation {
            Operation::Search | Operation::Scan => 0.0,
            Operation::Delete => moves,
            Operation::Insert | Operation::ScanAndInsert if full => 2.0 * moves + 60.0 + copies(),
            Operation::Insert | Operation::ScanAndInsert => moves + copies(),
        };
        let scan = search + PER_TUPLE * self.done().mean_length();
        let done = self.done();
        let later = keys - self.bulkloaded_keys() as f64;
        let warm_up = warming(self.warm_up(), done.mean(search, scan, search));
        let each = done.mean(search, scan, search + change);
        let events = each * self.operations as f64 + warm_up;
        Work::estimate(keys + maturing(&self.shape()) as f64 * later, events, 0.0)
    }

    /// Estimates the leaves that each of the insertions splits.
    fn leaf_splits(&self) -> f64 {
        let shape = self.shape();
        let steady = splits_per_insertion(&shape);
        if self.maturity == Maturity::Mature {
            return steady;
        }
        let insertions = self.done().insertions();
        let leaves = level_nodes(&shape, self.keys, self.fills())[0] as f64;
        let capacity = shape.node(0).max_keys;
        let room = leaves * (capacity - self.fills().keys(capacity)) as f64;
        if room > 0.0 {
            return steady * (1.0 - room / insertions).max(0.0);
        }
        // Each leaf splits when it is first hit.
        let hit = leaves * (1.0 - (-insertions / leaves).exp());
        (hit + steady * (insertions - leaves).max(0.0)) / insertions
    }
}
