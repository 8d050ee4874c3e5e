//! Scans of a page, and prefetching of leaf nodes by jump pointers: the in-page leaf parents of the leaf pages, one page after the other
//! (thesis section 3.3.5).

use super::DiskFirstPage;
use super::node::LEAF_NEXT;
use crate::paged_tree::Site;
use crate::paged_tree::format::{Jumps, MOST_LEVELS, Node, Scan};
use crate::paged_tree::key::Key;
use crate::paged_tree::page::{NEXT, Position, STEP, load_header, load_order};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Trace};
use crate::tree::scan::LEAF;

impl Jumps {
    /// Unpins its pages.
    pub(super) fn end<T: Trace>(self, trace: &mut T, pool: &mut Pool) {
        pool.unfix(trace, &self.page, false);
        if let Some(next) = self.next {
            pool.unfix(trace, &next, false);
        }
    }
}

impl DiskFirstPage {
    /// The leaf node that has or would have the first key of a range. If leaf nodes are prefetched ahead, the way there is kept.
    pub(super) fn descend_to_first<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        key: K,
        scan: &mut Scan<'_, K>,
    ) -> (u32, Dep) {
        let mut nodes = [(0, 0, 0); MOST_LEVELS];
        let mut depth = 0;
        let (leaf, dep) = self.descend(trace, pool, page, key, |node, slot, children| {
            nodes[depth] = (node, slot, children.value);
            depth += 1;
        });
        let latest = Node {
            page: page.page,
            node: leaf,
        };
        scan.jumps = scan.ahead.map(|_| Jumps {
            page: *page,
            nodes,
            depth,
            next: None,
            latest,
        });
        (leaf, dep)
    }

    /// Prefetches ahead of where a scan has found its first key.
    pub(super) fn start<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        scan: &mut Scan<'_, K>,
    ) {
        let tuples = self.tree.leaf_fanout as usize;
        let (Some((end, distance)), Some(jumps)) = (scan.ahead, &mut scan.jumps) else {
            return;
        };
        scan.taker.prefetch(trace, pool, tuples, self.line);
        // The scan may leave the page first, which so has a pin for each.
        jumps.page = pool.fix(trace, jumps.page.page, Dep::NONE);
        jumps.next = self.next_page(trace, pool, &jumps.page, end);
        for _ in 1..distance {
            self.advance(trace, pool, scan);
        }
    }

    /// Pins the page after one, unless the range ends here, and prefetches its header and its root.
    fn next_page<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        end: Node,
    ) -> Option<Fixed> {
        trace.work(STEP);
        trace.branch(Site::LastPage, page.page == end.page, Dep::NONE);
        if page.page == end.page {
            return None;
        }
        let next: Loaded<u32> = load_header(trace, pool, page, NEXT);
        if next.value == 0 {
            return None;
        }
        let next = pool.fix(trace, next.value, next.token.after(0));
        pool.prefetch(
            trace,
            Site::NonleafPrefetch,
            &next,
            (0, 1, self.line),
            next.dep,
        );
        self.prefetch_nonleaf(trace, pool, &next, self.root(next.page), next.dep);
        Some(next)
    }

    /// Prefetches one more leaf node, and the part of the return buffer that it may fill, unless the range ends before.
    fn advance<K: Key, T: Trace>(&self, trace: &mut T, pool: &mut Pool, scan: &mut Scan<'_, K>) {
        let (Some((end, _)), Some(jumps)) = (scan.ahead, &mut scan.jumps) else {
            return;
        };
        trace.work(2 * STEP);
        trace.branch(Site::NodeLoop, jumps.latest != end, Dep::NONE);
        if jumps.latest == end {
            return;
        }
        // Up to a node with another child; most often it is the leaf parent.
        let leaf_parent = jumps.depth;
        while jumps.depth > 0 {
            let (_, next, children) = jumps.nodes[jumps.depth - 1];
            trace.branch(Site::NodeLoop, next < children, Dep::NONE);
            if next < children {
                break;
            }
            jumps.depth -= 1;
        }
        let mut dep = jumps.page.dep;
        let mut depth = leaf_parent;
        if jumps.depth == 0 {
            let Some(next) = jumps.next.take() else {
                return;
            };
            pool.unfix(trace, &jumps.page, false);
            jumps.page = next;
            jumps.next = self.next_page(trace, pool, &next, end);
            let root = self.root(next.page);
            let header = Self::load_header(trace, pool, &next, root, next.dep);
            jumps.nodes[0] = (root, 0, header.value.1);
            jumps.depth = 1;
            depth = header.value.0;
            dep = next.dep;
        }
        // Down to a leaf node.
        loop {
            let (node, slot, children) = jumps.nodes[jumps.depth - 1];
            let child = self.load_child(trace, pool, &jumps.page, node, slot, dep);
            jumps.nodes[jumps.depth - 1] = (node, slot + 1, children);
            dep = child.token.after(1);
            if jumps.depth == depth {
                jumps.latest = Node {
                    page: jumps.page.page,
                    node: child.value,
                };
                self.prefetch_leaf(trace, pool, &jumps.page, child.value, dep);
                break;
            }
            let header = Self::load_header(trace, pool, &jumps.page, child.value, dep);
            jumps.nodes[jumps.depth] = (child.value, 0, header.value.1);
            jumps.depth += 1;
        }
        scan.taker
            .prefetch(trace, pool, self.tree.leaf_fanout as usize, self.line);
    }

    /// The position behind the next entry of a page: in the same in-page leaf node, or in the next one that has entries.
    pub(super) fn following_entry<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        from: Position,
    ) -> Option<Position> {
        let mut at = from;
        loop {
            let count = self.load_leaf_count(trace, pool, page, at.node, at.dep);
            let more = at.slot < usize::from(count.value);
            trace.work(STEP);
            trace.branch(Site::AnotherPage, more, count.token.after(1));
            if more {
                at.slot += 1;
                return Some(at);
            }
            let next: Loaded<u16> =
                pool.load(trace, Site::LeafHeader, page, at.node + LEAF_NEXT, at.dep);
            trace.work(STEP);
            trace.branch(Site::NodeLoop, next.value > 0, next.token.after(1));
            if next.value == 0 {
                return None;
            }
            at = Position {
                node: self.byte(next.value),
                slot: 0,
                dep: next.token.after(1),
            };
        }
    }

    /// Scans a page from a position on; whether the scan is over.
    pub(super) fn scan_page<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        from: Position,
        scan: &mut Scan<'_, K>,
    ) -> bool {
        let (mut node, mut slot, mut dep) = (from.node, from.slot, from.dep);
        loop {
            if scan.jumps.is_some() {
                self.advance(trace, pool, scan);
            } else {
                self.prefetch_leaf(trace, pool, page, node, dep);
            }
            let (keys, ids) = (self.leaf_keys(node), self.leaf_ids(node));
            let count = self.load_leaf_count(trace, pool, page, node, dep);
            let entries = usize::from(count.value);
            trace.work(LEAF);
            trace.branch(Site::ScanLoop, slot < entries, count.token.after(2));
            while slot < entries {
                let key = load_order(
                    trace,
                    pool,
                    Site::LeafKey,
                    page,
                    keys.at(slot),
                    dep.later(1),
                );
                if scan.taker.is_beyond(trace, key) {
                    return true;
                }
                let id = pool.load(trace, Site::LeafId, page, ids.at(slot), dep.later(1));
                slot += 1;
                if scan.taker.take(trace, id, slot < entries) {
                    return true;
                }
            }
            let next: Loaded<u16> = pool.load(trace, Site::LeafHeader, page, node + LEAF_NEXT, dep);
            trace.work(STEP);
            trace.branch(Site::NodeLoop, next.value > 0, next.token.after(1));
            if next.value == 0 {
                return false;
            }
            (node, slot, dep) = (self.byte(next.value), 0, next.token.after(1));
        }
    }
}
