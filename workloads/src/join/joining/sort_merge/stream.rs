//! The tuples of one side by key: those in order as they are scanned, and between them those out of order, which have been sorted.

use super::entries::{Array, Entries};
use super::inputs::Inputs;
use super::sites::Site;
use crate::join::ahead::{Ahead, Reuse};
use crate::join::costs::{LOOP, TEST};
use crate::join::relation::{Relation, Told};
use crate::join::scan::{Input, Scan};
use crate::join::sites::Site as JoinSite;
use crate::tracer::{Dep, Token, Trace};

/// The next tuple of an input, whose key has been read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) key: u32,
    pub(super) tuple: u64,
    /// Its length, if a slot has told it.
    pub(super) bytes: Told,
    pub(super) known: Token,
    pub(super) out_of_order: bool,
}

/// How one side is read.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    inputs: &'a mut Inputs,
    scan: Scan,
    entries: &'a Entries,
    sorted: Array,
    next: u64,
    /// Entries between the prefetch of a tuple out of order and its turn.
    distance: u64,
    line_bytes: u32,
    key: JoinSite,
    /// Of those in order, and of those out of order.
    heads: [Option<Head>; 2],
}

impl<'a> Stream<'a> {
    /// Reads the first tuple of each input.
    pub(super) fn open<T: Trace>(
        trace: &mut T,
        inputs: &'a mut Inputs,
        (entries, sorted): (&'a Entries, Array),
        (ahead, distance, line_bytes): (Option<Ahead>, u32, u32),
        key: JoinSite,
    ) -> Self {
        let mut stream = Self {
            inputs,
            scan: Scan::new(ahead),
            entries,
            sorted,
            next: 0,
            distance: distance.into(),
            line_bytes,
            key,
            heads: [None; 2],
        };
        (0..stream.distance).for_each(|number| stream.prefetch(trace, number));
        stream.heads = [stream.next_in_order(trace), stream.next_sorted(trace)];
        stream
    }

    /// The relation that a tuple is in.
    pub(super) fn relation(&self, of: Head) -> &Relation {
        if of.out_of_order {
            &self.inputs.out_of_order
        } else {
            &self.inputs.in_order
        }
    }

    /// The tuple with the least key of those that are left.
    pub(super) fn next<T: Trace>(&mut self, trace: &mut T) -> Option<Head> {
        let sorted_first = match self.heads {
            [Some(in_order), Some(sorted)] => {
                trace.work(TEST);
                let sorted_first = sorted.key < in_order.key;
                let waits = in_order.known.after(1);
                trace.branch(Site::DisplacedFirst, sorted_first, waits);
                sorted_first
            }
            [in_order, _] => in_order.is_none(),
        };
        let next = if sorted_first {
            self.next_sorted(trace)
        } else {
            self.next_in_order(trace)
        };
        std::mem::replace(&mut self.heads[usize::from(sorted_first)], next)
    }

    fn next_in_order<T: Trace>(&mut self, trace: &mut T) -> Option<Head> {
        let from = &mut self.inputs.in_order;
        let Input { tuple, bytes, .. } = self.scan.next(from, trace)?;
        let key = from.key(trace, self.key, tuple.value, tuple.token.after(0));
        Some(Head {
            key: key.value,
            tuple: tuple.value,
            bytes,
            known: key.token,
            out_of_order: false,
        })
    }

    fn next_sorted<T: Trace>(&mut self, trace: &mut T) -> Option<Head> {
        let number = self.next;
        if number == self.sorted.entries {
            return None;
        }
        self.next += 1;
        trace.work(LOOP);
        self.prefetch(trace, number + self.distance);
        let place = (self.sorted.number, number);
        let entry = self.entries.load(trace, Site::Entry, place);
        Some(Head {
            key: entry.value.key,
            tuple: self.inputs.out_of_order.address(entry.value.pointer),
            bytes: None,
            known: entry.token,
            out_of_order: true,
        })
    }

    /// Prefetches the tuple of an entry, if there is one.
    fn prefetch<T: Trace>(&self, trace: &mut T, number: u64) {
        if number >= self.sorted.entries {
            return;
        }
        let place = (self.sorted.number, number);
        let entry = self.entries.load(trace, Site::EntryAhead, place);
        let from = &self.inputs.out_of_order;
        let tuple = from.address(entry.value.pointer);
        let (site, known): (Site, Dep) = (Site::DisplacedPrefetch, entry.token.after(0));
        from.prefetch_tuple(trace, site, tuple, self.line_bytes, Reuse::Likely, known);
    }
}
