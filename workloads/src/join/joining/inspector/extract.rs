//! The counting sort (thesis section 5.5.1): pointers to probe tuples and their hash codes go to the arrays of the sub-partitions that slots
//! tell. The tuples themselves are not visited.

use super::arrays::Arrays;
use super::filters::Passed;
use super::slots::read;
use super::spots::{FIRST_BYTES, NEXT_SLOT, slot_bytes};
use crate::join::ahead::Reuse;
use crate::join::costs::{ITERATE, LOOP, TURN_PAGE};
use crate::join::joining::sites::Site;
use crate::join::relation::Relation;
use crate::join::stored::Asked;
use crate::place::Loaded;
use crate::tracer::{Dep, Trace};

/// Sorts the tuples of a partition's pages.
pub(in crate::join::joining) fn extract<T: Trace>(
    trace: &mut T,
    from: &Relation,
    (arrays, passed): (&mut Arrays, &Passed),
    line_bytes: u32,
) {
    arrays.open(trace, passed);
    let mut asked = Asked::nothing();
    if passed.pages > 0 {
        from.bring(trace, &mut asked, 0);
    }
    for page in 0..passed.pages {
        if trace.failed() {
            return;
        }
        trace.work(TURN_PAGE);
        let count = from.count(trace, page);
        let next = (page + 1 < passed.pages).then(|| {
            // From here on its lines are prefetched.
            from.bring(trace, &mut asked, page + 1);
            let next = from.page(page + 1);
            // How many slots there are is told by the header.
            prefetch(trace, from, next);
            next
        });
        let mut slots = Slots {
            page: from.page(page),
            next,
            end: from.format.page_bytes,
            known: Dep::NONE,
            line_bytes,
        };
        for number in 1..=count.value {
            trace.work(ITERATE / 2);
            slots.take(trace, from, arrays);
            trace.work(ITERATE / 2);
            let counted = count.token.after(1);
            trace.branch(Site::ProbeSlotsLeft, number < count.value, counted);
        }
    }
}

fn prefetch<T: Trace>(trace: &mut T, from: &Relation, address: u64) {
    let site = Site::ProbeSlotPrefetch;
    from.prefetch_line(trace, site, address, Reuse::Likely, Dep::NONE);
}

/// The slots of a page, and how far they have been read.
struct Slots {
    page: u64,
    /// The next page, whose slots are prefetched meanwhile.
    next: Option<u64>,
    /// In the page: where the next slot ends, and what that waits for.
    end: u32,
    known: Dep,
    line_bytes: u32,
}

impl Slots {
    /// Reads a slot, and adds its tuple to the arrays that it tells.
    fn take<T: Trace>(&mut self, trace: &mut T, from: &Relation, arrays: &mut Arrays) {
        let last = self.end - FIRST_BYTES;
        let new_line = last / self.line_bytes < self.end / self.line_bytes;
        if let Some(next) = self.next.filter(|_| new_line) {
            prefetch(trace, from, next + u64::from(last));
        }
        let address = self.page + u64::from(last);
        let bytes = from.load(trace, Site::ProbeSlot, address, FIRST_BYTES, self.known);
        let (code, place, count, first) = read(bytes.value);
        let tuple = from.pointer(self.page + u64::from(place));
        let mut told = bytes.map(|_| first);
        for number in 1..=count {
            arrays.add(trace, told.value, (tuple, code), told.token.after(1));
            trace.work(LOOP);
            let more = number < count;
            trace.branch(Site::SubPartitionsLeft, more, bytes.token.after(1));
            if more {
                told = further(trace, from, address - u64::from(number), self.known);
            }
        }
        self.known = bytes.token.after(NEXT_SLOT);
        self.end -= slot_bytes(count.into());
    }
}

/// Another sub-partition of a slot.
fn further<T: Trace>(trace: &mut T, from: &Relation, address: u64, dep: Dep) -> Loaded<u8> {
    let byte = from.load(trace, Site::FurtherSubPartition, address, 1, dep);
    byte.map(|bytes| bytes[0])
}
