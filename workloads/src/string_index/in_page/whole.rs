//! What is done to a whole page: building its tree, dividing its entries anew among its nodes, and splitting it.

use super::{InPageFilling, InPageTree, ROOT};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::string_index::Site;
use crate::string_index::area::{LEVEL, LINK, STEP};
use crate::string_index::format::Filling;
use crate::string_index::text::Text;
use crate::tracer::{Dep, Trace, Untraced};

/// Bytes of the words that entries go to the buffer in.
const WORD: usize = 8;

impl InPageTree {
    /// A page whose leaf nodes are filled up to so many bytes.
    pub(super) fn filling_to(&self, target: u32) -> InPageFilling {
        InPageFilling {
            format: *self,
            target,
            left: target,
            nodes: self.leaves - 1,
        }
    }

    /// Fills a page with entries.
    pub(super) fn build_page<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        entries: &[(Text, u32)],
        mut filling: InPageFilling,
    ) {
        self.reset(trace, pool, page);
        let mut leaves = vec![self.take(trace, pool, page)];
        let mut node = self.node(page, leaves[0], Dep::NONE);
        node.reset(trace, pool, 0);
        let (mut slot, mut buffered) = (0, 0);
        for (key, id) in entries {
            let length = key.len() as u32;
            if !filling.same_node(length) {
                filling.next_node();
                let fits = filling.takes(length);
                assert!(fits, "page {} is filled beyond its room", page.page);
                let number = self.take(trace, pool, page);
                leaves.push(number);
                node = self.node(page, number, Dep::NONE);
                node.reset(trace, pool, 0);
                slot = 0;
            }
            buffered = self.buffered(trace, pool, buffered, key, false);
            let inserted = node.insert(trace, pool, slot, key, *id);
            assert!(inserted, "a node of page {} has no room", page.page);
            slot += 1;
        }
        self.link(trace, pool, page, &leaves);
        self.plant(trace, pool, page, &leaves);
    }

    /// Says that an entry goes to the buffer behind so many bytes, or comes from there; returns the bytes with it.
    #[allow(clippy::unused_self, reason = "as the others")]
    fn buffered<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        before: u64,
        key: &[u8],
        out: bool,
    ) -> u64 {
        let bytes = (key.len() + 4).next_multiple_of(4);
        let (words, address) = (bytes.div_ceil(WORD) as u16, pool.buffer() + before);
        trace.work(u32::from(words) * STEP);
        if out {
            trace.store(Site::BufferStore, address, bytes as u16, words, Dep::NONE);
        } else {
            trace.load(Site::BufferLoad, address, bytes as u16, words, Dep::NONE);
        }
        before + bytes as u64
    }

    /// Chains leaf nodes.
    fn link<T: Trace>(&self, trace: &mut T, pool: &mut Pool, page: &Fixed, leaves: &[u32]) {
        for (place, &number) in leaves.iter().enumerate() {
            let next = leaves.get(place + 1).copied().unwrap_or(0);
            let node = self.node(page, number, Dep::NONE);
            node.store_header(trace, pool, LINK, next);
        }
    }

    /// Builds the non-leaf nodes over leaf nodes, of which none is empty if there are several. Non-leaf nodes are free but for the root.
    fn plant<T: Trace>(&self, trace: &mut T, pool: &mut Pool, page: &Fixed, leaves: &[u32]) {
        let mut below: Vec<(Text, u32)> = Vec::with_capacity(leaves.len());
        for &number in leaves {
            let node = self.node(page, number, Dep::NONE);
            // The key of an only child is never looked at, and a page without entries has none.
            let key = if leaves.len() > 1 {
                node.key(trace, pool, 0)
            } else {
                Text::EMPTY
            };
            below.push((key, number));
        }
        for level in 1.. {
            let nodes = below.len().div_ceil(self.children as usize);
            let mut above = Vec::with_capacity(nodes);
            let first = |number: usize| below.len() * number / nodes;
            for place in 0..nodes {
                let number = if nodes == 1 {
                    ROOT
                } else {
                    self.take(trace, pool, page)
                };
                let node = self.node(page, number, Dep::NONE);
                node.reset(trace, pool, level);
                let part = &below[first(place)..first(place + 1)];
                above.push((part[0].0, number));
                for (slot, (key, child)) in part.iter().enumerate() {
                    let inserted = node.insert(trace, pool, slot, key, *child);
                    assert!(inserted, "a node of page {} has no room", page.page);
                    trace.work(2 * STEP);
                    trace.branch(Site::NodeLoop, slot + 1 < part.len(), Dep::NONE);
                }
            }
            if nodes == 1 {
                return;
            }
            below = above;
        }
    }

    /// The leaf nodes of a page in order, each with the bytes of its entries.
    pub(super) fn leaves<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
    ) -> Vec<(u32, u32)> {
        let (mut number, mut dep) = self.first_leaf(trace, pool, page);
        let mut leaves = Vec::with_capacity(self.leaves as usize);
        loop {
            let node = self.node(page, number, dep);
            leaves.push((number, node.living(trace, pool)));
            let next: Loaded<u16> = node.load_header(trace, pool, LINK);
            trace.work(STEP);
            trace.branch(Site::NodeLoop, next.value > 0, next.token.after(1));
            if next.value == 0 {
                return leaves;
            }
            (number, dep) = (next.value.into(), next.token.after(1));
        }
    }

    /// Divides the entries of a page evenly among as many leaf nodes as it has others for: they are copied to a buffer and back.
    pub(super) fn reorganize<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        leaves: &[(u32, u32)],
    ) {
        let (mut entries, mut buffered) = (Vec::new(), 0);
        for &(number, _) in leaves {
            let node = self.node(page, number, Dep::NONE);
            let count = usize::from(node.count(trace, pool).value);
            for slot in 0..count {
                let (key, id) = (
                    node.key(trace, pool, slot),
                    node.id(trace, pool, slot).value,
                );
                buffered = self.buffered(trace, pool, buffered, &key, true);
                trace.branch(Site::EntryLoop, slot + 1 < count, Dep::NONE);
                entries.push((key, id));
            }
        }
        let living: u32 = leaves.iter().map(|leaf| leaf.1).sum();
        // Nodes take an entry more than their share.
        let share = living.div_ceil(self.leaves) + self.longest;
        self.build_page(trace, pool, page, &entries, self.filling_to(share));
    }

    /// Splits a page: the leaf nodes with the upper half of the bytes are copied to another, and both trees are planted anew. Empty nodes
    /// are given back.
    pub(super) fn split_page<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        right: &Fixed,
    ) -> Text {
        let leaves = self.leaves(trace, pool, page);
        let (kept, empty): (Vec<_>, Vec<_>) = leaves.into_iter().partition(|leaf| leaf.1 > 0);
        let all: u32 = kept.iter().map(|leaf| leaf.1).sum();
        let mut below = 0;
        let lower = kept.iter().take_while(|leaf| {
            let more = 2 * below < all;
            below += leaf.1;
            more
        });
        let (stay, go) = kept.split_at(lower.count());
        self.reset(trace, pool, right);
        let mut copies = Vec::with_capacity(go.len());
        for &(number, _) in go {
            let copy = self.take(trace, pool, right);
            let node = self.node(page, number, Dep::NONE);
            node.copy_to(trace, pool, &self.node(right, copy, right.dep));
            copies.push(copy);
        }
        self.link(trace, pool, right, &copies);
        self.plant(trace, pool, right, &copies);
        for number in self.inner_nodes(pool, page) {
            self.release(trace, pool, page, number);
        }
        for &(number, _) in go.iter().chain(&empty) {
            self.release(trace, pool, page, number);
        }
        let stay: Vec<u32> = stay.iter().map(|leaf| leaf.0).collect();
        self.link(trace, pool, page, &stay);
        self.plant(trace, pool, page, &stay);
        self.node(right, copies[0], right.dep).key(trace, pool, 0)
    }

    /// Non-leaf nodes of a page without the root.
    pub(super) fn inner_nodes(&self, pool: &Pool, page: &Fixed) -> Vec<u32> {
        let trace = &mut Untraced;
        let mut nodes = vec![ROOT];
        let mut seen = 0;
        while seen < nodes.len() {
            let node = self.node(page, nodes[seen], Dep::NONE);
            let level: Loaded<u16> = node.load_header(trace, pool, LEVEL);
            if level.value > 1 {
                let count = usize::from(node.count(trace, pool).value);
                nodes.extend((0..count).map(|slot| node.id(trace, pool, slot).value));
            }
            seen += 1;
        }
        nodes.split_off(1)
    }
}
