//! Insertion into a full leaf of a CSB+-tree: its group gets one more node, and is divided with its parent if that is full.
//!
//! Groups make room from the leaf's upwards, as far as parents are full; then nodes are divided downwards.

use super::layout::KEYS;
use super::path::Path;
use super::search::Position;
use super::{ELEMENT, Pointer, Site, Tree};
use crate::tracer::{Dep, Trace};
use crate::word::Word;

/// Deciding which half of a split gets the new key or child, and how many stay (compare, subtract, move).
const DIVIDE: u32 = 3;
/// Comparing the level with the root's.
const ROOT_TEST: u32 = 1;

impl<W: Word> Tree<W> {
    /// Inserts a pair at `slot` of the full leaf at the end of the path.
    pub(super) fn insert_into_full_leaf<T: Trace>(
        &mut self,
        trace: &mut T,
        mut path: Path,
        slot: usize,
        key: W,
        tuple: W,
    ) {
        let left = self.make_room_behind(trace, 0, &mut path);
        let right = left + self.node_bytes();
        trace.work(DIVIDE);
        let separator = self.divide_leaf(trace, left, right, slot, key, tuple);
        self.insert_separator(trace, path.at(1), 1, separator);
    }

    /// Makes room for one more node right behind the path's node of `level`, which is about to be split; returns where it is now.
    ///
    /// The path leads to its parent then, which still lacks the key between the two nodes; above the parent it may be out of date.
    fn make_room_behind<T: Trace>(&mut self, trace: &mut T, level: usize, path: &mut Path) -> u64 {
        self.alive[level] += 1;
        self.node_splits += 1;
        trace.work(ROOT_TEST);
        trace.branch(Site::RootSplit, level + 1 == self.levels, Dep::NONE);
        if level + 1 == self.levels {
            return self.raise(trace, path);
        }
        let parent = Pointer::constant(path.at(level + 1).node);
        if self.has_room(trace, level + 1, parent) {
            self.grow_group(trace, level, path)
        } else {
            self.divide_group(trace, level, path)
        }
    }

    /// Moves the root into a group of two, under a new root.
    fn raise<T: Trace>(&mut self, trace: &mut T, path: &mut Path) -> u64 {
        let level = self.levels - 1;
        let group = self.allocate_group(trace, level, 2);
        self.move_apart(trace, level, (self.root, group), 1, 0);
        self.blocks[level].release(self.root, 1);
        let root = self.allocate_group(trace, level + 1, 1);
        self.prefetch_node(trace, Pointer::constant(root));
        self.alive[level + 1] += 1;
        self.store_group(trace, level + 1, root, group);
        self.store_count(trace, level + 1, root, 0);
        self.root = root;
        self.levels += 1;
        path.grow(root);
        group
    }

    /// Copies the group of a parent that has room to one with room behind the path's node.
    fn grow_group<T: Trace>(&mut self, trace: &mut T, level: usize, path: &Path) -> u64 {
        let parent = path.at(level + 1);
        let nodes = self.count(level + 1, parent.node) + 1;
        let group = self.load_group(trace, level + 1, parent.node);
        let larger = self.allocate_group(trace, level, nodes + 1);
        let before = parent.slot + 1;
        self.move_apart(trace, level, (group, larger), before, nodes - before);
        if level == 0
            && let Some(leaf) = self.leaf_before_group(trace, path)
        {
            self.link(trace, leaf, larger);
        }
        self.store_group(trace, level + 1, parent.node, larger);
        self.blocks[level].release(group, nodes);
        larger + parent.slot as u64 * self.node_bytes()
    }

    /// Splits a full parent, and its group in two: the first half stays where it is, the second is copied, and one of them has room
    /// behind the path's node. The halves then have equally many children, or two more in the first.
    fn divide_group<T: Trace>(&mut self, trace: &mut T, level: usize, path: &mut Path) -> u64 {
        let bytes = self.node_bytes();
        let above = level + 1;
        let keys = self.layouts[above].max_keys;
        let slot = path.at(above).slot;
        let left = self.make_room_behind(trace, above, path);
        let right = left + bytes;
        trace.work(DIVIDE);
        // Children that stay; the key behind the last of them moves up.
        let stay = keys / 2 + usize::from(slot >= keys / 2);
        let moved = keys + 1 - stay;
        let up = Pointer::constant(left);
        let (separator, _) = self.load(trace, Site::ShiftLoad, above, up, KEYS + stay - 1, 0);
        self.move_words(trace, above, (left, KEYS + stay), (right, KEYS), moved - 1);
        self.store_count(trace, above, left, stay - 1);
        self.store_count(trace, above, right, moved - 1);
        self.insert_separator(trace, path.at(above + 1), above + 1, separator);

        let group = self.load_group(trace, above, left);
        let middle = group + stay as u64 * bytes;
        if slot < stay {
            let second = self.allocate_group(trace, level, moved);
            self.move_nodes(trace, level, (middle, second), moved, None);
            let node = group + slot as u64 * bytes;
            let behind = (node + bytes, node + 2 * bytes);
            let shifted = stay - slot - 1;
            self.move_nodes(trace, level, behind, shifted, Some(second));
            self.prefetch_node(trace, Pointer::constant(behind.0));
            if level == 0 {
                self.link(trace, node, if shifted > 0 { behind.1 } else { second });
            }
            self.store_group(trace, above, right, second);
            path.put(above, Position { node: left, slot });
            node
        } else {
            let second = self.allocate_group(trace, level, moved + 1);
            let slot = slot - stay;
            self.move_apart(trace, level, (middle, second), slot + 1, moved - slot - 1);
            if level == 0 {
                self.link(trace, middle - bytes, second);
            }
            self.store_group(trace, above, right, second);
            path.put(above, Position { node: right, slot });
            second + slot as u64 * bytes
        }
    }

    /// Puts the key between a child and its new right neighbour into a node that has room.
    fn insert_separator<T: Trace>(
        &mut self,
        trace: &mut T,
        Position { node, slot }: Position,
        level: usize,
        key: W,
    ) {
        let count = self.count(level, node);
        trace.work(ELEMENT);
        let (from, to) = ((node, KEYS + slot), (node, KEYS + slot + 1));
        self.move_words(trace, level, from, to, count - slot);
        self.store(
            trace,
            Site::KeyStore,
            level,
            node,
            KEYS + slot,
            key,
            Dep::NONE,
        );
        self.store_count(trace, level, node, count + 1);
    }

    fn load_group<T: Trace>(&self, trace: &mut T, level: usize, node: u64) -> u64 {
        let word = self.layouts[level].values;
        let node = Pointer::constant(node);
        let (group, _) = self.load(trace, Site::Child, level, node, word, 0);
        group.to_u64()
    }

    fn store_group<T: Trace>(&mut self, trace: &mut T, level: usize, node: u64, group: u64) {
        let word = self.layouts[level].values;
        let group = W::from_u64(group);
        self.store(trace, Site::ValueStore, level, node, word, group, Dep::NONE);
    }
}
