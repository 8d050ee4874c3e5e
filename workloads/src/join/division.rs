//! Telling tuples in order from those out of order while they come by.
//!
//! The thesis keeps tuples that are out of order apart (section 5.3.4) and does not say how it tells which they are. A tuple that is less than
//! the one before it says that one of the two is, and not which: both are put apart, and the next one is compared with what is left (Cook and
//! Kim, "Best sorting algorithm for nearly sorted lists", CACM 23(11), 1980). So a tuple that is far too great costs one other tuple, and not
//! all that follow. Of those in order the last ones are kept back, as they may still be put apart.

use crate::watch;
use std::collections::VecDeque;

/// Tuples in order that are kept back: more than ever follow each other out of order and yet ascending, where few are out of order.
pub(super) const KEPT_BACK: usize = 16;

/// What becomes of tuples when one comes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict<I> {
    /// It is kept back, and the longest kept, if that is not needed any more, is in order.
    InOrder(Option<I>),
    /// It is out of order, and so is the one before it, unless that is gone.
    OutOfOrder(Option<I>, I),
}

/// The last tuples in order, with their keys.
#[derive(Clone, Debug)]
pub(super) struct Division<I> {
    kept: VecDeque<(u32, I)>,
    /// The key of the last that is gone.
    gone: u32,
}

impl<I> Default for Division<I> {
    fn default() -> Self {
        Self {
            kept: VecDeque::with_capacity(KEPT_BACK + 1),
            gone: 0,
        }
    }
}

impl<I> Division<I> {
    /// A tuple comes by.
    pub(super) fn take(&mut self, key: u32, tuple: I) -> Verdict<I> {
        if key < self.last() {
            return Verdict::OutOfOrder(self.kept.pop_back().map(|(_, last)| last), tuple);
        }
        self.kept.push_back((key, tuple));
        let gone = (self.kept.len() > KEPT_BACK).then(|| self.kept.pop_front());
        Verdict::InOrder(gone.flatten().map(|(key, tuple)| {
            self.gone = key;
            tuple
        }))
    }

    /// The key that the next tuple must not be less than.
    pub(super) fn last(&self) -> u32 {
        self.kept.back().map_or(self.gone, |&(key, _)| key)
    }

    /// How many are kept back.
    pub(super) fn kept(&self) -> u64 {
        self.kept.len() as u64
    }

    /// Those that are kept back when all have come by: one after the other, in order.
    pub(super) fn give_back(&mut self) -> Option<I> {
        self.kept.pop_front().map(|(_, tuple)| tuple)
    }
}

/// Tuples by their numbers: in order, and out of order as they were found to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Divided {
    pub(super) in_order: Vec<u32>,
    pub(super) out_of_order: Vec<u32>,
}

/// Divides tuples, whose keys come in the order of their numbers.
pub(super) fn divide(keys: impl Iterator<Item = u32>) -> Divided {
    let (mut division, mut divided) = (Division::default(), Divided::default());
    for (number, key) in (0..).zip(keys) {
        watch::look_at(u64::from(number));
        match division.take(key, number) {
            Verdict::InOrder(gone) => divided.in_order.extend(gone),
            Verdict::OutOfOrder(last, one) => {
                divided.out_of_order.extend(last);
                divided.out_of_order.push(one);
            }
        }
    }
    divided
        .in_order
        .extend(std::iter::from_fn(|| division.give_back()));
    divided
}

#[cfg(test)]
mod tests {
    use super::super::nearly_sorted::nearly_sorted;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_in_order_is_sorted_and_nobody_is_lost(keys in prop::collection::vec(0..50_u32, 0..300)) {
            let Divided { in_order, out_of_order } = divide(keys.iter().copied());
            let of = |&number: &u32| keys[number as usize];
            prop_assert!(in_order.iter().map(of).is_sorted());
            let mut all = [in_order, out_of_order].concat();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..keys.len() as u32));
        }
    }

    #[test]
    fn dividing_is_stopped_by_who_watches() {
        let divided = watch::stopped(|| divide(0..1000));
        assert_eq!(divided.err(), Some(watch::Stopped));
    }

    #[test]
    fn sorted_tuples_are_all_in_order_equal_ones_too() {
        let divided = divide((0..1000).map(|number| number / 3));
        assert!(divided.out_of_order.is_empty());
        assert_eq!(divided.in_order.len(), 1000);
    }

    /// One far too great takes one other with it, and so does one far too small.
    #[test]
    fn a_tuple_out_of_order_costs_one_in_order() {
        for displaced in [1_000_000, 0] {
            let key = |number: u32| if number == 500 { displaced } else { number + 1 };
            let divided = divide((0..1000).map(key));
            assert_eq!(divided.out_of_order.len(), 2);
            assert!(divided.out_of_order.contains(&500));
        }
        // Several in a row, ascending, take as many.
        let key = |number| match number {
            500..510 => 1_000_000 + number,
            _ => number,
        };
        let divided = divide((0..1000).map(key));
        assert_eq!(divided.out_of_order.len(), 20);
    }

    #[test]
    fn at_most_twice_as_many_as_were_displaced() {
        let key = |number: u64| number as u32;
        for (share, displaced) in [(0.01, 1000), (0.05, 5000)] {
            let order = nearly_sorted(100_000, key, share, (7, 0));
            let found = divide(order.into_iter()).out_of_order.len();
            assert!(
                (displaced * 18 / 10..=displaced * 2).contains(&found),
                "{found}"
            );
        }
    }
}
