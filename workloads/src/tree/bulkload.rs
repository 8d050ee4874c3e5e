//! Builds a tree from sorted pairs, bottom-up, each level contiguous.

use super::groups::Blocks;
use super::layout::{
    CHUNK_NEXT, CHUNK_PREVIOUS, CHUNK_SLOTS, JumpPointers, KEYNUM, KEYS, Kind, Shape,
};
use super::plan::{Fill, reservations};
use super::slots::spread;
use super::{Prefetching, Tree};
use crate::arena::{Arena, place};
use crate::watch;
use crate::word::Word;

impl<W: Word> Tree<W> {
    /// A tree of `pairs` (keys ascending and distinct, each with its tupleID), with room for `insertions` more.
    ///
    /// Nodes are filled from left to right up to `fill`; the last node of each level takes what is left.
    pub fn bulkload(
        shape: Shape,
        pairs: impl ExactSizeIterator<Item = (W, W)>,
        fill: Fill,
        insertions: u64,
    ) -> Self {
        let reserved = reservations(&shape, pairs.len() as u64, fill, insertions);
        let segments = reserved.len();
        let external = matches!(shape.jump_pointers, JumpPointers::External { .. });
        let levels = segments - usize::from(external);
        let layouts = (0..levels).map(|level| shape.node(level)).collect();
        let blocks = match shape.kind {
            Kind::BPlus => Vec::new(),
            Kind::CsbPlus => (0..levels)
                .map(|level| Blocks::new(shape.max_children(level + 1)))
                .collect(),
        };
        let mut tree = Self {
            shape,
            prefetching: Prefetching {
                nodes: false,
                distance_nodes: 1,
                instructions: 0,
            },
            arena: Arena::new(place(&reserved)),
            layouts,
            root: 0,
            levels: 0,
            alive: vec![0; segments],
            free: vec![Vec::new(); segments],
            blocks,
            node_splits: 0,
            chunk_splits: 0,
            word: std::marker::PhantomData,
        };
        let mut firsts = tree.build_leaves(pairs, fill);
        while firsts.len() > 1 {
            firsts = tree.build_level(&firsts, fill);
        }
        tree.root = tree.segments()[tree.levels - 1].base;
        if external {
            tree.build_chunks(fill);
        }
        tree
    }

    /// Allocates the nodes of the next level and returns the address of the first.
    fn extend(&mut self, nodes: usize) -> u64 {
        let level = self.levels;
        self.levels += 1;
        self.alive[level] = nodes as u64;
        self.arena
            .allocate(level, nodes * self.shape.node_bytes() as usize)
    }

    /// Builds the leaves and returns the first key of each (one arbitrary key for an empty tree).
    fn build_leaves(
        &mut self,
        mut pairs: impl ExactSizeIterator<Item = (W, W)>,
        fill: Fill,
    ) -> Vec<W> {
        let layout = self.layouts[0];
        let per_leaf = fill.keys(layout.max_keys);
        let leaves = pairs.len().div_ceil(per_leaf).max(1);
        let bytes = u64::from(self.shape.node_bytes());
        let mut leaf = self.extend(leaves);
        let mut firsts = Vec::with_capacity(leaves);
        for index in 0..leaves {
            let count = per_leaf.min(pairs.len());
            self.poke(0, leaf, KEYNUM, W::from_u64(count as u64));
            for slot in 0..count {
                let (key, tuple) = pairs.next().expect("the iterator has its stated length");
                self.poke(0, leaf, KEYS + slot, key);
                self.poke(0, leaf, layout.values + slot, tuple);
            }
            firsts.push(self.peek(0, leaf, KEYS));
            watch::step(count as u64);
            if index + 1 < leaves {
                self.poke(0, leaf, layout.next, W::from_u64(leaf + bytes));
            }
            leaf += bytes;
        }
        firsts
    }

    /// Builds the level above nodes whose subtrees start with the keys `below`; returns its own first keys.
    fn build_level(&mut self, below: &[W], fill: Fill) -> Vec<W> {
        let level = self.levels;
        let layout = self.layouts[level];
        let chained = level == 1 && self.shape.jump_pointers == JumpPointers::Internal;
        let bytes = u64::from(self.shape.node_bytes());
        let mut child = self.segments()[level - 1].base;
        let groups = below.chunks(fill.keys(layout.max_keys) + 1);
        let nodes = groups.len();
        let mut node = self.extend(nodes);
        let mut firsts = Vec::with_capacity(nodes);
        for (index, group) in groups.enumerate() {
            self.poke(level, node, KEYNUM, W::from_u64(group.len() as u64 - 1));
            for (slot, &key) in group[1..].iter().enumerate() {
                self.poke(level, node, KEYS + slot, key);
            }
            let pointers = if self.shape.kind == Kind::CsbPlus {
                1
            } else {
                group.len()
            };
            for slot in 0..pointers {
                self.poke(
                    level,
                    node,
                    layout.values + slot,
                    W::from_u64(child + slot as u64 * bytes),
                );
            }
            if chained && index + 1 < nodes {
                self.poke(level, node, layout.next, W::from_u64(node + bytes));
            }
            firsts.push(group[0]);
            child += group.len() as u64 * bytes;
            node += bytes;
        }
        firsts
    }

    /// Builds the external jump-pointer array, empty slots spread evenly, and the exact hints.
    fn build_chunks(&mut self, fill: Fill) {
        let segment = self.chunk_segment();
        let slots = self.shape.chunk_slots();
        let chunk_bytes = self.shape.chunk_lines() * self.shape.line_bytes;
        let leaves = self.leaf_nodes() as usize;
        let per_chunk = fill.jump_pointers(slots);
        let chunks = leaves.div_ceil(per_chunk);
        self.alive[segment] = chunks as u64;
        let first = self.arena.allocate(segment, chunks * chunk_bytes as usize);
        let mut leaf = self.segments()[0].base;
        for index in 0..chunks {
            let chunk = first + index as u64 * u64::from(chunk_bytes);
            if index > 0 {
                self.poke(
                    segment,
                    chunk,
                    CHUNK_PREVIOUS,
                    W::from_u64(chunk - u64::from(chunk_bytes)),
                );
            }
            if index + 1 < chunks {
                self.poke(
                    segment,
                    chunk,
                    CHUNK_NEXT,
                    W::from_u64(chunk + u64::from(chunk_bytes)),
                );
            }
            let count = per_chunk.min(leaves - index * per_chunk);
            for number in 0..count {
                let slot = spread(number, count, slots);
                self.poke(segment, chunk, CHUNK_SLOTS + slot, W::from_u64(leaf));
                let hint = self.hint_of(chunk, slot);
                self.poke(0, leaf, self.layouts[0].hint, hint);
                leaf += u64::from(self.shape.node_bytes());
            }
        }
    }
}
