//! From the root to a leaf by binary search in every node.

use super::layout::{KEYNUM, KEYS, Kind};
use super::{ELEMENT, Pointer, Site, Tree};
use crate::place::Loaded;
use crate::sorted::{BOUNDS, LOOP_TEST, SearchSites, upper_bound};
use crate::tracer::{Dep, Token, Trace};
use crate::word::Word;

// Plain instructions of each step, counted on the MIPS-like code that the step compiles to.

/// Calling a search and coming back: the caller loads the key, moves two arguments, jumps, adds the result, bumps
/// its pointer, compares and branches (8); the callee moves the stack pointer twice, saves and restores four
/// registers (10), loads root and height (2), moves the result and returns (2).
pub(crate) const CALL: u32 = 22;
/// Comparing the key.
const COMPARE: u32 = 1;
/// Address of a child in its group: the slot times the node size (shift, add), added to the group's address.
pub(super) const GROUP_CHILD: u32 = 3;
/// Counting the level and comparing it.
pub(crate) const LEVEL: u32 = 1;

/// A position in a node: `slot` keys of it are not above the key looked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Position {
    pub(super) node: u64,
    pub(super) slot: usize,
}

impl<W: Word> Tree<W> {
    /// The tupleID of `key`, if the tree has it.
    #[inline]
    pub fn search<T: Trace>(&self, trace: &mut T, key: W) -> Option<W> {
        self.lookup(trace, key).map(|(tuple, _)| tuple)
    }

    /// The tupleID of `key`, if the tree has it, and the load that brings it.
    #[inline]
    pub fn lookup<T: Trace>(&self, trace: &mut T, key: W) -> Option<(W, Token)> {
        trace.work(CALL);
        let leaf = self.descend(trace, key, |_, _, _| ());
        let slot = self.upper_bound(trace, 0, leaf, key);
        if !self.holds(trace, leaf, slot, key) {
            return None;
        }
        // The pair's address is in a register already; the tupleID is at a constant distance from the key.
        let word = self.layouts[0].values + slot - 1;
        Some(self.load(trace, Site::LeafTuple, 0, leaf, word, 1))
    }

    /// The leaf that has or would have `key`. `visit` is told every non-leaf node on the way down.
    #[inline]
    pub(super) fn descend<T: Trace>(
        &self,
        trace: &mut T,
        key: W,
        mut visit: impl FnMut(&mut T, usize, Position),
    ) -> Pointer {
        let mut node = Pointer::constant(self.root);
        for level in (1..self.levels).rev() {
            trace.work(LEVEL);
            trace.branch(Site::LevelLoop, true, Dep::NONE);
            self.prefetch_node(trace, node);
            let slot = self.upper_bound(trace, level, node, key);
            visit(
                trace,
                level,
                Position {
                    node: node.address,
                    slot,
                },
            );
            node = self.child(trace, level, node, slot);
        }
        trace.work(LEVEL);
        trace.branch(Site::LevelLoop, false, Dep::NONE);
        self.prefetch_node(trace, node);
        node
    }

    /// How many keys of the node are not above `key`: a two-way loop.
    ///
    /// A key's address waits for the node's address only: which half it is in is known from the branches.
    #[inline(always)]
    pub(super) fn upper_bound<T: Trace>(
        &self,
        trace: &mut T,
        level: usize,
        node: Pointer,
        key: W,
    ) -> usize {
        trace.work(BOUNDS);
        let (count, count_token) = self.load(trace, Site::KeyCount, level, node, KEYNUM, 0);
        let sites = SearchSites {
            again: Site::SearchLoop,
            half: Site::SearchCompare,
        };
        upper_bound(
            trace,
            sites,
            (0, count.to_u64() as usize),
            count_token.after(LOOP_TEST as u8),
            COMPARE,
            |trace, middle| {
                let (value, token) =
                    self.load(trace, Site::SearchKey, level, node, KEYS + middle, 1);
                Loaded { value, token }
            },
            |found| key < *found,
        )
    }

    /// Child `slot` of a non-leaf node.
    #[inline]
    fn child<T: Trace>(&self, trace: &mut T, level: usize, node: Pointer, slot: usize) -> Pointer {
        let values = self.layouts[level].values;
        match self.shape.kind {
            Kind::BPlus => {
                trace.work(ELEMENT);
                let (child, token) = self.load(trace, Site::Child, level, node, values + slot, 1);
                Pointer::loaded(child, token)
            }
            Kind::CsbPlus => {
                let (group, token) = self.load(trace, Site::Child, level, node, values, 0);
                trace.work(GROUP_CHILD);
                let address = group.to_u64() + slot as u64 * u64::from(self.shape.node_bytes());
                Pointer {
                    address,
                    dep: token.after(1),
                }
            }
        }
    }

    /// Whether the key before `slot` of the leaf is `key`.
    #[inline]
    pub(super) fn holds<T: Trace>(
        &self,
        trace: &mut T,
        leaf: Pointer,
        slot: usize,
        key: W,
    ) -> bool {
        trace.branch(Site::LeafPosition, slot > 0, Dep::NONE);
        if slot == 0 {
            return false;
        }
        trace.work(ELEMENT);
        let (found, token) = self.load(trace, Site::LeafKey, 0, leaf, KEYS + slot - 1, 1);
        trace.branch(Site::LeafEqual, found == key, token.after(0));
        found == key
    }
}
