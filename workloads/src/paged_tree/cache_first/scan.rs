//! Range scans: before the entries of a leaf page are taken, all its leaf nodes are prefetched, which the map of nodes tells, and storage is
//! asked for leaf pages ahead, which the external jump-pointer array lists (thesis section 3.3.5).

use super::{At, CacheFirstTree, Pointer};
use crate::paged_tree::key::Key;
use crate::paged_tree::page::{STEP, load_order};
use crate::paged_tree::page_jumps::{PageJumps, RangeEnd};
use crate::paged_tree::take::Taker;
use crate::paged_tree::{Ahead, Site};
use crate::tracer::{Dep, Trace};
use crate::tree::scan::LEAF;
use crate::tree::search::CALL;
use crate::tree::{ReturnBuffer, ScanRange};

impl<K: Key> CacheFirstTree<K> {
    /// Copies the tupleIDs of the keys in `range` into `buffer`. If leaf nodes or leaf pages are prefetched, the leaf node that the range
    /// ends in is looked for first. All nodes of a leaf page are, unless the range is in one leaf node; leaf pages are asked for as far
    /// ahead as `ahead` says, up to the one that the range ends in.
    pub fn scan<T: Trace>(
        &mut self,
        trace: &mut T,
        range: ScanRange<K>,
        buffer: ReturnBuffer<'_, u32>,
        ahead: Ahead,
    ) {
        trace.work(CALL);
        let (prefetches, asks) = (ahead.nodes.is_some(), ahead.pages > 0);
        let end = (prefetches || asks).then(|| {
            let leaf = self.descend(trace, range.end, |_, _, _, _| ());
            let list = asks.then(|| self.load_listed(trace, &leaf.page).0.value);
            self.pool.unfix(trace, &leaf.page, false);
            (self.pointer(&leaf), list)
        });
        let tuples = self.geometry.leaf_fanout as usize;
        let mut taker = Taker::new(range, buffer);
        let mut at = self.descend(trace, range.start, |_, _, _, _| ());
        let mut slot = self.find(trace, 0, &at, range.start, 0);
        if self.holds(trace, &at, slot, range.start) {
            slot -= 1;
        }
        if prefetches {
            taker.prefetch(trace, &self.pool, tuples, self.sizes.line);
        }
        let whole_pages = prefetches && end.is_some_and(|end| end.0 != self.pointer(&at));
        trace.work(2 * STEP);
        if whole_pages {
            self.prefetch_page(trace, &at);
        }
        let mut pages = self.start_pages(trace, &at, end);
        for _ in 0..ahead.pages {
            self.advance_pages(trace, pages.as_mut());
        }
        loop {
            if prefetches {
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
            let another = at.page.page != before;
            if !whole_pages {
                self.prefetch(trace, 0, &at);
            } else if another {
                self.prefetch_page(trace, &at);
            }
            if another {
                self.advance_pages(trace, pages.as_mut());
            }
        }
        self.pool.unfix(trace, &at.page, false);
        if let Some(pages) = pages {
            pages.end(trace, &mut self.pool);
        }
        taker.end();
    }

    /// Begins to ask for leaf pages, if that is wanted, and the range ends in another one than it begins in.
    fn start_pages<T: Trace>(
        &mut self,
        trace: &mut T,
        at: &At,
        end: Option<(Pointer, Option<u32>)>,
    ) -> Option<PageJumps> {
        let (Pointer { page: leaf, .. }, Some(list)) = end? else {
            return None;
        };
        let another = leaf != at.page.page;
        trace.work(STEP);
        trace.branch(Site::LastPrefetched, !another, Dep::NONE);
        another.then(|| self.page_jumps(trace, at, RangeEnd { leaf, list }))
    }

    /// Asks for one more leaf page, if pages are prefetched.
    fn advance_pages<T: Trace>(&mut self, trace: &mut T, pages: Option<&mut PageJumps>) {
        if let Some(pages) = pages {
            let chunks = self.chunks();
            pages.advance(trace, &mut self.pool, &chunks);
        }
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
        let (keys, ids) = (self.keys(0, at.node), self.ids(at.node));
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
