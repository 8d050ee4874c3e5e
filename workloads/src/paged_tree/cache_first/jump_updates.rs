//! Updates of the external jump-pointer array when a leaf page is split (thesis section 2.3.2).

use super::jump_array::Chunks;
use super::{ARRAY_PAGES, CacheFirstTree};
use crate::paged_tree::Site;
use crate::paged_tree::key::Key;
use crate::paged_tree::moves::shift;
use crate::paged_tree::page::{NEXT, STEP, load_header, store_header};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Trace};
use crate::tree::slots::{SPREAD, outward, spread};

impl<K: Key> CacheFirstTree<K> {
    /// Lists the new leaf page `right` behind `left`: what is listed between it and the nearest empty slot moves by one, and the pages
    /// listed there keep their hints.
    pub(super) fn list_page<T: Trace>(&mut self, trace: &mut T, left: &Fixed, right: &Fixed) {
        let chunks = self.chunks();
        let (listed, hint) = self.load_listed(trace, left);
        let chunk = self.pool.fix(trace, listed.value, listed.token.after(0));
        let here = chunks.find(trace, &self.pool, &chunk, hint.value.into(), left.page);
        let Some(empty) = chunks.nearest_empty(trace, &self.pool, &chunk, here) else {
            self.split_chunk(trace, &chunk);
            self.pool.unfix(trace, &chunk, true);
            return self.list_page(trace, left, right);
        };
        let (moved, to) = if empty > here {
            ((here + 1, empty), here + 2)
        } else {
            ((empty + 1, here + 1), empty)
        };
        shift(trace, &mut self.pool, &chunk, chunks.ids, moved, to);
        let here = if empty > here { here } else { here - 1 };
        let place = chunks.ids.at(here + 1);
        self.pool
            .store(trace, Site::IdStore, &chunk, place, right.page, Dep::NONE);
        self.store_listed(trace, left, (listed, here));
        self.store_listed(trace, right, (listed, here + 1));
        self.pool.unfix(trace, &chunk, true);
    }

    /// Divides a full chunk. The leaf pages that the new one lists are told; the others keep their hints.
    fn split_chunk<T: Trace>(&mut self, trace: &mut T, chunk: &Fixed) {
        let slots = self.chunks().slots;
        let keep = slots.div_ceil(2);
        let new = self.create(trace, ARRAY_PAGES);
        self.spread_out(trace, (chunk, keep), &new, slots - keep);
        self.spread_out(trace, (chunk, 0), chunk, keep);
        let next: Loaded<u32> = load_header(trace, &self.pool, chunk, NEXT);
        let waits = next.token.after(0);
        store_header(trace, &mut self.pool, &new, NEXT, next.value, waits);
        store_header(trace, &mut self.pool, chunk, NEXT, new.page, Dep::NONE);
        self.pool.unfix(trace, &new, true);
    }

    /// Spreads `count` adjacent pageIDs evenly over all slots of a chunk, from the last slot down, so that it may be the chunk they are in.
    fn spread_out<T: Trace>(
        &mut self,
        trace: &mut T,
        (from, first): (&Fixed, usize),
        to: &Fixed,
        count: usize,
    ) {
        let chunks = self.chunks();
        let mut left = count;
        for slot in (0..chunks.slots).rev() {
            trace.work(SPREAD);
            let filled = left > 0 && spread(left - 1, count, chunks.slots) == slot;
            trace.branch(Site::AnotherPage, filled, Dep::NONE);
            let page = if filled {
                left -= 1;
                chunks.load(trace, &self.pool, from, first + left)
            } else {
                Loaded::constant(0)
            };
            let place = chunks.ids.at(slot);
            let waits = page.token.after(0);
            self.pool
                .store(trace, Site::IdStore, to, place, page.value, waits);
            if filled && to.page != from.page {
                let listed = (Loaded::constant(to.page), slot);
                self.tell_listed(trace, page, listed);
            }
        }
    }

    /// Tells a leaf page which chunk lists it, and in which slot.
    pub(super) fn tell_listed<T: Trace>(
        &mut self,
        trace: &mut T,
        page: Loaded<u32>,
        listed: (Loaded<u32>, usize),
    ) {
        let page = self.pool.fix(trace, page.value, page.token.after(0));
        self.store_listed(trace, &page, listed);
        self.pool.unfix(trace, &page, true);
    }
}

impl Chunks {
    /// The empty slot nearest to `here`.
    fn nearest_empty<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        chunk: &Fixed,
        here: usize,
    ) -> Option<usize> {
        for (_, slot) in outward(here, self.slots).skip(1) {
            let listed = self.load(trace, pool, chunk, slot);
            trace.work(2 * STEP);
            let filled = listed.value != 0;
            trace.branch(Site::AnotherPage, filled, listed.token.after(1));
            if !filled {
                return Some(slot);
            }
        }
        None
    }
}
