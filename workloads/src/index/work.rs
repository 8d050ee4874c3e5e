//! How much work a workload on a tree is.

use super::spec::{IndexWorkload, Maturity, Operation};
use crate::family::Family;
use crate::tree::EVENTS_PER_KEY_BIT;
use crate::work::{Work, warming};

/// Events of moving one key and its pointer.
const PER_MOVED_KEY: f64 = 6.0;
/// Events of a tupleID that a scan copies.
const PER_TUPLE: f64 = 5.5;
/// Steps of inserting a key into a growing tree, against bulkloading it.
pub(super) const MATURING: u64 = 20;

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
        let moves = PER_MOVED_KEY * keys_per_node * filled / 2.0;
        let each = match self.operation {
            Operation::Search => search,
            Operation::Insert if full => search + 2.0 * moves + 60.0,
            Operation::Insert | Operation::Delete => search + moves,
            Operation::Scan => search + PER_TUPLE * self.range as f64,
        };
        let later = keys - self.bulkloaded_keys() as f64;
        let warm_up = match self.operation {
            Operation::Scan => warming(self.warm_up(), each),
            _ => warming(self.warm_up(), search),
        };
        let events = each * self.operations as f64 + warm_up;
        Work::estimate(keys + MATURING as f64 * later, events, 0.0)
    }
}
