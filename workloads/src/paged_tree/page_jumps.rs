//! Prefetching of leaf pages by jump pointers: the entries of the leaf parent pages, or of the chunks of an external array, one page after
//! the other (thesis sections 3.2.2 and 3.3.5).

use super::Site;
use super::format::Listing;
use super::page::{NEXT, Position, STEP, load_header};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Trace};

/// How far leaf pages have been asked for.
#[derive(Debug)]
pub(super) struct PageJumps {
    /// A page that lists leaf pages, pinned, and the entry whose page was asked for last.
    list: Fixed,
    at: Position,
    latest: u32,
    end: RangeEnd,
}

/// The leaf page that a range ends in, and the page that lists it: nothing behind them is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct RangeEnd {
    pub leaf: u32,
    pub list: u32,
}

impl PageJumps {
    /// Begins behind leaf page `first`, which the entry before `at` of page `list` leads to.
    pub(super) fn new<T: Trace>(
        trace: &mut T,
        pool: &mut Pool,
        (list, at): (Fixed, Position),
        first: u32,
        end: RangeEnd,
    ) -> Self {
        let jumps = Self {
            list,
            at,
            latest: first,
            end,
        };
        jumps.ask_for_next_list(trace, pool);
        jumps
    }

    /// Asks for the page that lists the leaf pages after these, so that it is there when its turn comes.
    fn ask_for_next_list<T: Trace>(&self, trace: &mut T, pool: &mut Pool) {
        let last = self.list.page == self.end.list;
        trace.work(STEP);
        trace.branch(Site::LastPrefetched, last, Dep::NONE);
        if !last {
            let next: Loaded<u32> = load_header(trace, pool, &self.list, NEXT);
            pool.prefetch_page(trace, next.value, next.token.after(0));
        }
    }

    /// Asks storage for one more leaf page, unless the range ends before.
    pub(super) fn advance<L: Listing, T: Trace>(
        &mut self,
        trace: &mut T,
        pool: &mut Pool,
        listing: &L,
    ) {
        trace.work(STEP);
        let last = self.latest == self.end.leaf;
        trace.branch(Site::LastPrefetched, last, Dep::NONE);
        if last {
            return;
        }
        if let Some(at) = self.next_entry(trace, pool, listing) {
            let child = listing.id(trace, pool, &self.list, at);
            self.latest = child.value;
            pool.prefetch_page(trace, child.value, child.token.after(0));
        }
    }

    /// Goes to the next entry, of this page or the next one.
    fn next_entry<L: Listing, T: Trace>(
        &mut self,
        trace: &mut T,
        pool: &mut Pool,
        listing: &L,
    ) -> Option<Position> {
        loop {
            if let Some(at) = listing.following(trace, pool, &self.list, self.at) {
                self.at = at;
                return Some(at);
            }
            let next: Loaded<u32> = load_header(trace, pool, &self.list, NEXT);
            trace.branch(Site::LastPage, next.value != 0, next.token.after(1));
            if next.value == 0 {
                return None;
            }
            pool.unfix(trace, &self.list, false);
            self.list = pool.fix(trace, next.value, next.token.after(0));
            self.at = listing.begin(trace, pool, &self.list);
            self.ask_for_next_list(trace, pool);
        }
    }

    /// Unpins the page that lists leaf pages.
    pub(super) fn end<T: Trace>(self, trace: &mut T, pool: &mut Pool) {
        pool.unfix(trace, &self.list, false);
    }
}
