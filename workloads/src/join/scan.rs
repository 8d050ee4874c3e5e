//! A scan of a relation: tuple after tuple, with hash codes.

use super::ahead::{Ahead, Prefetched};
use super::costs::{HASH, ITERATE, TURN_PAGE};
use super::hash::hash;
use super::pages::HEADER_BYTES;
use super::relation::{Relation, Slot, Told};
use super::sites::Site;
use super::stored::Asked;
use crate::place::Loaded;
use crate::tracer::{Dep, Token, Trace};
use std::num::NonZero;

/// An input tuple.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    /// Its hash code, and what that waits for.
    pub(super) code: u32,
    pub(super) hashed: Dep,
    /// Where it lies, which its slot says.
    pub(super) tuple: Loaded<u64>,
    /// Its length, if the slot says it, too.
    pub(super) bytes: Told,
}

/// Where tuples come from: one after the other, from pages of a relation.
pub(super) trait Inputs {
    /// The next tuple, if there is one.
    fn next<T: Trace>(&mut self, from: &mut Relation, trace: &mut T) -> Option<Input>;
}

/// A scan of the tuples of a relation, which may stop between two pages and go on.
#[derive(Debug)]
pub(super) struct Scan {
    prefetched: Option<Prefetched>,
    /// The next page, and that at which the scan stops before the relation ends.
    page: u64,
    stop: u64,
    next: u32,
    on_page: u32,
    /// In the page, if lengths differ: where the next tuple begins at the latest, and where all of them end.
    place: u32,
    tuples_until: u32,
    opened: Token,
    asked: Asked,
}

impl Scan {
    pub(super) fn new(ahead: Option<Ahead>) -> Self {
        Self {
            prefetched: ahead.map(Prefetched::nothing),
            page: 0,
            stop: u64::MAX,
            next: 0,
            on_page: 0,
            place: 0,
            tuples_until: 0,
            opened: Token::NONE,
            asked: Asked::nothing(),
        }
    }

    /// Goes on, and stops at a page. Storage may be asked for those behind it.
    pub(super) fn go_on_until(&mut self, page: u64) {
        self.stop = page;
    }

    /// The next tuple, if there is one.
    pub(super) fn next<T: Trace>(&mut self, from: &mut Relation, trace: &mut T) -> Option<Input> {
        if self.next == self.on_page {
            if trace.failed() || self.page == self.stop || from.on_page(self.page) == 0 {
                return None;
            }
            self.open(from, trace);
        }
        self.look_ahead(from, trace);
        let page = from.page(self.page - 1);
        trace.work(ITERATE / 2);
        let Slot { code, tuple, bytes } = from.slot(trace, page, self.next, Dep::NONE);
        self.next += 1;
        if from.format.varies() {
            let bytes = bytes.map_or(from.format.tuple_bytes, NonZero::get);
            self.place = (tuple.value - page) as u32 + bytes;
        }
        trace.work(ITERATE / 2);
        let counted = self.opened.after(1);
        trace.branch(Site::SlotsLeft, self.next < self.on_page, counted);
        let (code, hashed) = if let Some(code) = code {
            (code.value, code.token.after(0))
        } else {
            let key = from.key(trace, Site::InputKey, tuple.value, tuple.token.after(0));
            trace.work(HASH.into());
            (hash(key.value), key.token.after(HASH))
        };
        Some(Input {
            code,
            hashed,
            tuple,
            bytes,
        })
    }

    fn open<T: Trace>(&mut self, from: &mut Relation, trace: &mut T) {
        from.make_until(self.page + 1);
        trace.work(TURN_PAGE);
        from.bring(trace, &mut self.asked, self.page);
        let count = from.count(trace, self.page);
        self.page += 1;
        (self.next, self.on_page, self.opened) = (0, count.value, count.token);
        if let Some(prefetched) = &mut self.prefetched {
            // The header has been read.
            prefetched.open(from.format, HEADER_BYTES);
            if from.format.varies() {
                self.place = HEADER_BYTES;
                self.tuples_until = from.tuples_until(trace, self.page - 1);
            }
        }
    }

    /// Prefetches what the tuples up to some ahead of the next are read from.
    fn look_ahead<T: Trace>(&mut self, from: &Relation, trace: &mut T) {
        let page = from.page(self.page - 1);
        if let Some(prefetched) = &mut self.prefetched {
            let (reuse, tuples) = (prefetched.reuse(), (self.next, self.on_page));
            let bytes = (self.place, self.tuples_until);
            prefetched.look(from.format, tuples, bytes, |place| {
                let address = page + u64::from(place);
                from.prefetch_line(trace, Site::PagePrefetch, address, reuse, Dep::NONE);
            });
        }
    }
}

impl Inputs for Scan {
    fn next<T: Trace>(&mut self, from: &mut Relation, trace: &mut T) -> Option<Input> {
        Self::next(self, from, trace)
    }
}
