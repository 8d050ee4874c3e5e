//! Lazy deletion (thesis section 2.2.1): only a node that lost its last key is refilled from a sibling or removed.
//! Nodes of CSB+-trees are removed only: `group_delete`.

use super::layout::{JumpPointers, KEYS, Kind};
use super::path::Path;
use super::search::CALL;
use super::{Pointer, Site, Tree};
use crate::tracer::{Dep, Trace};
use crate::word::Word;

/// Fewest keys of a sibling that gives some away: fewer, and the two nodes become one.
const KEYS_TO_SPARE: usize = 2;
/// Comparing slot or keynum with a bound.
const TEST: u32 = 1;
/// How many keys move: half of the sibling's (shift).
const HALVE: u32 = 1;

/// Two neighbours under one parent.
struct Pair {
    left: u64,
    right: u64,
    /// The parent, and the slot of the key between the two.
    parent: u64,
    separator: usize,
}

impl<W: Word> Tree<W> {
    /// Deletes a key and returns its tupleID, if the tree has it.
    pub fn delete<T: Trace>(&mut self, trace: &mut T, key: W) -> Option<W> {
        trace.work(CALL);
        let (leaf, path) = self.descend_with_path(trace, key);
        let slot = self.upper_bound(trace, 0, leaf, key);
        if !self.holds(trace, leaf, slot, key) {
            return None;
        }
        let (tuple, _) = self.load(
            trace,
            Site::LeafTuple,
            0,
            leaf,
            self.layouts[0].values + slot - 1,
            1,
        );
        self.remove_from(trace, 0, leaf.address, slot - 1, slot - 1);
        let mut node = leaf.address;
        for level in 0.. {
            let empty = self.count(level, node) == 0;
            trace.branch(Site::NodeEmpty, empty, Dep::NONE);
            if !empty {
                break;
            }
            if self.shape.kind == Kind::CsbPlus {
                self.remove_leaf(trace, node, &path);
                break;
            }
            match self.refill(trace, level, node, &path) {
                Some(parent) => node = parent,
                None => break,
            }
        }
        Some(tuple)
    }

    /// Deals with a node without keys; returns its parent if that lost a key.
    fn refill<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        node: u64,
        path: &Path,
    ) -> Option<u64> {
        trace.work(TEST);
        trace.branch(Site::RootSplit, level + 1 == self.levels, Dep::NONE);
        if level + 1 == self.levels {
            self.shrink(trace);
            return None;
        }
        let place = path.at(level + 1);
        let parent = Pointer::constant(place.node);
        let (siblings, dep) = self.load_count(trace, level + 1, parent);
        trace.work(TEST);
        trace.branch(Site::SiblingSide, place.slot < siblings, dep);
        if siblings == 0 {
            // The only child of the last node of its level, which a bulkload may leave: nobody to take from.
            return None;
        }
        let from_right = place.slot < siblings;
        let slot = if from_right {
            place.slot + 1
        } else {
            place.slot - 1
        };
        let word = self.layouts[level + 1].values + slot;
        let (sibling, token) = self.load(trace, Site::Child, level + 1, parent, word, 1);
        let sibling = Pointer::loaded(sibling, token);
        self.prefetch_node(trace, sibling);
        let (spare, dep) = self.load_count(trace, level, sibling);
        trace.work(TEST);
        trace.branch(Site::SiblingKeys, spare >= KEYS_TO_SPARE, dep);
        let separator = slot.min(place.slot);
        let (left, right) = if from_right {
            (node, sibling.address)
        } else {
            (sibling.address, node)
        };
        let pair = Pair {
            left,
            right,
            parent: place.node,
            separator,
        };
        if spare >= KEYS_TO_SPARE {
            match (level, from_right) {
                (0, true) => self.take_pairs_from_right(trace, &pair, spare),
                (0, false) => self.take_pairs_from_left(trace, &pair, spare),
                (_, true) => self.take_children_from_right(trace, level, &pair, spare),
                (_, false) => self.take_children_from_left(trace, level, &pair, spare),
            }
            return None;
        }
        self.merge(trace, level, &pair);
        Some(place.node)
    }

    /// Makes the only child of a root without keys the root.
    pub(super) fn shrink<T: Trace>(&mut self, trace: &mut T) {
        while self.levels > 1 && self.count(self.levels - 1, self.root) == 0 {
            let level = self.levels - 1;
            let root = Pointer::constant(self.root);
            let (child, _) = self.load(
                trace,
                Site::Child,
                level,
                root,
                self.layouts[level].values,
                0,
            );
            self.release(level, self.root);
            self.root = child.to_u64();
            self.levels = level;
        }
    }

    fn store_separator<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        pair: &Pair,
        from: (u64, usize),
    ) {
        let (key, token) = self.load(
            trace,
            Site::ShiftLoad,
            level,
            Pointer::constant(from.0),
            from.1,
            0,
        );
        self.store(
            trace,
            Site::KeyStore,
            level + 1,
            pair.parent,
            KEYS + pair.separator,
            key,
            token.after(0),
        );
    }

    fn take_pairs_from_right<T: Trace>(&mut self, trace: &mut T, pair: &Pair, spare: usize) {
        let (values, taken) = (self.layouts[0].values, spare / 2);
        trace.work(HALVE);
        for first in [KEYS, values] {
            self.move_words(trace, 0, (pair.right, first), (pair.left, first), taken);
            self.move_words(
                trace,
                0,
                (pair.right, first + taken),
                (pair.right, first),
                spare - taken,
            );
        }
        self.store_count(trace, 0, pair.left, taken);
        self.store_count(trace, 0, pair.right, spare - taken);
        self.store_separator(trace, 0, pair, (pair.right, KEYS));
    }

    fn take_pairs_from_left<T: Trace>(&mut self, trace: &mut T, pair: &Pair, spare: usize) {
        let (values, taken) = (self.layouts[0].values, spare / 2);
        trace.work(HALVE);
        for first in [KEYS, values] {
            self.move_words(
                trace,
                0,
                (pair.left, first + spare - taken),
                (pair.right, first),
                taken,
            );
        }
        self.store_count(trace, 0, pair.left, spare - taken);
        self.store_count(trace, 0, pair.right, taken);
        self.store_separator(trace, 0, pair, (pair.right, KEYS));
    }

    /// The left node has one child; it gets half of the right one's, and keys rotate through the parent.
    fn take_children_from_right<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        pair: &Pair,
        spare: usize,
    ) {
        let (values, taken) = (self.layouts[level].values, spare.div_ceil(2));
        trace.work(HALVE);
        self.lower_separator(trace, level, pair, pair.left, 0);
        self.move_words(
            trace,
            level,
            (pair.right, KEYS),
            (pair.left, KEYS + 1),
            taken - 1,
        );
        self.move_words(
            trace,
            level,
            (pair.right, values),
            (pair.left, values + 1),
            taken,
        );
        self.store_separator(trace, level, pair, (pair.right, KEYS + taken - 1));
        self.move_words(
            trace,
            level,
            (pair.right, KEYS + taken),
            (pair.right, KEYS),
            spare - taken,
        );
        self.move_words(
            trace,
            level,
            (pair.right, values + taken),
            (pair.right, values),
            spare - taken + 1,
        );
        self.store_count(trace, level, pair.left, taken);
        self.store_count(trace, level, pair.right, spare - taken);
    }

    /// The right node has one child; it gets half of the left one's, and keys rotate through the parent.
    fn take_children_from_left<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        pair: &Pair,
        spare: usize,
    ) {
        let (values, taken) = (self.layouts[level].values, spare.div_ceil(2));
        trace.work(HALVE);
        let stay = spare - taken;
        self.move_words(
            trace,
            level,
            (pair.right, values),
            (pair.right, values + taken),
            1,
        );
        self.move_words(
            trace,
            level,
            (pair.left, values + stay + 1),
            (pair.right, values),
            taken,
        );
        self.lower_separator(trace, level, pair, pair.right, taken - 1);
        self.move_words(
            trace,
            level,
            (pair.left, KEYS + stay + 1),
            (pair.right, KEYS),
            taken - 1,
        );
        self.store_separator(trace, level, pair, (pair.left, KEYS + stay));
        self.store_count(trace, level, pair.left, stay);
        self.store_count(trace, level, pair.right, taken);
    }

    /// Copies the key between the two nodes down into one of them.
    fn lower_separator<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        pair: &Pair,
        node: u64,
        slot: usize,
    ) {
        let parent = Pointer::constant(pair.parent);
        let (key, token) = self.load(
            trace,
            Site::ShiftLoad,
            level + 1,
            parent,
            KEYS + pair.separator,
            0,
        );
        self.store(
            trace,
            Site::KeyStore,
            level,
            node,
            KEYS + slot,
            key,
            token.after(0),
        );
    }

    /// Appends what the right node has to the left one and removes the right node.
    fn merge<T: Trace>(&mut self, trace: &mut T, level: usize, pair: &Pair) {
        let values = self.layouts[level].values;
        let (left, right) = (self.count(level, pair.left), self.count(level, pair.right));
        // Non-leaf nodes have one child more than keys, and get the separator between the children.
        let inner = usize::from(level > 0);
        if level > 0 {
            self.lower_separator(trace, level, pair, pair.left, left);
        }
        self.move_words(
            trace,
            level,
            (pair.right, KEYS),
            (pair.left, KEYS + left + inner),
            right,
        );
        self.move_words(
            trace,
            level,
            (pair.right, values),
            (pair.left, values + left + inner),
            right + inner,
        );
        self.store_count(trace, level, pair.left, left + right + inner);
        if self.is_chained(level) {
            self.copy_link(trace, level, pair.right, pair.left);
        }
        if level == 0 && matches!(self.shape.jump_pointers, JumpPointers::External { .. }) {
            self.remove_jump_pointer(trace, pair.right);
        }
        self.release(level, pair.right);
        self.remove_from(
            trace,
            level + 1,
            pair.parent,
            pair.separator,
            pair.separator + 1,
        );
    }
}
