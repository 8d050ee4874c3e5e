//! What is done to a whole page: counting its entries, dividing them anew among its nodes, and splitting it.

use super::DiskFirstPage;
use super::build::Source;
use super::space::{FREE_LEAF, FREE_NONLEAF};
use crate::paged_tree::Site;
use crate::paged_tree::key::Key;
use crate::paged_tree::moves::move_elements;
use crate::paged_tree::page::{STEP, load_key};
use crate::paged_tree::sites::MOVE;
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::sorted::moved;
use crate::tracer::{Dep, Trace};

/// A leaf node of a page.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    node: u32,
    /// What its address waits for.
    dep: Dep,
    /// Its entries.
    count: Loaded<u16>,
}

/// Nodes of a page below its root, each with what its address waits for.
#[derive(Debug, Default)]
struct Below {
    nonleaf: Vec<(u32, Dep)>,
    leaves: Vec<(u32, Dep)>,
}

impl DiskFirstPage {
    /// The nodes below the root of a page, leaf nodes in order. Those above them say where they are: along the chain of leaf nodes, each
    /// would be known only when the one before has come.
    fn below_root<T: Trace>(&self, trace: &mut T, pool: &Pool, page: &Fixed) -> Below {
        let mut found = Below::default();
        let mut above = (self.root(page.page), page.dep);
        for next in 0.. {
            let (node, dep) = above;
            let header = Self::load_header(trace, pool, page, node, dep);
            let (level, children) = header.value;
            trace.branch(Site::InPageLevel, level > 1, header.token.after(1));
            for slot in 0..children {
                let child = self.load_child(trace, pool, page, node, slot, dep);
                let below = (child.value, child.token.after(1));
                if level > 1 {
                    found.nonleaf.push(below);
                } else {
                    found.leaves.push(below);
                }
                trace.work(STEP);
                trace.branch(Site::NodeLoop, slot + 1 < children, Dep::NONE);
            }
            match found.nonleaf.get(next) {
                Some(&node) => above = node,
                None => break,
            }
        }
        found
    }

    /// Leaf nodes with their entries.
    fn counted<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        leaves: &[(u32, Dep)],
    ) -> Vec<Leaf> {
        let mut counted = Vec::with_capacity(leaves.len());
        for (number, &(node, dep)) in leaves.iter().enumerate() {
            let count = self.load_leaf_count(trace, pool, page, node, dep);
            counted.push(Leaf { node, dep, count });
            trace.work(STEP);
            trace.branch(Site::NodeLoop, number + 1 < leaves.len(), Dep::NONE);
        }
        counted
    }

    /// The leaf nodes of a page in order.
    fn leaves<T: Trace>(&self, trace: &mut T, pool: &Pool, page: &Fixed) -> Vec<Leaf> {
        let below = self.below_root(trace, pool, page);
        self.counted(trace, pool, page, &below.leaves)
    }

    /// The entries of a page.
    pub(super) fn count_entries<T: Trace>(&self, trace: &mut T, pool: &Pool, page: &Fixed) -> u32 {
        let leaves = self.leaves(trace, pool, page);
        leaves.iter().map(|leaf| u32::from(leaf.count.value)).sum()
    }

    /// Divides the entries of a page evenly among as many leaf nodes as fit: they are copied to a buffer and back.
    pub(super) fn reorganize<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
    ) {
        let leaves = self.leaves(trace, pool, page);
        let mut entries: Vec<(K, u32)> = Vec::new();
        for Leaf { node, count, .. } in leaves {
            let (count, from) = (usize::from(count.value), (node, entries.len()));
            let (keys, ids) = (self.leaf_keys(node), self.leaf_ids(node));
            let entry = |slot| {
                (
                    pool.peek(page, keys.at(slot)),
                    pool.peek(page, ids.at(slot)),
                )
            };
            self.buffered::<K, T>(trace, pool, page, from, count, true);
            entries.extend((0..count).map(entry));
        }
        self.build_page(trace, pool, page, &entries, true, Source::Buffer);
    }

    /// Says that the entries of a node go to the buffer, where `first` are before them, or come from there.
    pub(super) fn buffered<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        (node, first): (u32, usize),
        count: usize,
        out: bool,
    ) {
        let buffer = pool.buffer();
        let word = K::BYTES.min(if K::WORDS > 1 { 4 } else { 8 });
        let keys = (
            self.leaf_keys(node).at(0),
            buffer + (first * K::BYTES) as u64,
            word,
        );
        let behind = buffer + u64::from(self.tree.fanout()) * K::BYTES as u64;
        let ids = (self.leaf_ids(node).at(0), behind + (first * 4) as u64, 4);
        for ((offset, beside, bytes), words) in [(keys, usize::from(K::WORDS)), (ids, 1)] {
            let place = page.address + u64::from(offset);
            let way = if out {
                (place, beside)
            } else {
                (beside, place)
            };
            moved(trace, MOVE, way, count * words, bytes as u16);
        }
    }

    /// Splits a page: the second half of its leaf nodes is copied to another, and both trees are planted anew. Empty nodes are given back.
    pub(super) fn split_page<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        right: &Fixed,
    ) -> Loaded<K> {
        let below = self.below_root(trace, pool, page);
        let leaves = self.counted(trace, pool, page, &below.leaves);
        let (kept, empty): (Vec<_>, Vec<_>) =
            leaves.into_iter().partition(|leaf| leaf.count.value > 0);
        let (stay, go) = kept.split_at(kept.len().div_ceil(2));
        self.reset(trace, pool, right);
        let mut copies = Vec::with_capacity(go.len());
        for &Leaf { node, count, .. } in go {
            let (copy, dep) = self.take_leaf(trace, pool, right);
            for (from, to) in [
                (self.leaf_keys(node), self.leaf_keys(copy)),
                (self.leaf_ids(node), self.leaf_ids(copy)),
            ] {
                trace.work(STEP);
                move_elements(
                    trace,
                    pool,
                    (page, from.at(0)),
                    (right, to.at(0)),
                    count.value.into(),
                    from.bytes,
                );
            }
            let waits = count.token.after(0);
            self.store_leaf_count(trace, pool, right, copy, count.value, waits);
            copies.push((copy, dep));
        }
        self.link(trace, pool, right, &copies);
        self.plant::<K, T>(trace, pool, right, &copies);
        for node in below.nonleaf {
            self.release(trace, pool, page, FREE_NONLEAF, node);
        }
        for leaf in go.iter().chain(&empty) {
            self.release(trace, pool, page, FREE_LEAF, (leaf.node, leaf.dep));
        }
        let stay: Vec<(u32, Dep)> = stay.iter().map(|leaf| (leaf.node, leaf.dep)).collect();
        self.link(trace, pool, page, &stay);
        self.plant::<K, T>(trace, pool, page, &stay);
        load_key(
            trace,
            pool,
            Site::FoundKey,
            right,
            self.leaf_keys(copies[0].0).at(0),
            copies[0].1,
        )
    }
}
