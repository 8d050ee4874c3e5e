//! In which order threads of a recorded program take locks while they hold others.
//!
//! Two threads that take two locks in different orders did not wait for each other for ever when they were recorded: they came at other times,
//! or one of them had only tried and stood back. In a replay they come at other times again.

use std::collections::{HashMap, HashSet};

/// A lock that was held, and one that was taken meanwhile.
type Pair = (u64, u64);
/// Pairs that are known: the first.
const MOST: usize = 1 << 20;

/// Locks that threads have taken while they held others.
#[derive(Debug, Default)]
pub(super) struct Nested {
    pairs: HashSet<Pair>,
    /// There are more than [`MOST`].
    is_full: bool,
}

impl Nested {
    /// A thread that holds a lock takes another.
    pub(super) fn add(&mut self, held: u64, taken: u64) {
        let pair = (held, taken);
        if self.pairs.len() < MOST {
            self.pairs.insert(pair);
        } else {
            self.is_full |= !self.pairs.contains(&pair);
        }
    }

    /// What another thread has done, too.
    pub(super) fn join(&mut self, other: Self) {
        self.is_full |= other.is_full;
        for (held, taken) in other.pairs {
            self.add(held, taken);
        }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// An order of a program's locks. It is that in which threads take them, but of locks that they take in several orders: these have that of
/// their addresses. No threads wait for each other in a circle if each waits only for locks behind all those that it holds.
#[derive(Debug, Default)]
pub(super) struct LockOrder {
    /// Locks that are taken in several orders: those in circles of pairs, or on a way from one circle to another.
    crossed: HashSet<u64>,
    is_full: bool,
}

impl LockOrder {
    pub(super) fn of(nested: Nested) -> Self {
        let swapped = |pairs: Vec<Pair>| pairs.into_iter().map(|(held, taken)| (taken, held));
        let is_full = nested.is_full;
        let behind = not_before_circles(nested.pairs);
        let crossed = not_before_circles(swapped(behind));
        Self {
            crossed: crossed.into_iter().flat_map(<[u64; 2]>::from).collect(),
            is_full,
        }
    }

    /// Whether a lock comes before one that is held, though threads take them in this order, too.
    pub(super) fn is_against(&self, held: u64, taken: u64) -> bool {
        taken < held && self.crossed.contains(&held) && self.crossed.contains(&taken)
    }

    /// How many pairs of locks are known, if there are more.
    pub(super) fn most_known(&self) -> Option<usize> {
        self.is_full.then_some(MOST)
    }

    /// How many locks are taken in several orders, and the lowest address of one; nothing if none is.
    pub(super) fn crossed(&self) -> Option<(usize, u64)> {
        let lowest = self.crossed.iter().min()?;
        Some((self.crossed.len(), *lowest))
    }
}

/// The pairs whose first lock is in a circle or behind one.
fn not_before_circles(pairs: impl IntoIterator<Item = Pair>) -> Vec<Pair> {
    let mut behind: HashMap<u64, Vec<u64>> = HashMap::new();
    let mut before: HashMap<u64, usize> = HashMap::new();
    for (first, second) in pairs {
        behind.entry(first).or_default().push(second);
        *before.entry(second).or_default() += 1;
    }
    let firsts = behind.keys().copied();
    let mut free: Vec<u64> = firsts.filter(|first| !before.contains_key(first)).collect();
    while let Some(lock) = free.pop() {
        for second in behind.remove(&lock).unwrap_or_default() {
            let left = before.entry(second).or_default();
            *left -= 1;
            if *left == 0 {
                free.push(second);
            }
        }
    }
    let pairs_of = |(first, seconds): (u64, Vec<u64>)| {
        let pairs = seconds.into_iter().map(move |second| (first, second));
        pairs.collect::<Vec<_>>()
    };
    behind.into_iter().flat_map(pairs_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order_of(pairs: &[Pair]) -> LockOrder {
        let mut nested = Nested::default();
        for &(held, taken) in pairs {
            nested.add(held, taken);
        }
        LockOrder::of(nested)
    }

    #[test]
    fn one_order_is_kept_whatever_the_addresses() {
        let order = order_of(&[(9, 5), (5, 7), (9, 7), (7, 1)]);
        assert_eq!(order.crossed(), None);
        assert!(!order.is_against(9, 5));
    }

    #[test]
    fn of_several_orders_that_of_addresses_is_kept() {
        // 3 and 4 are taken before those in the circle, and 1 and 8 behind them.
        let order = order_of(&[(4, 3), (3, 6), (6, 5), (5, 7), (7, 6), (7, 1), (5, 8)]);
        assert_eq!(order.crossed(), Some((3, 5)));
        let against = |held, taken| order.is_against(held, taken);
        assert!(against(6, 5) && against(7, 6));
        assert!(!against(5, 7) && !against(4, 3) && !against(7, 1));
    }

    #[test]
    fn pairs_have_a_limit_that_is_told() {
        let mut nested = Nested::default();
        for taken in 1..=MOST as u64 {
            nested.add(0, taken);
        }
        nested.add(0, 1);
        assert_eq!(
            LockOrder::of(std::mem::take(&mut nested)).most_known(),
            None
        );
        for taken in 1..=MOST as u64 {
            nested.add(0, taken);
        }
        let mut other = Nested::default();
        other.add(1, 2);
        nested.join(other);
        assert_eq!(LockOrder::of(nested).most_known(), Some(MOST));
    }

    proptest! {
        /// There is an order of all locks in which none that is taken comes before one that is held, but where that is said to be against it.
        #[test]
        fn threads_do_not_wait_in_a_circle(pairs in prop::collection::vec((0_u64..12, 0_u64..12), 0..30)) {
            let pairs: Vec<Pair> = pairs.into_iter().filter(|(held, taken)| held != taken).collect();
            let order = order_of(&pairs);
            let waits = pairs.iter().map(|&(held, taken)| match order.is_against(held, taken) {
                // It gives up what it holds, and takes that again behind.
                true => (taken, held),
                false => (held, taken),
            });
            let circles = order_of(&waits.collect::<Vec<_>>());
            prop_assert_eq!(circles.crossed(), None);
        }
    }
}
