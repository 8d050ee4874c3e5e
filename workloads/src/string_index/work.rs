//! How much work a workload on an index of strings is.

use super::in_page::InPageTree;
use super::kept::MATURING;
use super::spec::{StringIndexWorkload, Structure};
use crate::family::Family;
use crate::operations::Maturity;
use crate::work::{Work, warming};

/// Events of a step of a binary search, besides those of comparing keys, and of a prefix.
const PER_BIT: f64 = 2.0;
const PER_PREFIX: f64 = 2.0;
/// Events of reaching an entry, and of each of its words that are compared.
const PER_ENTRY: f64 = 1.0;
const PER_WORD: f64 = 2.0;
/// Events of reaching a page through the pool.
const PER_PAGE: f64 = 22.0;
/// Events of reaching a node of a page, besides prefetches, and of planting one.
const PER_NODE: f64 = 5.0;
const PER_PLANTED: f64 = 30.0;
/// Events of moving a word of 8 bytes.
const PER_MOVED_WORD: f64 = 3.0;
/// Events of a tupleID that a scan copies, besides those of comparing its key.
const PER_TUPLE: f64 = 5.0;
/// Events of moving an entry when a page is split, besides those of its bytes.
const PER_MOVED_ENTRY: f64 = 4.0;
/// Events of a page split, besides those of entries that move.
const PER_PAGE_SPLIT: f64 = 250.0;

/// Bytes of the words that keys are compared in.
const WORD: f64 = 8.0;

impl StringIndexWorkload {
    /// Mean size of a key.
    fn mean_bytes(&self) -> f64 {
        f64::from(self.shortest_key_bytes + self.longest_key_bytes) / 2.0
    }

    /// Mean bytes of an entry with its slot.
    pub(super) fn entry_bytes(&self) -> f64 {
        // An ID, and offset and length; two bytes that fill the last word, in the mean.
        10.0 + match self.structure {
            Structure::Slotted | Structure::InPageTree => self.mean_bytes(),
            Structure::PrefixArray => self.mean_bytes().max(f64::from(self.prefix_bytes)),
        }
    }

    /// The tree in each page, if there is one.
    fn nodes(&self) -> Option<InPageTree> {
        let tree = self.structure == Structure::InPageTree;
        tree.then(|| self.in_page_tree().expect("it was validated"))
    }

    /// Mean entries of a full page.
    pub(super) fn fanout(&self) -> f64 {
        let bytes = match self.nodes() {
            // A node has half an entry's room left, in the mean.
            Some(tree) => {
                let (leaves, capacity) = tree.leaf_nodes();
                f64::from(leaves) * (f64::from(capacity) - self.entry_bytes() / 2.0)
            }
            None => f64::from(self.page_bytes - self.line_bytes),
        };
        bytes / self.entry_bytes()
    }

    /// Mean events of comparing two keys, in a tree whose comparisons need so many bits.
    fn comparing(&self, bits: f64) -> f64 {
        let per_byte = f64::from(self.bits_per_byte);
        let common = f64::from(self.common_prefix_bytes);
        let words = 1.0 + (common + bits / per_byte / 2.0) / WORD;
        let entry = PER_ENTRY + PER_WORD * words;
        match self.structure {
            Structure::Slotted | Structure::InPageTree => entry,
            Structure::PrefixArray => {
                let told = (f64::from(self.prefix_bytes) - common).max(0.0) * per_byte;
                PER_PREFIX + entry * (1.0 - told / bits).max(0.0)
            }
        }
    }

    /// Estimates the work of a run.
    pub(super) fn estimated_work(&self) -> Work {
        let keys = self.keys.max(2) as f64;
        let (fanout, bits) = (self.fanout(), keys.log2());
        let levels = ((keys / fanout).max(1.0).ln() / fanout.ln()).ceil() + 1.0;
        let compare = self.comparing(bits);
        let in_page = self.nodes().map_or(0.0, |tree| {
            f64::from(tree.levels()) * (PER_NODE + f64::from(self.node_lines))
        });
        let search = (PER_BIT + compare) * bits + (PER_PAGE + in_page) * levels;
        let scan = search + (PER_TUPLE + compare) * self.done().mean_length();
        let done = self.done();
        let each = done.mean(search, scan, search + self.changing(search));
        let warm_up = warming(self.warm_up(), done.mean(search, scan, search));
        let later = keys - self.bulkloaded_keys() as f64;
        let events = each * self.operations as f64 + warm_up;
        Work::estimate(2.0 * keys + MATURING as f64 * later, events, 0.0)
    }

    /// Estimates the events of an insertion or deletion, once its place is found.
    fn changing(&self, search: f64) -> f64 {
        let insertion = self.operation.inserts();
        let filled = match self.maturity {
            Maturity::Mature => 0.7,
            Maturity::Bulkloaded => self.fill,
        };
        let slot = match self.structure {
            Structure::Slotted | Structure::InPageTree => 4.0,
            Structure::PrefixArray => 4.0 + f64::from(self.prefix_bytes),
        };
        let fanout = self.fanout().min(self.keys as f64);
        let upward = match self.upward_moves {
            crate::pool::UpwardMoves::Bytes => 1.0,
            crate::pool::UpwardMoves::ThroughBuffer => 2.0 / WORD,
        };
        let per_byte = if insertion { 1.0 / WORD } else { upward };
        // Slots of a node move, or of the whole page.
        let (leaves, capacity) = self.nodes().map_or((1, 0), |tree| tree.leaf_nodes());
        let leaves = f64::from(leaves);
        let moves = fanout / leaves * filled / 2.0 * slot * per_byte * PER_MOVED_WORD;
        if !insertion {
            return moves;
        }
        // Pages that are hit for the first time, or for so many times, are split: half of the entries go. The others are moved together, to a
        // buffer and back, if one of the insertions comes to them.
        let pages = (self.keys as f64 / self.fanout() / filled).max(1.0);
        let insertions = self.done().insertions();
        // The bulkload leaves half an entry's room in a page, in the mean.
        let until_full = fanout * (1.0 - filled) + 0.5;
        let hits = (insertions / pages - until_full).max(0.0);
        let split = pages * (1.0 - (-hits).exp()) / insertions;
        let words = self.entry_bytes() / WORD * PER_MOVED_WORD;
        let halving =
            fanout / 2.0 * (2.0 * PER_MOVED_ENTRY + 2.0 * words) + PER_PAGE_SPLIT + search;
        if capacity == 0 {
            return moves + split * halving;
        }
        // Half of the leaf nodes go as they are, and two trees are planted anew; then a node is split.
        let copied = f64::from(capacity) * leaves / 2.0 / WORD * PER_MOVED_WORD;
        let page = copied + leaves * PER_PLANTED + PER_PAGE_SPLIT + search;
        let all = pages * leaves;
        let until_full = until_full / leaves;
        let hits = (insertions / all - until_full).max(0.0);
        let node = fanout / leaves / 2.0 * (2.0 * PER_MOVED_ENTRY + 2.0 * words) + 2.0 * search;
        let nodes = all * (1.0 - (-hits).exp()) / insertions;
        moves + split * page + nodes * node
    }
}
