//! The space of a page: leaf nodes and non-leaf nodes that are free, in a chain of each, and lines that were never used.

use super::DiskFirstPage;
use crate::paged_tree::Site;
use crate::paged_tree::page::{load_header, store_header};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Trace};

/// Bytes of the page header with the line of the first free leaf node, of the first free non-leaf node, and of what was never used.
/// Line 0 is the header's: none. A free node begins with the line of the next.
pub(super) const FREE_LEAF: u32 = 8;
pub(super) const FREE_NONLEAF: u32 = 10;
pub(super) const FREE_LINE: u32 = 12;

impl DiskFirstPage {
    /// Makes all space free: leaf nodes before the root, non-leaf nodes behind it, as many as a full page has, and the rest.
    pub(super) fn reset<T: Trace>(&self, trace: &mut T, pool: &mut Pool, page: &Fixed) {
        let root = u32::from(self.line_of(self.root(page.page)));
        let (leaf, nonleaf) = (self.tree.leaf_lines, self.tree.nonleaf_lines);
        let before = (1..root).step_by(leaf as usize).rev();
        self.chain(trace, pool, page, FREE_LEAF, before);
        let end = root + self.tree.nonleaf_nodes(self.tree.leaves) * nonleaf;
        let behind = (root + nonleaf..end).step_by(nonleaf as usize).rev();
        self.chain(trace, pool, page, FREE_NONLEAF, behind);
        store_header(trace, pool, page, FREE_LINE, end as u16, Dep::NONE);
    }

    /// Chains nodes, the last of which is taken first.
    fn chain<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        field: u32,
        lines: impl Iterator<Item = u32>,
    ) {
        let mut head = 0_u16;
        for line in lines {
            let node = line * self.line;
            pool.store(trace, Site::NonleafStore, page, node, head, Dep::NONE);
            head = line as u16;
        }
        store_header(trace, pool, page, field, head, Dep::NONE);
    }

    /// Puts a node on a chain; its address waits for `dep`.
    pub(super) fn release<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        field: u32,
        (node, dep): (u32, Dep),
    ) {
        let head: Loaded<u16> = load_header(trace, pool, page, field);
        let waits = head.token.after(0);
        pool.store(trace, Site::NonleafStore, page, node, head.value, waits);
        store_header(trace, pool, page, field, self.line_of(node), dep);
    }

    /// Takes a node of so many lines from a chain, or lines that were never used; there are some. Returns with it what its address waits for.
    fn take<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        field: u32,
        lines: u32,
    ) -> (u32, Dep) {
        let head: Loaded<u16> = load_header(trace, pool, page, field);
        trace.branch(Site::SpaceLeft, head.value > 0, head.token.after(1));
        if head.value > 0 {
            let (node, dep) = (self.byte(head.value), head.token.after(1));
            let next: Loaded<u16> = pool.load(trace, Site::LeafHeader, page, node, dep);
            store_header(trace, pool, page, field, next.value, next.token.after(0));
            return (node, dep);
        }
        let line: Loaded<u16> = load_header(trace, pool, page, FREE_LINE);
        let end = line.value + lines as u16;
        assert!(
            u32::from(end) <= self.tree.lines + 1,
            "page {} has no room for a node",
            page.page
        );
        let dep = line.token.after(1);
        store_header(trace, pool, page, FREE_LINE, end, dep);
        (self.byte(line.value), dep)
    }

    pub(super) fn take_leaf<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
    ) -> (u32, Dep) {
        self.take(trace, pool, page, FREE_LEAF, self.tree.leaf_lines)
    }

    pub(super) fn take_nonleaf<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
    ) -> (u32, Dep) {
        self.take(trace, pool, page, FREE_NONLEAF, self.tree.nonleaf_lines)
    }

    /// Whether there is room for a leaf node and so many non-leaf nodes.
    pub(super) fn has_room<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        nonleaf: u32,
    ) -> bool {
        let leaf: Loaded<u16> = load_header(trace, pool, page, FREE_LEAF);
        let mut lines = if leaf.value > 0 {
            0
        } else {
            self.tree.leaf_lines
        };
        let mut free: Loaded<u16> = load_header(trace, pool, page, FREE_NONLEAF);
        for _ in 0..nonleaf {
            if free.value > 0 {
                let node = self.byte(free.value);
                free = pool.load(trace, Site::NonleafHeader, page, node, Dep::NONE);
            } else {
                lines += self.tree.nonleaf_lines;
            }
        }
        let unused: Loaded<u16> = load_header(trace, pool, page, FREE_LINE);
        let fits = u32::from(unused.value) + lines <= self.tree.lines + 1;
        trace.branch(Site::SpaceLeft, fits, unused.token.after(2));
        fits
    }
}
