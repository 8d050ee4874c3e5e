//! A scan of probe tuples whose slots tell sub-partitions, by an algorithm that does not ask for these.

use super::slots::read;
use super::spots::{FIRST_BYTES, NEXT_SLOT, slot_bytes};
use crate::join::ahead::{Ahead, Prefetched, Reuse};
use crate::join::costs::{ITERATE, TURN_PAGE};
use crate::join::joining::sites::Site;
use crate::join::pages::HEADER_BYTES;
use crate::join::relation::Relation;
use crate::join::scan::{Input, Inputs};
use crate::join::sites::Site as JoinSite;
use crate::join::stored::Asked;
use crate::tracer::{Dep, Token, Trace};

/// How far the tuples of a partition have been read.
#[derive(Debug)]
pub(in crate::join::joining) struct ListScan {
    prefetched: Option<Prefetched>,
    line_bytes: u32,
    /// The next page.
    page: u64,
    next: u32,
    on_page: u32,
    /// In the page: where the next slot ends.
    end: u32,
    /// In the page, if lengths differ: where the next tuple begins at the latest, and where all of them end.
    place: u32,
    tuples_until: u32,
    opened: Token,
    /// What the place of the next slot waits for.
    slot_known: Dep,
    asked: Asked,
}

impl ListScan {
    pub(in crate::join::joining) fn new(ahead: Option<Ahead>, line_bytes: u32) -> Self {
        Self {
            prefetched: ahead.map(Prefetched::nothing),
            line_bytes,
            page: 0,
            next: 0,
            on_page: 0,
            end: 0,
            place: 0,
            tuples_until: 0,
            opened: Token::NONE,
            slot_known: Dep::NONE,
            asked: Asked::nothing(),
        }
    }

    fn open<T: Trace>(&mut self, from: &Relation, trace: &mut T) {
        trace.work(TURN_PAGE);
        from.bring(trace, &mut self.asked, self.page);
        let count = from.count(trace, self.page);
        self.page += 1;
        (self.next, self.on_page, self.opened) = (0, count.value, count.token);
        (self.end, self.slot_known) = (from.format.page_bytes, Dep::NONE);
        if let Some(prefetched) = &mut self.prefetched {
            // The header has been read.
            prefetched.open(from.format, HEADER_BYTES);
            if from.format.varies() {
                self.place = HEADER_BYTES;
                self.tuples_until = from.tuples_until(trace, self.page - 1);
            }
        }
    }

    /// Prefetches tuples and the least slots some tuples ahead, and the next line of slots, which may be longer.
    fn look_ahead<T: Trace>(&mut self, from: &Relation, trace: &mut T) {
        let page = from.page(self.page - 1);
        let mut fetch = |place: u32| {
            let (address, once) = (page + u64::from(place), Reuse::Likely);
            from.prefetch_line(trace, JoinSite::PagePrefetch, address, once, Dep::NONE);
        };
        if let Some(prefetched) = &mut self.prefetched {
            let (tuples, bytes) = ((self.next, self.on_page), (self.place, self.tuples_until));
            prefetched.look(from.format, tuples, bytes, &mut fetch);
            let last = self.end - FIRST_BYTES;
            if last / self.line_bytes < self.end / self.line_bytes {
                fetch(last.saturating_sub(self.line_bytes));
            }
        }
    }
}

impl Inputs for ListScan {
    fn next<T: Trace>(&mut self, from: &mut Relation, trace: &mut T) -> Option<Input> {
        if self.next == self.on_page {
            if trace.failed() || from.on_page(self.page) == 0 {
                return None;
            }
            self.open(from, trace);
        }
        self.look_ahead(from, trace);
        let page = from.page(self.page - 1);
        trace.work(ITERATE / 2);
        let address = page + u64::from(self.end - FIRST_BYTES);
        let bytes = from.load(
            trace,
            Site::ProbeSlot,
            address,
            FIRST_BYTES,
            self.slot_known,
        );
        let (code, place, count, _) = read(bytes.value);
        self.slot_known = bytes.token.after(NEXT_SLOT);
        self.end -= slot_bytes(count.into());
        self.place = place + from.format.tuple_bytes;
        self.next += 1;
        trace.work(ITERATE / 2);
        let more = self.next < self.on_page;
        trace.branch(Site::ProbeSlotsLeft, more, self.opened.after(1));
        Some(Input {
            code,
            hashed: bytes.token.after(0),
            tuple: bytes.map(|_| page + u64::from(place)),
            bytes: None,
        })
    }
}
