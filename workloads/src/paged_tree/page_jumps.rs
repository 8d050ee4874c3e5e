//! Prefetching of leaf pages by jump pointers: the entries of the leaf parent pages, one page after the other (thesis sections 3.2.2 and
//! 3.3.5).

use super::Site;
use super::format::Format;
use super::key::Key;
use super::page::{NEXT, Position, STEP, load_header};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Trace};

/// How far leaf pages have been asked for.
#[derive(Debug)]
pub(super) struct PageJumps {
    /// A leaf parent page, pinned, and the entry whose page was asked for last.
    parent: Fixed,
    at: Position,
    latest: u32,
    end: RangeEnd,
}

/// The leaf page that a range ends in, and its parent page: nothing behind them is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct RangeEnd {
    pub leaf: u32,
    pub parent: u32,
}

impl PageJumps {
    /// Begins behind leaf page `first`, which the entry before `at` of its parent page leads to.
    pub(super) fn new<T: Trace>(
        trace: &mut T,
        pool: &mut Pool,
        (parent, at): (Fixed, Position),
        first: u32,
        end: RangeEnd,
    ) -> Self {
        let jumps = Self {
            parent,
            at,
            latest: first,
            end,
        };
        jumps.ask_for_next_parent(trace, pool);
        jumps
    }

    /// Asks for the parent page after this one, so that it is there when its turn comes.
    fn ask_for_next_parent<T: Trace>(&self, trace: &mut T, pool: &mut Pool) {
        let last = self.parent.page == self.end.parent;
        trace.work(STEP);
        trace.branch(Site::LastPrefetched, last, Dep::NONE);
        if !last {
            let next: Loaded<u32> = load_header(trace, pool, &self.parent, NEXT);
            pool.prefetch_page(trace, next.value, next.token.after(0));
        }
    }

    /// Asks storage for one more leaf page, unless the range ends before.
    pub(super) fn advance<K: Key, F: Format<K>, T: Trace>(
        &mut self,
        trace: &mut T,
        pool: &mut Pool,
        format: &F,
    ) {
        trace.work(STEP);
        let last = self.latest == self.end.leaf;
        trace.branch(Site::LastPrefetched, last, Dep::NONE);
        if last {
            return;
        }
        if let Some(at) = self.next_entry(trace, pool, format) {
            let child = format.id(trace, pool, &self.parent, at);
            self.latest = child.value;
            pool.prefetch_page(trace, child.value, child.token.after(0));
        }
    }

    /// Goes to the next entry, of this parent page or the next one.
    fn next_entry<K: Key, F: Format<K>, T: Trace>(
        &mut self,
        trace: &mut T,
        pool: &mut Pool,
        format: &F,
    ) -> Option<Position> {
        loop {
            if let Some(at) = format.following(trace, pool, &self.parent, self.at) {
                self.at = at;
                return Some(at);
            }
            let next: Loaded<u32> = load_header(trace, pool, &self.parent, NEXT);
            trace.branch(Site::LastPage, next.value != 0, next.token.after(1));
            if next.value == 0 {
                return None;
            }
            pool.unfix(trace, &self.parent, false);
            self.parent = pool.fix(trace, next.value, next.token.after(0));
            self.at = format.begin(trace, pool, &self.parent);
            self.ask_for_next_parent(trace, pool);
        }
    }

    /// Unpins the parent page.
    pub(super) fn end<T: Trace>(self, trace: &mut T, pool: &mut Pool) {
        pool.unfix(trace, &self.parent, false);
    }
}
