//! Relations that are nearly sorted by their keys: sorted, and then a share of the tuples changes places (thesis section 5.6.5).

use crate::permutation::Permutation;
use crate::watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the tuples of a relation follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TupleOrder {
    /// In no order.
    Random,
    /// By their keys, but for those that are displaced.
    NearlySorted,
}

/// Bytes of the host for each tuple of a nearly sorted relation: its number, and while it is sorted its key.
pub(super) const SORTED_BYTES: u64 = 16;

/// Purposes of random choices from here on are those of displacements: a relation or partition takes two of each side.
const FOR_DISPLACED: u64 = 1 << 60;

/// The numbers below `count` by key, of which a share of random ones is then moved to random places; `side` tells relations apart.
pub(super) fn nearly_sorted(
    count: u64,
    key: impl Fn(u64) -> u32,
    share: f64,
    (seed, side): (u64, u64),
) -> Vec<u32> {
    let with_keys = (0..count).map(|number| {
        watch::look_at(number);
        (key(number), number as u32)
    });
    let mut with_keys: Vec<(u32, u32)> = with_keys.collect();
    with_keys.sort_unstable();
    let sorted: Vec<u32> = with_keys.into_iter().map(|(_, number)| number).collect();
    let moved = (count as f64 * share).round() as u64;
    let order = |which| Permutation::new(count, seed, FOR_DISPLACED + 2 * side + which);
    displace(&sorted, moved, &order(0), &order(1))
}

/// Moves as many as `moved`: the first ones in an order of the old places go to the first ones in an order of the new places, and the others
/// fill the places that are left, in their order.
fn displace(sorted: &[u32], moved: u64, old: &Permutation, new: &Permutation) -> Vec<u32> {
    let mut places = vec![None; sorted.len()];
    let mut stays = vec![true; sorted.len()];
    for number in 0..moved {
        watch::look_at(number);
        let from = old.at(number) as usize;
        stays[from] = false;
        places[new.at(number) as usize] = Some(sorted[from]);
    }
    let mut others = sorted
        .iter()
        .zip(stays)
        .filter_map(|(&one, stays)| stays.then_some(one));
    let filled = places
        .into_iter()
        .map(|moved| moved.or_else(|| others.next()));
    filled.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys(count: u64, share: f64, seed: u64) -> (Vec<u32>, Vec<u32>) {
        let key = |number: u64| (number * 0x9E37_79B9 % 1009) as u32;
        let numbers = nearly_sorted(count, key, share, (seed, 3));
        let keys = numbers.iter().map(|&number| key(number.into())).collect();
        (numbers, keys)
    }

    proptest! {
        #[test]
        fn nobody_is_lost(count in 0..500_u64, share in 0.0..=1.0, seed in 0..20_u64) {
            let (mut numbers, _) = keys(count, share, seed);
            numbers.sort_unstable();
            prop_assert!(numbers.into_iter().eq(0..count as u32));
        }
    }

    /// As many as were moved are out of order: without them the rest is sorted.
    #[test]
    fn a_share_is_out_of_order() {
        let (_, sorted) = keys(5000, 0.0, 1);
        assert!(sorted.is_sorted());
        let (_, displaced) = keys(5000, 0.03, 1);
        let descents = displaced.windows(2).filter(|pair| pair[0] > pair[1]);
        // Each of 150 makes one: it is either greater than the next or less than the one before.
        assert!((140..=150).contains(&descents.count()));
        let (_, random) = keys(5000, 1.0, 1);
        let descents = random.windows(2).filter(|pair| pair[0] > pair[1]);
        assert!((2300..2700).contains(&descents.count()));
    }
}
