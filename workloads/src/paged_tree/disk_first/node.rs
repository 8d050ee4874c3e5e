//! Nodes of the tree in a page, and the way down to a leaf node.

use super::DiskFirstPage;
use crate::paged_tree::Site;
use crate::paged_tree::key::Key;
use crate::paged_tree::page::{STEP, search};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Trace};
use crate::tree::ELEMENT;

/// Place of the root: mask of the pageID, times the lines of a leaf node (shift, add).
const ROOT: u32 = 3;
/// Bits of a non-leaf node's header that count its children; its level is above them.
const COUNT_BITS: u32 = 12;
/// Byte of a leaf node's header with the line of the next one; 0 after the last.
pub(super) const LEAF_NEXT: u32 = 2;

/// Level, counted from 1 above leaf nodes, and children of a non-leaf node.
pub(super) fn parts(header: u16) -> (usize, usize) {
    (
        usize::from(header >> COUNT_BITS),
        usize::from(header & ((1 << COUNT_BITS) - 1)),
    )
}

/// The header of a non-leaf node.
pub(super) fn header(level: usize, children: usize) -> u16 {
    (level << COUNT_BITS | children) as u16
}

impl DiskFirstPage {
    /// Byte of the root of a page's tree.
    #[inline]
    pub(super) fn root(&self, page: u32) -> u32 {
        (1 + (page & (self.roots - 1)) * self.tree.leaf_lines) * self.line
    }

    /// Byte of the node that begins at a line.
    #[inline]
    pub(super) fn byte(&self, line: u16) -> u32 {
        u32::from(line) * self.line
    }

    /// Line of the node that begins at a byte.
    #[inline]
    pub(super) fn line_of(&self, byte: u32) -> u16 {
        (byte / self.line) as u16
    }

    #[inline]
    pub(super) fn prefetch_leaf<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        node: u32,
        dep: Dep,
    ) {
        let lines = (node, self.tree.leaf_lines, self.line);
        pool.prefetch(trace, Site::LeafPrefetch, page, lines, dep);
    }

    #[inline]
    pub(super) fn prefetch_nonleaf<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        node: u32,
        dep: Dep,
    ) {
        let lines = (node, self.tree.nonleaf_lines, self.line);
        pool.prefetch(trace, Site::NonleafPrefetch, page, lines, dep);
    }

    /// Loads level and children of a non-leaf node.
    #[inline]
    pub(super) fn load_header<T: Trace>(
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        node: u32,
        dep: Dep,
    ) -> Loaded<(usize, usize)> {
        let header: Loaded<u16> = pool.load(trace, Site::NonleafHeader, page, node, dep);
        trace.work(STEP);
        header.map(parts)
    }

    /// Loads the byte where child `slot` of a non-leaf node begins.
    #[inline]
    pub(super) fn load_child<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        node: u32,
        slot: usize,
        dep: Dep,
    ) -> Loaded<u32> {
        trace.work(ELEMENT + STEP);
        let place = self.children(node).at(slot);
        let line: Loaded<u16> = pool.load(trace, Site::NonleafChild, page, place, dep.later(1));
        line.map(|line| self.byte(line))
    }

    /// The leaf node that has or would have `key`. `visit` is told every non-leaf node on the way, how many of its children may have
    /// keys that are not above, and how many there are.
    #[inline]
    pub(super) fn descend<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        key: K,
        mut visit: impl FnMut(u32, usize, Loaded<usize>),
    ) -> (u32, Dep) {
        trace.work(ROOT);
        let (mut node, mut dep) = (self.root(page.page), page.dep);
        loop {
            self.prefetch_nonleaf(trace, pool, page, node, dep);
            let header = Self::load_header(trace, pool, page, node, dep);
            let (level, children) = header.value;
            let deps = (dep, header.token.after(1));
            let keys = self.nonleaf_keys(node);
            let slot = search(
                trace,
                pool,
                Site::NonleafKey,
                page,
                keys,
                (1, children),
                deps,
                key,
            );
            visit(node, slot, header.map(|header| header.1));
            let child = self.load_child(trace, pool, page, node, slot - 1, dep);
            (node, dep) = (child.value, child.token.after(1));
            trace.branch(Site::InPageLevel, level > 1, header.token.after(1));
            if level == 1 {
                break;
            }
        }
        self.prefetch_leaf(trace, pool, page, node, dep);
        (node, dep)
    }

    /// The first leaf node of a page.
    pub(super) fn first_leaf<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
    ) -> (u32, Dep) {
        trace.work(ROOT);
        let (mut node, mut dep) = (self.root(page.page), page.dep);
        loop {
            self.prefetch_nonleaf(trace, pool, page, node, dep);
            let header = Self::load_header(trace, pool, page, node, dep);
            let child = self.load_child(trace, pool, page, node, 0, dep);
            (node, dep) = (child.value, child.token.after(1));
            let inner = header.value.0 > 1;
            trace.branch(Site::InPageLevel, inner, header.token.after(1));
            if !inner {
                return (node, dep);
            }
        }
    }

    /// Loads the entries of a leaf node.
    #[inline]
    #[allow(clippy::unused_self, reason = "as the others")]
    pub(super) fn load_leaf_count<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        node: u32,
        dep: Dep,
    ) -> Loaded<u16> {
        pool.load(trace, Site::LeafHeader, page, node, dep)
    }

    /// Stores the entries of a leaf node; `dep` is what their number waits for.
    #[inline]
    #[allow(clippy::unused_self, reason = "as the others")]
    pub(super) fn store_leaf_count<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        node: u32,
        count: u16,
        dep: Dep,
    ) {
        pool.store(trace, Site::LeafStore, page, node, count, dep);
    }
}
