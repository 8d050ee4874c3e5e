//! Finding a key in an area: by binary search over its slots, whose prefixes decide as far as they can.

use super::{Area, LIBRARY_CALL, STEP, Slot, WORD, Wanted};
use crate::place::Loaded;
use crate::pool::Pool;
use crate::sorted::{BOUNDS, LOOP_TEST, upper_bound};
use crate::string_index::Site;
use crate::string_index::sites::SEARCH;
use crate::tracer::{Dep, Trace};
use std::cmp::Ordering;

// Plain instructions, as those of the area.

/// A word of `memcmp`: load that of the key looked for, bump, compare with the end.
const COMPARE_WORD: u32 = 3;
/// Two words that differ: reverse the bytes of both and compare.
const COMPARE_DIFFERENT: u32 = 3;
/// Comparing a prefix, whose bytes are reversed.
const COMPARE_PREFIX: u32 = 2;
/// Comparing the lengths of keys that have all else in common.
const COMPARE_LENGTHS: u32 = 1;

impl Area {
    /// How the key of a slot compares with the one looked for, and what is in the slot unless the prefix decides.
    #[inline]
    pub(super) fn order<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        slot: usize,
        wanted: &Wanted<'_>,
    ) -> (Loaded<Ordering>, Option<Loaded<Slot>>) {
        if self.format.prefix > 0 {
            let prefix = self.load_prefix(trace, pool, slot);
            let order = prefix
                .value
                .cmp(&wanted.prefix[..self.format.prefix as usize]);
            let words = self.format.prefix.div_ceil(WORD);
            trace.work(words * COMPARE_PREFIX);
            let dep = prefix.token.after((words * COMPARE_PREFIX) as u8);
            trace.branch(Site::PrefixEqual, order == Ordering::Equal, dep);
            if order != Ordering::Equal {
                return (prefix.map(|_| order), None);
            }
        }
        let found = self.load_slot(trace, pool, slot);
        let order = self.order_of_rests(trace, pool, found, wanted);
        (order, Some(found))
    }

    /// How two keys compare whose prefixes are equal, if there are any.
    #[inline]
    fn order_of_rests<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        found: Loaded<Slot>,
        wanted: &Wanted<'_>,
    ) -> Loaded<Ordering> {
        let (slot, prefix) = (found.value, self.format.prefix);
        let first = self.rest(slot);
        let rest = pool.peek_bytes(&self.page, first, slot.length.saturating_sub(prefix));
        let beside = &wanted.bytes[wanted.bytes.len().min(prefix as usize)..];
        let address = self.page.address + u64::from(first);
        trace.work(LIBRARY_CALL);
        let mut token = found.token;
        let both = rest.len().min(beside.len());
        for at in (0..both).step_by(WORD as usize) {
            let end = both.min(at + WORD as usize);
            let (site, dep) = (self.format.parts.key, found.token.after(2));
            token = trace.load(site, address + at as u64, (end - at) as u16, 1, dep);
            trace.work(COMPARE_WORD);
            let order = rest[at..end].cmp(&beside[at..end]);
            trace.branch(Site::WordEqual, order == Ordering::Equal, token.after(1));
            if order != Ordering::Equal {
                trace.work(COMPARE_DIFFERENT);
                return Loaded {
                    value: order,
                    token,
                };
            }
        }
        trace.work(COMPARE_LENGTHS);
        let lengths = (slot.length as usize).cmp(&wanted.bytes.len());
        Loaded {
            value: lengths,
            token,
        }
    }

    /// How many keys are not above the one looked for, where the first `first` are known not to be.
    #[inline]
    pub(in crate::string_index) fn search<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        wanted: &Wanted<'_>,
        first: usize,
    ) -> usize {
        let count = self.count(trace, pool);
        trace.work(BOUNDS);
        let end = usize::from(count.value);
        upper_bound(
            trace,
            SEARCH,
            (first.min(end), end),
            count.token.after(LOOP_TEST as u8),
            STEP,
            |trace, middle| self.order(trace, pool, middle, wanted).0,
            |order| *order == Ordering::Greater,
        )
    }

    /// Whether the key before a slot is the one looked for.
    #[inline]
    pub(in crate::string_index) fn holds<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        slot: usize,
        wanted: &Wanted<'_>,
    ) -> bool {
        trace.branch(Site::Position, slot > 0, Dep::NONE);
        if slot == 0 {
            return false;
        }
        let (order, _) = self.order(trace, pool, slot - 1, wanted);
        trace.work(STEP);
        let found = order.value == Ordering::Equal;
        trace.branch(Site::KeyFound, found, order.token.after(1));
        found
    }
}
