//! Insertion: search, then shift words in the leaf, or split nodes upwards from it.

use super::layout::{JumpPointers, KEYS, Kind};
use super::path::Path;
use super::search::CALL;
use super::{Pointer, Site, Tree};
use crate::tracer::{Dep, Trace};
use crate::word::Word;

/// Comparing keynum with its maximum.
const FULL_TEST: u32 = 1;
/// Deciding which half of a split gets the new key, and how many keys stay (compare, subtract, move).
const DIVIDE: u32 = 3;
/// Comparing the level with the root's.
const ROOT_TEST: u32 = 1;

/// A node that came out of a split, and the key that separates it from its left sibling.
struct Arrival<W> {
    key: W,
    node: u64,
}

impl<W: Word> Tree<W> {
    /// Inserts a pair; an existing key gets the new tupleID, and the old one is returned.
    pub fn insert<T: Trace>(&mut self, trace: &mut T, key: W, tuple: W) -> Option<W> {
        trace.work(CALL);
        let (leaf, path) = self.descend_with_path(trace, key);
        let slot = self.upper_bound(trace, 0, leaf, key);
        if self.holds(trace, leaf, slot, key) {
            let word = self.layouts[0].values + slot - 1;
            let (old, _) = self.load(trace, Site::LeafTuple, 0, leaf, word, 1);
            self.store(
                trace,
                Site::ValueStore,
                0,
                leaf.address,
                word,
                tuple,
                Dep::NONE,
            );
            return Some(old);
        }
        if self.has_room(trace, 0, leaf) {
            self.insert_into(trace, 0, leaf.address, slot, key, slot, tuple);
            return None;
        }
        if self.shape.kind == Kind::CsbPlus {
            self.insert_into_full_leaf(trace, path, slot, key, tuple);
            return None;
        }
        let mut arrival = self.split_leaf(trace, leaf.address, slot, key, tuple);
        for level in 1.. {
            trace.work(ROOT_TEST);
            trace.branch(Site::RootSplit, level == self.levels, Dep::NONE);
            if level == self.levels {
                self.grow(trace, &arrival);
                break;
            }
            match self.take_in(trace, level, &path, arrival) {
                Some(next) => arrival = next,
                None => break,
            }
        }
        None
    }

    pub(super) fn has_room<T: Trace>(&self, trace: &mut T, level: usize, node: Pointer) -> bool {
        let (count, dep) = self.load_count(trace, level, node);
        let full = count == self.layouts[level].max_keys;
        trace.work(FULL_TEST);
        trace.branch(Site::NodeFull, full, dep);
        !full
    }

    /// Splits a full leaf.
    fn split_leaf<T: Trace>(
        &mut self,
        trace: &mut T,
        leaf: u64,
        slot: usize,
        key: W,
        tuple: W,
    ) -> Arrival<W> {
        trace.work(DIVIDE);
        let right = self.allocate(trace, 0, self.shape.node_lines);
        self.node_splits += 1;
        let key = self.divide_leaf(trace, leaf, right, slot, key, tuple);
        Arrival { key, node: right }
    }

    /// Divides a full leaf with a new leaf, which comes after it, so that both, with the new pair, differ by at most one; returns the
    /// key between them.
    pub(super) fn divide_leaf<T: Trace>(
        &mut self,
        trace: &mut T,
        leaf: u64,
        right: u64,
        slot: usize,
        key: W,
        tuple: W,
    ) -> W {
        let layout = self.layouts[0];
        // Before keys move, as all that will be written is prefetched: looking for the place of a jump pointer should miss nothing
        // (section 2.3.2).
        let chunk = match self.shape.jump_pointers {
            JumpPointers::External { .. } => {
                Some(self.approach_jump_pointer(trace, Pointer::constant(leaf)))
            }
            JumpPointers::Internal | JumpPointers::None => None,
        };
        let left_total = (layout.max_keys + 1).div_ceil(2);
        let goes_left = slot < left_total;
        let keep = left_total - usize::from(goes_left);
        let moved = layout.max_keys - keep;
        self.move_words(trace, 0, (leaf, KEYS + keep), (right, KEYS), moved);
        self.move_words(
            trace,
            0,
            (leaf, layout.values + keep),
            (right, layout.values),
            moved,
        );
        self.store_count(trace, 0, leaf, keep);
        self.store_count(trace, 0, right, moved);
        self.link_after(trace, 0, leaf, right);
        if goes_left {
            self.insert_into(trace, 0, leaf, slot, key, slot, tuple);
        } else {
            self.insert_into(trace, 0, right, slot - keep, key, slot - keep, tuple);
        }
        if let Some(chunk) = chunk {
            self.insert_jump_pointer(trace, chunk, leaf, right);
        }
        let (separator, _) = self.load(trace, Site::LeafKey, 0, Pointer::constant(right), KEYS, 0);
        separator
    }

    /// Chains `right` after `left`.
    fn link_after<T: Trace>(&mut self, trace: &mut T, level: usize, left: u64, right: u64) {
        self.copy_link(trace, level, left, right);
        let next = self.layouts[level].next;
        self.store(
            trace,
            Site::LinkStore,
            level,
            left,
            next,
            W::from_u64(right),
            Dep::NONE,
        );
    }

    /// Takes a new child into the non-leaf node of the path, which may split in turn.
    fn take_in<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        path: &Path,
        arrival: Arrival<W>,
    ) -> Option<Arrival<W>> {
        let place = path.at(level);
        let child = W::from_u64(arrival.node);
        if self.has_room(trace, level, Pointer::constant(place.node)) {
            self.insert_into(
                trace,
                level,
                place.node,
                place.slot,
                arrival.key,
                place.slot + 1,
                child,
            );
            return None;
        }
        Some(self.split_inner(trace, level, place.node, place.slot, arrival.key, child))
    }

    /// Splits a full non-leaf node around the middle of its keys and the new one, which moves up.
    fn split_inner<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        node: u64,
        slot: usize,
        key: W,
        child: W,
    ) -> Arrival<W> {
        let layout = self.layouts[level];
        let (keys, values) = (layout.max_keys, layout.values);
        let middle = keys.div_ceil(2);
        trace.work(DIVIDE);
        let right = self.allocate(trace, level, self.shape.node_lines);
        self.node_splits += 1;
        let up = if slot == middle {
            // The new key itself is the middle: its child becomes the right node's first.
            self.move_words(
                trace,
                level,
                (node, KEYS + middle),
                (right, KEYS),
                keys - middle,
            );
            self.store(
                trace,
                Site::ValueStore,
                level,
                right,
                values,
                child,
                Dep::NONE,
            );
            self.move_words(
                trace,
                level,
                (node, values + middle + 1),
                (right, values + 1),
                keys - middle,
            );
            self.store_count(trace, level, node, middle);
            self.store_count(trace, level, right, keys - middle);
            key
        } else {
            let keep = middle - usize::from(slot < middle);
            let (up, _) = self.load(
                trace,
                Site::ShiftLoad,
                level,
                Pointer::constant(node),
                KEYS + keep,
                0,
            );
            let moved = keys - keep - 1;
            self.move_words(trace, level, (node, KEYS + keep + 1), (right, KEYS), moved);
            self.move_words(
                trace,
                level,
                (node, values + keep + 1),
                (right, values),
                moved + 1,
            );
            self.store_count(trace, level, node, keep);
            self.store_count(trace, level, right, moved);
            if slot < middle {
                self.insert_into(trace, level, node, slot, key, slot + 1, child);
            } else {
                let slot = slot - keep - 1;
                self.insert_into(trace, level, right, slot, key, slot + 1, child);
            }
            up
        };
        if self.is_chained(level) {
            self.link_after(trace, level, node, right);
        }
        Arrival {
            key: up,
            node: right,
        }
    }

    /// Puts a new root over the old one and its new sibling.
    fn grow<T: Trace>(&mut self, trace: &mut T, arrival: &Arrival<W>) {
        let level = self.levels;
        let values = self.layouts[level].values;
        let root = self.allocate(trace, level, self.shape.node_lines);
        self.store(
            trace,
            Site::ValueStore,
            level,
            root,
            values,
            W::from_u64(self.root),
            Dep::NONE,
        );
        self.store(
            trace,
            Site::KeyStore,
            level,
            root,
            KEYS,
            arrival.key,
            Dep::NONE,
        );
        self.store(
            trace,
            Site::ValueStore,
            level,
            root,
            values + 1,
            W::from_u64(arrival.node),
            Dep::NONE,
        );
        self.store_count(trace, level, root, 1);
        if self.is_chained(level) {
            let next = self.layouts[level].next;
            self.store(
                trace,
                Site::LinkStore,
                level,
                root,
                next,
                W::from_u64(0),
                Dep::NONE,
            );
        }
        self.root = root;
        self.levels += 1;
    }
}
