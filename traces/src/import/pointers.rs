//! Which load brought the pointer that an access goes through.
//!
//! A recording says what each load of 8 bytes has read. If an access goes to an address at or a little above such a value, it needs that load.

/// Bytes behind a pointer that an access through it may go to: an object, or a node of a tree.
const SPAN: u64 = 4096;
/// Values below are numbers: no program has memory there.
const LEAST: u64 = 1 << 16;
/// Bits of user addresses, with five levels of page tables.
const ADDRESS_BITS: u32 = 57;
/// Sets of pointers, by the [`SPAN`] that they point into. All of them together remember more loads than a core has under way.
const SETS: usize = 1024;
const WAYS: usize = 8;

/// A value that was loaded, and the number of the event that did so; 0 is no pointer.
#[derive(Clone, Copy, Debug, Default)]
struct Pointer {
    value: u64,
    event: u64,
}

/// The pointers that were loaded lately.
#[derive(Debug)]
pub(super) struct Pointers {
    sets: Vec<[Pointer; WAYS]>,
}

impl Default for Pointers {
    fn default() -> Self {
        Self {
            sets: vec![[Pointer::default(); WAYS]; SETS],
        }
    }
}

impl Pointers {
    /// Event `event` has loaded `value`.
    #[inline]
    pub(super) fn loaded(&mut self, value: u64, event: u64) {
        if value < LEAST || value >> ADDRESS_BITS != 0 {
            return;
        }
        let set = &mut self.sets[Self::set(value / SPAN)];
        let same = set.iter().position(|pointer| pointer.value == value);
        let oldest = || (0..WAYS).min_by_key(|&way| set[way].event);
        let way = same.or_else(oldest).unwrap_or(0);
        set[way] = Pointer { value, event };
    }

    /// The event that loaded the pointer which an access to `address` goes through: the nearest one at or below it.
    #[inline]
    pub(super) fn to(&self, address: u64) -> Option<u64> {
        let span = address / SPAN;
        let sets = [Some(span), span.checked_sub(1)];
        let pointers = sets.into_iter().flatten();
        pointers
            .flat_map(|span| &self.sets[Self::set(span)])
            .filter(|pointer| pointer.value >= LEAST)
            .filter(|pointer| pointer.value <= address && address - pointer.value < SPAN)
            .max_by_key(|pointer| pointer.value)
            .map(|pointer| pointer.event)
    }

    /// Neighbours lie in different sets, and so do spans that are a power of two apart.
    fn set(span: u64) -> usize {
        (span ^ span >> 10 ^ span >> 20) as usize % SETS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_needs_the_load_of_the_nearest_pointer_below() {
        let mut pointers = Pointers::default();
        pointers.loaded(0x7f00_0000_1000, 1);
        pointers.loaded(0x7f00_0000_1800, 2);
        assert_eq!(pointers.to(0x7f00_0000_0fff), None);
        assert_eq!(pointers.to(0x7f00_0000_1000), Some(1));
        assert_eq!(pointers.to(0x7f00_0000_17ff), Some(1));
        assert_eq!(pointers.to(0x7f00_0000_1808), Some(2));
        assert_eq!(pointers.to(0x7f00_0000_27ff), Some(2), "in the span behind");
        assert_eq!(pointers.to(0x7f00_0000_2800), None);
    }

    #[test]
    fn of_loads_of_one_value_it_is_the_latest() {
        let mut pointers = Pointers::default();
        pointers.loaded(0x10000, 1);
        pointers.loaded(0x10000, 5);
        assert_eq!(pointers.to(0x10008), Some(5));
    }

    #[test]
    fn numbers_are_no_pointers() {
        let mut pointers = Pointers::default();
        for value in [0, 8, LEAST - 1, 1 << ADDRESS_BITS, u64::MAX] {
            pointers.loaded(value, 1);
            assert_eq!(pointers.to(value), None, "{value:#x}");
        }
        assert_eq!(pointers.to(0), None);
        assert_eq!(pointers.to(100), None);
    }

    #[test]
    fn of_many_pointers_into_one_span_the_latest_are_known() {
        let mut pointers = Pointers::default();
        for number in 1..=9 {
            pointers.loaded(0x10000 + 64 * number, number);
        }
        assert_eq!(pointers.to(0x10040), None, "the first of nine is forgotten");
        assert_eq!(pointers.to(0x10080), Some(2));
        assert_eq!(pointers.to(0x10240), Some(9));
    }
}
