//! Which entry of a set was used longest ago.
//!
//! A TLB may have a hundred ways, and a walk should not look at them all. A set's entries are put in the order of their uses once;
//! who has been used since is passed over, since everybody else was used before. When nobody is left, they are ordered again.

/// Ways among which one minimum is found as quickly.
const FEW_WAYS: usize = 16;

/// The entries of one set in the order of their uses, as far as they have not left.
#[derive(Clone, Debug, Default)]
pub(super) struct Victims {
    /// First entry of the set.
    start: usize,
    /// What each entry's use was, the oldest last.
    uses: Vec<u64>,
}

impl Victims {
    /// The use that is oldest in the set whose entries are `start` and those behind it. All uses differ; `uses` are the set's own, and
    /// `is_current` says whether a use that was seen before is still its entry's latest.
    pub(super) fn oldest(
        &mut self,
        start: usize,
        uses: &[u64],
        is_current: impl Fn(u64) -> bool,
    ) -> u64 {
        if uses.len() <= FEW_WAYS {
            return uses.iter().copied().min().unwrap_or(0);
        }
        if self.start == start {
            while let Some(used) = self.uses.pop() {
                if is_current(used) {
                    return used;
                }
            }
        }
        self.start = start;
        self.uses.clear();
        self.uses.extend_from_slice(uses);
        self.uses.sort_unstable_by(|one, other| other.cmp(one));
        self.uses.pop().expect("a set has entries")
    }

    /// Forgets an order that no longer holds.
    pub(super) fn clear(&mut self) {
        self.uses.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Entries of a set.
    const ENTRIES: usize = 40;

    proptest! {
        /// The oldest use is the smallest, whatever entries were used, of whichever set, and forgotten in between.
        #[test]
        fn the_oldest_use_is_the_smallest(
            steps in prop::collection::vec((0..2 * ENTRIES, 0_u32..40, any::<bool>()), 1..600),
        ) {
            let mut uses: Vec<u64> = (0..2 * ENTRIES as u64).collect();
            let mut victims = Victims::default();
            let mut clock = 0;
            for (entry, forgets, asks) in steps {
                clock += 1;
                let mut used = entry;
                if forgets == 0 {
                    uses = (0..2 * ENTRIES as u64).collect();
                    victims.clear();
                } else if asks {
                    let start = entry / ENTRIES * ENTRIES;
                    let set = &uses[start..start + ENTRIES];
                    let oldest = victims.oldest(start, set, |used| uses[used as usize % 1000] == used);
                    prop_assert_eq!(Some(&oldest), set.iter().min());
                    used = oldest as usize % 1000;
                }
                uses[used] = clock * 1000 + used as u64;
            }
        }
    }
}
