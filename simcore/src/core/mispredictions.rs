//! When branches of routines are predicted wrongly: as evenly as the share of each routine allows.

use super::Groups;

/// Instructions that a profile's rates refer to.
const INSTRUCTIONS: u64 = 1000;

/// Fewer groups are run one by one.
const FEWEST_GROUPS: u64 = 2;

/// The mispredictions of all routines, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Mispredictions {
    /// Instructions since the latest that was due, times mispredictions in a thousand of them.
    due: u64,
    pub(super) count: u64,
}

impl Mispredictions {
    /// Goes on by at most `rest` instructions, of which `rate` in a thousand are mispredicted; how many it were, and
    /// whether the last of them is one.
    #[inline]
    pub(super) fn advance(&mut self, rate: u64, rest: u64) -> (u64, bool) {
        if rate == 0 {
            return (rest, false);
        }
        let part = rest.min((INSTRUCTIONS - self.due).div_ceil(rate));
        self.due += part * rate;
        let mispredicts = self.due >= INSTRUCTIONS;
        if mispredicts {
            self.due -= INSTRUCTIONS;
            self.count += 1;
        }
        (part, mispredicts)
    }

    /// Goes on by all groups within `most` instructions that follow a misprediction of the same routine, if they are many.
    #[inline]
    pub(super) fn advance_by_groups(&mut self, rate: u64, most: u64) -> Option<Groups> {
        let count = (self.due + most * rate) / INSTRUCTIONS;
        if count < FEWEST_GROUPS {
            return None;
        }
        let end = |count: u64| (INSTRUCTIONS * count - self.due).div_ceil(rate);
        let instructions = end(count);
        let last = instructions - end(count - 1);
        self.due = self.due + instructions * rate - INSTRUCTIONS * count;
        self.count += count;
        Some(Groups {
            instructions,
            count,
            last,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_are_what_lies_between_mispredictions(rate in 1_u64..=1000, start in 0_u64..1000, most in 0_u64..5000) {
            let mut alone = Mispredictions { due: start, count: 0 };
            prop_assert!(alone.advance(rate, INSTRUCTIONS).1);
            let mut together = alone.clone();
            let Some(groups) = together.advance_by_groups(rate, most) else {
                // The second misprediction comes later.
                let first = alone.advance(rate, INSTRUCTIONS).0;
                prop_assert!(first + alone.advance(rate, INSTRUCTIONS).0 > most);
                return Ok(());
            };
            let lengths: Vec<u64> = (0..groups.count).map(|_| alone.advance(rate, INSTRUCTIONS).0).collect();
            prop_assert_eq!((alone.due, alone.count), (together.due, together.count));
            prop_assert_eq!(lengths.last(), Some(&groups.last));
            for (length, count) in groups.lengths() {
                prop_assert_eq!(lengths.iter().filter(|&&found| found == length).count() as u64, count);
            }
            prop_assert!(groups.instructions <= most);
            prop_assert!(groups.instructions + alone.advance(rate, INSTRUCTIONS).0 > most);
        }
    }
}
