//! Range scans: before the entries of a leaf page are taken, all its leaf nodes are prefetched, which the map of nodes tells
//! (thesis section 3.3.5).

use super::{At, CacheFirstTree};
use crate::paged_tree::Site;
use crate::paged_tree::key::Key;
use crate::paged_tree::page::{STEP, load_order};
use crate::paged_tree::take::Taker;
use crate::tracer::Trace;
use crate::tree::scan::LEAF;
use crate::tree::search::CALL;
use crate::tree::{ReturnBuffer, ScanRange};

impl<K: Key> CacheFirstTree<K> {
    /// Copies the tupleIDs of the keys in `range` into `buffer`. With `prefetch`, the leaf node that the range ends in is looked for first,
    /// and pages are prefetched up to that one, unless the range is in one leaf node.
    pub fn scan<T: Trace>(
        &mut self,
        trace: &mut T,
        range: ScanRange<K>,
        buffer: ReturnBuffer<'_, u32>,
        prefetch: bool,
    ) {
        trace.work(CALL);
        let end = prefetch.then(|| {
            let leaf = self.descend(trace, range.end, |_, _, _, _| ());
            self.pool.unfix(trace, &leaf.page, false);
            self.pointer(&leaf)
        });
        let tuples = self.geometry.leaf_fanout as usize;
        let mut taker = Taker::new(range, buffer);
        let mut at = self.descend(trace, range.start, |_, _, _, _| ());
        let mut slot = self.find(trace, 0, &at, range.start, 0);
        if self.holds(trace, &at, slot, range.start) {
            slot -= 1;
        }
        if end.is_some() {
            taker.prefetch(trace, &self.pool, tuples, self.sizes.line);
        }
        let ahead = end.is_some_and(|end| end != self.pointer(&at));
        trace.work(2 * STEP);
        if ahead {
            self.prefetch_page(trace, &at);
        }
        loop {
            if end.is_some() {
                taker.prefetch(trace, &self.pool, tuples, self.sizes.line);
            }
            if self.scan_node(trace, &at, slot, &mut taker) {
                break;
            }
            let next = self.load_next(trace, 0, &at);
            trace.branch(Site::LastPage, next.value.page != 0, next.token.after(1));
            if next.value.page == 0 {
                break;
            }
            let before = at.page.page;
            at = self.follow(trace, &at, next);
            slot = 0;
            if !ahead {
                self.prefetch(trace, 0, &at);
            } else if at.page.page != before {
                self.prefetch_page(trace, &at);
            }
        }
        self.pool.unfix(trace, &at.page, false);
        taker.end();
    }

    /// Prefetches all nodes of a leaf page.
    fn prefetch_page<T: Trace>(&self, trace: &mut T, at: &At) {
        for node in self.nodes_of(trace, &at.page) {
            trace.work(2 * STEP);
            trace.branch(Site::NodeLoop, true, at.page.dep);
            let lines = (node, self.geometry.node_lines, self.sizes.line);
            self.pool
                .prefetch(trace, Site::LeafPrefetch, &at.page, lines, at.page.dep);
        }
    }

    /// Takes the entries of a leaf node from a slot on; whether the scan is over.
    fn scan_node<T: Trace>(
        &self,
        trace: &mut T,
        at: &At,
        slot: usize,
        taker: &mut Taker<'_, K>,
    ) -> bool {
        let (keys, ids) = (self.keys(0, at.node), Self::ids(at.node));
        let count = self.load_count(trace, 0, at);
        let entries = usize::from(count.value);
        trace.work(LEAF);
        trace.branch(Site::ScanLoop, slot < entries, count.token.after(2));
        for slot in slot..entries {
            let dep = at.dep.later(1);
            let key = load_order(
                trace,
                &self.pool,
                Site::LeafKey,
                &at.page,
                keys.at(slot),
                dep,
            );
            if taker.is_beyond(trace, key) {
                return true;
            }
            let id = self
                .pool
                .load(trace, Site::LeafId, &at.page, ids.at(slot), dep);
            if taker.take(trace, id, slot + 1 < entries) {
                return true;
            }
        }
        false
    }
}
