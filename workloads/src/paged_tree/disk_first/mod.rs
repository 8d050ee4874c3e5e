//! Pages of a disk-first fpB+-tree: each has a prefetching B+-tree of its own (thesis section 3.3.3).
//!
//! In-page leaf nodes hold the page's entries, in-page non-leaf nodes keys and the lines where their children begin. A non-leaf node has a
//! header, keys, and lines; a leaf node a header with the line of the next, keys, and IDs: all keys come before what they lead to, as in a
//! prefetching B+-tree, so that a search need not wait for that (section 2.2.1). Headers leave some keys at odd words. The root's place
//! follows from the pageID (section 3.4.1), so that no page header has to be read to find it and the roots of pages do not compete
//! for cache sets. When the root splits, its contents move. A page whose nodes fill its lines may have more entries than its fan-out, if that
//! is a matter of the non-leaf nodes' children.

mod build;
mod check;
mod insert;
mod node;
mod scan;
mod space;
mod split;

use self::build::Source;
use super::Site;
use super::check::Fault;
use super::format::{Format, Listing, Scan};
use super::geometry::{
    ID_BYTES, InPageTree, LEAF_HEADER_BYTES, NONLEAF_HEADER_BYTES, OFFSET_BYTES, PageSizes,
};
use super::key::Key;
use super::moves::shift;
use super::page::{Array, Position, STEP, load_key, search};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Trace};
use crate::tree::ELEMENT;

/// The format of a page.
#[derive(Clone, Copy, Debug)]
pub struct DiskFirstPage {
    tree: InPageTree,
    key: u32,
    line: u32,
    /// Places that a root may have, a power of two: before the leaf node of that number.
    roots: u32,
}

impl DiskFirstPage {
    /// Pages with such trees.
    #[must_use]
    pub fn new(sizes: &PageSizes, tree: InPageTree) -> Self {
        Self {
            tree,
            key: sizes.key,
            line: sizes.line,
            roots: 1 << (tree.leaves + 1).ilog2(),
        }
    }

    /// Insertions that a page of so many entries takes after a split, at least: pages are split before they are full, and by nodes,
    /// which may have few entries.
    pub(super) fn room_after_split(fanout: usize) -> usize {
        (fanout / 8).max(2)
    }

    /// Keys of the leaf node at a byte of the page: behind its header, before all IDs.
    #[inline]
    fn leaf_keys(&self, node: u32) -> Array {
        Array {
            base: node + LEAF_HEADER_BYTES,
            bytes: self.key,
        }
    }

    /// IDs of a leaf node, behind its keys.
    #[inline]
    fn leaf_ids(&self, node: u32) -> Array {
        Array {
            base: node + LEAF_HEADER_BYTES + self.tree.leaf_fanout * self.key,
            bytes: ID_BYTES,
        }
    }

    /// Keys of a non-leaf node: behind its header, before all lines.
    #[inline]
    fn nonleaf_keys(&self, node: u32) -> Array {
        Array {
            base: node + NONLEAF_HEADER_BYTES,
            bytes: self.key,
        }
    }

    /// Lines of a non-leaf node's children, behind its keys.
    #[inline]
    fn children(&self, node: u32) -> Array {
        Array {
            base: node + NONLEAF_HEADER_BYTES + self.tree.nonleaf_fanout * self.key,
            bytes: OFFSET_BYTES,
        }
    }

    /// Searches the leaf node that a way has led to.
    #[inline]
    fn search_leaf<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        (node, dep): (u32, Dep),
        key: K,
        first: usize,
    ) -> Position {
        let header = self.load_leaf_count(trace, pool, page, node, dep);
        let range = (first, header.value.into());
        let deps = (dep, header.token.after(0));
        let keys = self.leaf_keys(node);
        Position {
            node,
            slot: search(trace, pool, Site::LeafKey, page, keys, range, deps, key),
            dep,
        }
    }
}

impl Listing for DiskFirstPage {
    fn begin<T: Trace>(&self, trace: &mut T, pool: &Pool, page: &Fixed) -> Position {
        let (node, dep) = self.first_leaf(trace, pool, page);
        Position { node, slot: 0, dep }
    }

    fn following<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
    ) -> Option<Position> {
        self.following_entry(trace, pool, page, position)
    }

    fn id<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
    ) -> Loaded<u32> {
        trace.work(ELEMENT);
        let place = self.leaf_ids(position.node).at(position.slot - 1);
        pool.load(trace, Site::LeafId, page, place, position.dep.later(1))
    }
}

impl<K: Key> Format<K> for DiskFirstPage {
    const JUMPS: bool = true;

    fn fanout(&self) -> usize {
        self.tree.fanout() as usize
    }

    fn room_after_split(&self) -> usize {
        Self::room_after_split(self.tree.fanout() as usize)
    }

    fn build<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        entries: &[(K, u32)],
        leaf: bool,
    ) {
        self.build_page(trace, pool, page, entries, leaf, Source::Registers);
    }

    #[inline]
    fn find<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        key: K,
        first: usize,
    ) -> Position {
        let leaf = self.descend(trace, pool, page, key, |_, _, _| ());
        self.search_leaf(trace, pool, page, leaf, key, first)
    }

    #[inline]
    fn key<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
    ) -> Loaded<K> {
        let place = self.leaf_keys(position.node).at(position.slot - 1);
        load_key(
            trace,
            pool,
            Site::FoundKey,
            page,
            place,
            position.dep.later(1),
        )
    }

    #[inline]
    fn set_id<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        position: Position,
        id: u32,
    ) {
        let place = self.leaf_ids(position.node).at(position.slot - 1);
        pool.store(trace, Site::IdStore, page, place, id, Dep::NONE);
    }

    fn insert<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        position: Position,
        key: Loaded<K>,
        id: u32,
    ) -> bool {
        self.insert_entry(trace, pool, page, position, key, id)
    }

    fn is_safe<T: Trace>(&self, trace: &mut T, pool: &Pool, page: &Fixed) -> bool {
        !self.is_nearly_full(trace, pool, page)
    }

    fn split<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        right: &Fixed,
    ) -> Loaded<K> {
        self.split_page(trace, pool, page, right)
    }

    fn remove<T: Trace>(&self, trace: &mut T, pool: &mut Pool, page: &Fixed, position: Position) {
        let (node, slot) = (position.node, position.slot - 1);
        let count = self.load_leaf_count(trace, pool, page, node, position.dep);
        for array in [self.leaf_keys(node), self.leaf_ids(node)] {
            let above = (slot + 1, count.value.into());
            shift(trace, pool, page, array, above, slot);
        }
        trace.work(STEP);
        let dep = count.token.after(1);
        self.store_leaf_count(trace, pool, page, node, count.value - 1, dep);
    }

    fn scan<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        from: Position,
        scan: &mut Scan<'_, K>,
    ) -> bool {
        self.scan_page(trace, pool, page, from, scan)
    }

    fn find_first<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        key: K,
        scan: &mut Scan<'_, K>,
    ) -> Position {
        let leaf = self.descend_to_first(trace, pool, page, key, scan);
        self.search_leaf(trace, pool, page, leaf, key, 0)
    }

    fn start_jumps<T: Trace>(&self, trace: &mut T, pool: &mut Pool, scan: &mut Scan<'_, K>) {
        self.start(trace, pool, scan);
    }

    fn end_jumps<T: Trace>(&self, trace: &mut T, pool: &mut Pool, scan: &mut Scan<'_, K>) {
        if let Some(jumps) = scan.jumps.take() {
            jumps.end(trace, pool);
        }
    }

    fn until_split(&self, entries: usize) -> usize {
        // A page is split when fewer entries than one for each leaf node are missing.
        let first = self.tree.fanout() as usize + 1 - self.tree.leaves as usize;
        first.saturating_sub(entries) + 1
    }

    fn entries(&self, pool: &Pool, page: &Fixed, leaf: bool) -> Result<Vec<(K, u32)>, Fault> {
        self.checked_page(pool, page, leaf)
    }
}
