//! Lazy deletion from a CSB+-tree (Rao and Ross, and thesis section 2.2.1): only a node that got empty goes.
//!
//! It leaves its group, whose nodes behind it move down in their place; with the last of them the parent goes as well. Nodes take no
//! keys from siblings and groups do not merge: children can move only by copying groups, for keys that lazy deletion does not
//! miss. So non-leaf nodes may keep a single child; the root does not.

use super::layout::KEYS;
use super::path::Path;
use super::{ELEMENT, Pointer, Site, Tree};
use crate::tracer::{Dep, Trace};
use crate::word::Word;

/// Comparing the level with the root's, or keynum or slot with a bound.
const TEST: u32 = 1;

impl<W: Word> Tree<W> {
    /// Removes a leaf without keys, and the nodes above it that have no other child.
    pub(super) fn remove_leaf<T: Trace>(&mut self, trace: &mut T, leaf: u64, path: &Path) {
        let mut node = leaf;
        for level in 0.. {
            trace.work(TEST);
            trace.branch(Site::RootSplit, level + 1 == self.levels, Dep::NONE);
            if level + 1 == self.levels {
                return;
            }
            let place = path.at(level + 1);
            let parent = Pointer::constant(place.node);
            let (siblings, dep) = self.load_count(trace, level + 1, parent);
            trace.work(TEST);
            trace.branch(Site::NodeEmpty, siblings == 0, dep);
            if siblings > 0 {
                self.alive[level] -= 1;
                self.close_gap(trace, level, node, siblings - place.slot);
                self.remove_separator(trace, level + 1, place.node, place.slot);
                break;
            }
            if level == 0
                && let Some(before) = self.leaf_before_group(trace, path)
            {
                self.copy_link(trace, level, leaf, before);
            }
            self.release(level, node);
            node = place.node;
        }
        self.shrink(trace);
    }

    /// Moves the nodes behind one that goes into its place.
    fn close_gap<T: Trace>(&mut self, trace: &mut T, level: usize, node: u64, behind: usize) {
        let bytes = self.node_bytes();
        self.move_nodes(trace, level, (node + bytes, node), behind, None);
        if level == 0 && behind == 0 {
            self.copy_link(trace, level, node, node - bytes);
        }
    }

    /// Takes out the key beside child `slot`, which has gone.
    fn remove_separator<T: Trace>(&mut self, trace: &mut T, level: usize, node: u64, slot: usize) {
        let count = self.count(level, node);
        let key = slot.saturating_sub(1);
        trace.work(ELEMENT);
        let (from, to) = ((node, KEYS + key + 1), (node, KEYS + key));
        self.move_words(trace, level, from, to, count - key - 1);
        self.store_count(trace, level, node, count - 1);
    }
}
