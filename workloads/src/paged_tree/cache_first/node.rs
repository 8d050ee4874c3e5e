//! How nodes lie in a page, and what moves their entries.

use super::{At, CacheFirstTree, Pointer};
use crate::paged_tree::Site;
use crate::paged_tree::geometry::{
    CACHE_FIRST_HEADER_BYTES, CACHE_FIRST_LEAF_HEADER_BYTES, ID_BYTES, OFFSET_BYTES, POINTER_BYTES,
};
use crate::paged_tree::key::Key;
use crate::paged_tree::moves::{move_elements, shift};
use crate::paged_tree::page::{Array, STEP, store_key};
use crate::place::Loaded;
use crate::tracer::{Dep, Trace};
use crate::tree::ELEMENT;

/// Bytes of a leaf node's header with line and page of the next leaf node; its entries are counted at byte 0.
pub(super) const LEAF_NEXT_LINE: u32 = 2;
pub(super) const LEAF_NEXT_PAGE: u32 = 4;
/// Byte of a non-leaf node's header with its level in its page; its children are counted at byte 0.
pub(super) const IN_PAGE_LEVEL: u32 = 2;
/// Bytes of a leaf parent's header with line and page of the next leaf parent.
pub(super) const PARENT_NEXT_PAGE: u32 = 4;
pub(super) const PARENT_NEXT_LINE: u32 = 8;

impl<K: Key> CacheFirstTree<K> {
    /// Byte of the node that begins at a line.
    #[inline]
    pub(super) fn byte(&self, line: u16) -> u32 {
        u32::from(line) * self.sizes.line
    }

    pub(super) fn node_bytes(&self) -> u32 {
        self.geometry.node_lines * self.sizes.line
    }

    /// Pointer to a node.
    pub(super) fn pointer(&self, at: &At) -> Pointer {
        Pointer {
            page: at.page.page,
            line: (at.node / self.sizes.line) as u16,
        }
    }

    /// Most children of a node of a level; leaf parents are level 1.
    #[inline]
    pub(super) fn fanout(&self, level: usize) -> usize {
        let children = if level == 1 {
            self.geometry.parent_fanout
        } else {
            self.geometry.fanout
        };
        children as usize
    }

    /// Keys of a node: behind its header, before all IDs or pointers.
    #[inline]
    pub(super) fn keys(&self, level: usize, node: u32) -> Array {
        let header = match level {
            0 => CACHE_FIRST_LEAF_HEADER_BYTES,
            1 => CACHE_FIRST_HEADER_BYTES + POINTER_BYTES,
            _ => CACHE_FIRST_HEADER_BYTES,
        };
        Array {
            base: node + header,
            bytes: self.sizes.key,
        }
    }

    /// IDs of a leaf node, behind its keys.
    #[inline]
    pub(super) fn ids(&self, node: u32) -> Array {
        Array {
            base: self.keys(0, node).at(self.geometry.leaf_fanout as usize),
            bytes: ID_BYTES,
        }
    }

    /// PageIDs and lines of a non-leaf node's children, behind its keys.
    #[inline]
    pub(super) fn children(&self, level: usize, node: u32) -> (Array, Array) {
        let fanout = self.fanout(level);
        let pages = Array {
            base: self.keys(level, node).at(fanout),
            bytes: ID_BYTES,
        };
        let lines = Array {
            base: pages.at(fanout),
            bytes: OFFSET_BYTES,
        };
        (pages, lines)
    }

    /// Loads the entries of a leaf node, or the children of another.
    #[inline]
    pub(super) fn load_count<T: Trace>(&self, trace: &mut T, level: usize, at: &At) -> Loaded<u16> {
        let site = if level == 0 {
            Site::LeafHeader
        } else {
            Site::NonleafHeader
        };
        self.pool.load(trace, site, &at.page, at.node, at.dep)
    }

    /// Stores the entries of a leaf node, or the children of another; `dep` is what their number waits for.
    pub(super) fn store_count<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        at: &At,
        count: usize,
        dep: Dep,
    ) {
        trace.work(STEP);
        let site = if level == 0 {
            Site::LeafStore
        } else {
            Site::NonleafStore
        };
        self.pool
            .store(trace, site, &at.page, at.node, count as u16, dep);
    }

    /// Loads the pointer to child `slot`.
    #[inline]
    pub(super) fn load_child<T: Trace>(
        &self,
        trace: &mut T,
        level: usize,
        at: &At,
        slot: usize,
    ) -> Loaded<Pointer> {
        trace.work(2 * ELEMENT);
        let (pages, lines) = self.children(level, at.node);
        let dep = at.dep.later(1);
        let line: Loaded<u16> =
            self.pool
                .load(trace, Site::NonleafChild, &at.page, lines.at(slot), dep);
        let page: Loaded<u32> =
            self.pool
                .load(trace, Site::NonleafChild, &at.page, pages.at(slot), dep);
        page.map(|page| Pointer {
            page,
            line: line.value,
        })
    }

    /// Stores the pointer to child `slot`, with what it waits for.
    pub(super) fn store_child<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        at: &At,
        slot: usize,
        (child, dep): (Pointer, Dep),
    ) {
        let (pages, lines) = self.children(level, at.node);
        self.pool.store(
            trace,
            Site::PointerStore,
            &at.page,
            pages.at(slot),
            child.page,
            dep,
        );
        self.pool.store(
            trace,
            Site::PointerStore,
            &at.page,
            lines.at(slot),
            child.line,
            dep,
        );
    }

    /// Bytes of the line and the page in the pointer to the next node of a level that is chained.
    pub(super) fn next_fields(level: usize) -> (u32, u32) {
        if level == 0 {
            (LEAF_NEXT_LINE, LEAF_NEXT_PAGE)
        } else {
            (PARENT_NEXT_LINE, PARENT_NEXT_PAGE)
        }
    }

    /// Loads the pointer to the next leaf node or leaf parent.
    pub(super) fn load_next<T: Trace>(
        &self,
        trace: &mut T,
        level: usize,
        at: &At,
    ) -> Loaded<Pointer> {
        let (line, page) = Self::next_fields(level);
        let line: Loaded<u16> =
            self.pool
                .load(trace, Site::LeafHeader, &at.page, at.node + line, at.dep);
        let page: Loaded<u32> =
            self.pool
                .load(trace, Site::LeafHeader, &at.page, at.node + page, at.dep);
        page.map(|page| Pointer {
            page,
            line: line.value,
        })
    }

    /// Stores the pointer to the next leaf node or leaf parent, with what it waits for.
    pub(super) fn store_next<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        at: &At,
        (next, dep): (Pointer, Dep),
    ) {
        let (line, page) = Self::next_fields(level);
        self.pool.store(
            trace,
            Site::PointerStore,
            &at.page,
            at.node + line,
            next.line,
            dep,
        );
        self.pool.store(
            trace,
            Site::PointerStore,
            &at.page,
            at.node + page,
            next.page,
            dep,
        );
    }

    /// Puts an entry into a leaf node that has room.
    pub(super) fn put<T: Trace>(
        &mut self,
        trace: &mut T,
        at: &At,
        (slot, count): (usize, Loaded<u16>),
        key: K,
        id: u32,
    ) {
        let (keys, ids) = (self.keys(0, at.node), self.ids(at.node));
        for array in [keys, ids] {
            shift(
                trace,
                &mut self.pool,
                &at.page,
                array,
                (slot, count.value.into()),
                slot + 1,
            );
        }
        store_key(
            trace,
            &mut self.pool,
            Site::KeyStore,
            &at.page,
            keys.at(slot),
            key,
            Dep::NONE,
        );
        let place = ids.at(slot);
        self.pool
            .store(trace, Site::IdStore, &at.page, place, id, Dep::NONE);
        let entries = usize::from(count.value) + 1;
        self.store_count(trace, 0, at, entries, count.token.after(1));
    }

    /// Puts a child into a non-leaf node that has room.
    #[allow(clippy::too_many_arguments, reason = "a place and what goes there")]
    pub(super) fn put_child<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        at: &At,
        (slot, count): (usize, Loaded<u16>),
        key: Loaded<K>,
        child: (Pointer, Dep),
    ) {
        let keys = self.keys(level, at.node);
        let (pages, lines) = self.children(level, at.node);
        for array in [keys, pages, lines] {
            shift(
                trace,
                &mut self.pool,
                &at.page,
                array,
                (slot, count.value.into()),
                slot + 1,
            );
        }
        store_key(
            trace,
            &mut self.pool,
            Site::NonleafStore,
            &at.page,
            keys.at(slot),
            key.value,
            key.token.after(0),
        );
        self.store_child(trace, level, at, slot, child);
        let children = usize::from(count.value) + 1;
        self.store_count(trace, level, at, children, count.token.after(1));
    }

    /// Moves entries `keep..count` of a node to the beginning of another, which has none.
    pub(super) fn move_upper<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        (from, to): (&At, &At),
        (keep, count): (usize, usize),
    ) {
        let keys = (self.keys(level, from.node), self.keys(level, to.node));
        let mut arrays = vec![keys];
        if level == 0 {
            arrays.push((self.ids(from.node), self.ids(to.node)));
        } else {
            let (left, right) = (
                self.children(level, from.node),
                self.children(level, to.node),
            );
            arrays.extend([(left.0, right.0), (left.1, right.1)]);
        }
        for (source, target) in arrays {
            trace.work(STEP);
            let (first, place) = (source.at(keep), target.at(0));
            move_elements(
                trace,
                &mut self.pool,
                (&from.page, first),
                (&to.page, place),
                count - keep,
                source.bytes,
            );
        }
        self.store_count(trace, level, from, keep, Dep::NONE);
        self.store_count(trace, level, to, count - keep, Dep::NONE);
    }
}
