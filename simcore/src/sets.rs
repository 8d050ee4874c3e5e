//! Which set of a cache or a TLB level a line or a page belongs to.

/// So many sets; a number belongs to the one that it is congruent to. Sliced caches and some TLBs have no power of two of
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sets {
    /// Bits of the number that are its set, for a power of two of sets.
    mask: u64,
    /// How many there are, if that is no power of two; 0 if it is.
    divisor: u64,
}

impl Sets {
    /// At least one set.
    pub(crate) fn new(count: u64) -> Self {
        let is_power = count.is_power_of_two();
        Self {
            mask: if is_power { count - 1 } else { 0 },
            divisor: if is_power { 0 } else { count },
        }
    }

    /// A set that is found at once: a number's own, for a power of two of sets. For others it is the first, which holds
    /// the number only if that belongs there: who does not find it there has to look in [`Sets::of`].
    #[inline(always)]
    pub(crate) fn at_once(self, number: u64) -> usize {
        (number & self.mask) as usize
    }

    /// The bits of a number that are its set, if nothing else is needed to know it.
    pub(crate) fn mask(self) -> Option<u64> {
        (self.divisor == 0).then_some(self.mask)
    }

    pub(crate) fn count(self) -> usize {
        (self.mask + 1).max(self.divisor) as usize
    }

    /// The set of a line or a page.
    #[inline]
    pub(crate) fn of(self, number: u64) -> usize {
        if self.divisor == 0 {
            (number & self.mask) as usize
        } else {
            self.remainder(number)
        }
    }

    /// Out of line: a division is nothing that the host should prepare for where there are masks.
    #[cold]
    #[inline(never)]
    fn remainder(self, number: u64) -> usize {
        (number % self.divisor) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sets_are_remainders(count in 1_u64..5000, number in any::<u64>()) {
            let sets = Sets::new(count);
            prop_assert_eq!(sets.of(number) as u64, number % count);
            prop_assert_eq!(sets.count() as u64, count);
            if count.is_power_of_two() {
                prop_assert_eq!(sets.at_once(number), sets.of(number));
            }
            prop_assert_eq!(sets.mask().is_some(), count.is_power_of_two());
        }
    }
}
