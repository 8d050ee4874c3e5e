//! A scan of a relation: tuple after tuple, with hash codes.

use super::ahead::{Ahead, Prefetched};
use super::costs::{HASH, ITERATE, TURN_PAGE};
use super::hash::hash;
use super::pages::WORD;
use super::relation::Relation;
use super::sites::Site;
use crate::place::Loaded;
use crate::tracer::{Dep, Token, Trace};
use crate::word::Word;

/// An input tuple.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    /// Its hash code, and what that waits for.
    pub(super) code: u32,
    pub(super) hashed: Dep,
    /// Where it lies, which its slot says.
    pub(super) tuple: Loaded<u64>,
}

/// A scan of all tuples of a relation.
#[derive(Debug)]
pub(super) struct Scan {
    prefetched: Option<Prefetched>,
    page: u64,
    next: u32,
    on_page: u32,
    opened: Token,
}

impl Scan {
    pub(super) fn new(ahead: Option<Ahead>) -> Self {
        Self {
            prefetched: ahead.map(Prefetched::nothing),
            page: 0,
            next: 0,
            on_page: 0,
            opened: Token::NONE,
        }
    }

    /// The next tuple, if there is one.
    pub(super) fn next<T: Trace>(&mut self, from: &mut Relation, trace: &mut T) -> Option<Input> {
        if self.next == self.on_page {
            if trace.failed() || from.on_page(self.page) == 0 {
                return None;
            }
            self.open(from, trace);
        }
        self.look_ahead(from, trace);
        let format = from.format;
        let page = from.page(self.page - 1);
        trace.work(ITERATE / 2);
        let slot = from.load(
            trace,
            Site::Slot,
            page + u64::from(format.slot(self.next)),
            format.slot_bytes,
            self.opened.after(0),
        );
        self.next += 1;
        let word = |number: u32| u32::read(slot.value, (number * WORD) as usize);
        let place = word(u32::from(format.holds_codes())) & 0xFFFF;
        let tuple = Loaded {
            value: page + u64::from(place),
            token: slot.token,
        };
        trace.work(ITERATE / 2);
        trace.branch(Site::SlotsLeft, self.next < self.on_page, Dep::NONE);
        let (code, hashed) = if format.holds_codes() {
            (word(0), slot.token.after(0))
        } else {
            let key = from.key(trace, Site::InputKey, tuple.value, slot.token.after(0));
            trace.work(HASH.into());
            (hash(key.value), key.token.after(HASH))
        };
        Some(Input {
            code,
            hashed,
            tuple,
        })
    }

    fn open<T: Trace>(&mut self, from: &mut Relation, trace: &mut T) {
        from.make_until(self.page + 1);
        trace.work(TURN_PAGE);
        let count = from.count(trace, self.page);
        self.page += 1;
        (self.next, self.on_page, self.opened) = (0, count.value, count.token);
        if let Some(prefetched) = &mut self.prefetched {
            prefetched.open(from.format);
        }
    }

    /// Prefetches what the tuples up to some ahead of the next are read from.
    fn look_ahead<T: Trace>(&mut self, from: &Relation, trace: &mut T) {
        let page = from.page(self.page - 1);
        if let Some(prefetched) = &mut self.prefetched {
            prefetched.look(from.format, self.next, self.on_page, |place| {
                from.prefetch_line(trace, Site::PagePrefetch, page + u64::from(place));
            });
        }
    }
}
