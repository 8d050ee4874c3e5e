//! Moving the nodes of a CSB+-tree's groups: whole nodes, word by word, and the links of the leaves among them.

use super::path::Path;
use super::search::GROUP_CHILD;
use super::{ALLOCATE, Pointer, Site, Tree};
use crate::sorted::goes_backwards;
use crate::tracer::{Dep, Trace};
use crate::word::Word;

/// First test of a loop over nodes (compare).
const FIRST_TEST: u32 = 1;
/// Bumping both addresses and comparing one with the last.
const NEXT_NODE: u32 = 3;
/// The link of a moved leaf: its new address and the bytes of a node (add).
const NEXT_LEAF: u32 = 1;
/// Comparing slot or level with a bound.
const TEST: u32 = 1;

impl<W: Word> Tree<W> {
    /// Bytes of a node, which is how far neighbours in a group are apart.
    pub(super) fn node_bytes(&self) -> u64 {
        self.shape.node_bytes().into()
    }

    /// Memory for a group of `nodes` nodes. Trees that prefetch do so node by node, before each is written.
    pub(super) fn allocate_group<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        nodes: usize,
    ) -> u64 {
        trace.work(ALLOCATE);
        let bytes = self.shape.node_bytes() as usize;
        let arena = &mut self.arena;
        self.blocks[level].allocate(nodes, |nodes| arena.allocate(level, nodes * bytes))
    }

    /// Moves `nodes` nodes within a level, in the order that is right where they overlap.
    ///
    /// Leaves stay chained: each is followed by the next of them, the last by `follower`, or without one by what followed it before.
    pub(super) fn move_nodes<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        (source, target): (u64, u64),
        nodes: usize,
        follower: Option<u64>,
    ) {
        let bytes = self.node_bytes();
        let words = self.shape.node_bytes() as usize / W::BYTES;
        let backwards = goes_backwards(source, target, nodes as u64 * bytes);
        trace.work(FIRST_TEST);
        trace.branch(Site::ShiftLoop, nodes > 0, Dep::NONE);
        for number in 0..nodes {
            let index = if backwards {
                nodes - 1 - number
            } else {
                number
            };
            let (from, to) = (source + index as u64 * bytes, target + index as u64 * bytes);
            self.prefetch_node(trace, Pointer::constant(from));
            self.prefetch_node(trace, Pointer::constant(to));
            let next = if index + 1 < nodes {
                Some(to + bytes)
            } else {
                follower
            };
            match next.filter(|_| level == 0) {
                // The link is the last word of a leaf.
                Some(next) => {
                    self.move_words(trace, level, (from, 0), (to, 0), words - 1);
                    trace.work(NEXT_LEAF);
                    self.link(trace, to, next);
                }
                None => self.move_words(trace, level, (from, 0), (to, 0), words),
            }
            trace.work(NEXT_NODE);
            trace.branch(Site::ShiftLoop, number + 1 < nodes, Dep::NONE);
        }
    }

    /// Moves `before` nodes, and the `after` nodes behind them one place further: there is room for one between them, which is not in
    /// the chain of leaves yet.
    pub(super) fn move_apart<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        (source, target): (u64, u64),
        before: usize,
        after: usize,
    ) {
        let bytes = self.node_bytes();
        let source_behind = source + before as u64 * bytes;
        let room = target + before as u64 * bytes;
        let follower = (after > 0).then_some(room + bytes);
        self.move_nodes(trace, level, (source, target), before, follower);
        self.move_nodes(trace, level, (source_behind, room + bytes), after, None);
        self.prefetch_node(trace, Pointer::constant(room));
    }

    /// Makes `next` follow `leaf`.
    pub(super) fn link<T: Trace>(&mut self, trace: &mut T, leaf: u64, next: u64) {
        let word = self.layouts[0].next;
        let next = W::from_u64(next);
        self.store(trace, Site::LinkStore, 0, leaf, word, next, Dep::NONE);
    }

    /// The leaf before the first of the path's group of leaves: whose link has to change with that one's address.
    ///
    /// Leaves have no link back. It is the last leaf of the subtree before, which starts where the path does not go first.
    pub(super) fn leaf_before_group<T: Trace>(&self, trace: &mut T, path: &Path) -> Option<u64> {
        let mut level = 2;
        loop {
            if level >= self.levels {
                return None;
            }
            let first = path.at(level).slot == 0;
            trace.work(TEST);
            trace.branch(Site::SiblingSide, first, Dep::NONE);
            if !first {
                break;
            }
            level += 1;
        }
        let neighbour = path.at(level - 1).node - self.node_bytes();
        let mut node = Pointer::constant(neighbour);
        for level in (1..level).rev() {
            self.prefetch_node(trace, node);
            let (count, _) = self.load_count(trace, level, node);
            let word = self.layouts[level].values;
            let (group, token) = self.load(trace, Site::Child, level, node, word, 0);
            trace.work(GROUP_CHILD);
            trace.branch(Site::LevelLoop, level > 1, Dep::NONE);
            node = Pointer {
                address: group.to_u64() + count as u64 * self.node_bytes(),
                dep: token.after(1),
            };
        }
        Some(node.address)
    }
}
