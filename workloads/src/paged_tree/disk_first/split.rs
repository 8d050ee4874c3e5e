//! What is done to a whole page: counting its entries, dividing them anew among its nodes, and splitting it.

use super::DiskFirstPage;
use super::build::share;
use super::node::{LEAF_NEXT, parts};
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

impl DiskFirstPage {
    /// The leaf nodes of a page in order, each with its entries.
    fn leaves<T: Trace>(&self, trace: &mut T, pool: &Pool, page: &Fixed) -> Vec<(u32, u16)> {
        let (mut node, mut dep) = self.first_leaf(trace, pool, page);
        let mut leaves = Vec::with_capacity(self.tree.leaves as usize);
        loop {
            let count = self.load_leaf_count(trace, pool, page, node, dep);
            leaves.push((node, count.value));
            let next: Loaded<u16> = pool.load(trace, Site::LeafHeader, page, node + LEAF_NEXT, dep);
            trace.work(STEP);
            trace.branch(Site::NodeLoop, next.value > 0, next.token.after(1));
            if next.value == 0 {
                return leaves;
            }
            (node, dep) = (self.byte(next.value), next.token.after(1));
        }
    }

    /// The entries of a page.
    pub(super) fn count_entries<T: Trace>(&self, trace: &mut T, pool: &Pool, page: &Fixed) -> u32 {
        let leaves = self.leaves(trace, pool, page);
        leaves.iter().map(|leaf| u32::from(leaf.1)).sum()
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
        for &(node, count) in &leaves {
            let (keys, ids) = (self.leaf_keys(node), self.leaf_ids(node));
            let entry = |slot| {
                (
                    pool.peek(page, keys.at(slot)),
                    pool.peek(page, ids.at(slot)),
                )
            };
            self.buffered::<K, T>(trace, pool, page, (node, entries.len()), count.into(), true);
            entries.extend((0..usize::from(count)).map(entry));
        }
        let nodes = (self.tree.leaves as usize).min(entries.len()).max(1);
        self.build_page(trace, pool, page, &entries, true);
        for (number, (node, count)) in self.leaves(trace, pool, page).into_iter().enumerate() {
            let first = share(entries.len(), number, nodes);
            self.buffered::<K, T>(trace, pool, page, (node, first), count.into(), false);
        }
    }

    /// Says that the entries of a node go to the buffer, where `first` are before them, or come from there.
    fn buffered<K: Key, T: Trace>(
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
    ) -> K {
        let leaves = self.leaves(trace, pool, page);
        let (kept, empty): (Vec<_>, Vec<_>) = leaves.into_iter().partition(|leaf| leaf.1 > 0);
        let (stay, go) = kept.split_at(kept.len().div_ceil(2));
        self.reset(trace, pool, right);
        let mut copies = Vec::with_capacity(go.len());
        for &(node, count) in go {
            let copy = self.take_leaf(trace, pool, right);
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
                    count.into(),
                    from.bytes,
                );
            }
            self.store_leaf_count(trace, pool, right, copy, count);
            copies.push(copy);
        }
        self.link(trace, pool, right, &copies);
        self.plant::<K, T>(trace, pool, right, &copies);
        for node in self.inner_nodes(pool, page) {
            self.release(trace, pool, page, FREE_NONLEAF, node);
        }
        for &(node, _) in go.iter().chain(&empty) {
            self.release(trace, pool, page, FREE_LEAF, node);
        }
        let stay: Vec<u32> = stay.iter().map(|leaf| leaf.0).collect();
        self.link(trace, pool, page, &stay);
        self.plant::<K, T>(trace, pool, page, &stay);
        load_key(
            trace,
            pool,
            Site::FoundKey,
            right,
            self.leaf_keys(copies[0]).at(0),
            Dep::NONE,
        )
        .value
    }

    /// Non-leaf nodes of a page without the root.
    pub(super) fn inner_nodes(&self, pool: &Pool, page: &Fixed) -> Vec<u32> {
        let mut nodes = vec![self.root(page.page)];
        let mut seen = 0;
        while seen < nodes.len() {
            let (level, children) = parts(pool.peek(page, nodes[seen]));
            if level > 1 {
                let lines = self.children(nodes[seen]);
                nodes.extend((0..children).map(|slot| self.byte(pool.peek(page, lines.at(slot)))));
            }
            seen += 1;
        }
        nodes.split_off(1)
    }
}
