//! How many buckets a hash table has.

/// Buckets of a table for so many tuples: a prime, one per tuple or a little more, which does not divide the number of partitions.
/// All hash codes of a partition have one remainder by that number, and so they fill all buckets (thesis section 4.7.1).
pub(super) fn buckets(tuples: u64, partitions: u32) -> u32 {
    let mut candidate = tuples.max(2) as u32;
    while !is_prime(candidate) || partitions.is_multiple_of(candidate) {
        candidate += 1;
    }
    candidate
}

fn is_prime(number: u32) -> bool {
    let divisors = (2..).take_while(|&divisor: &u32| divisor.saturating_mul(divisor) <= number);
    number >= 2
        && divisors
            .into_iter()
            .all(|divisor| !number.is_multiple_of(divisor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn buckets_are_as_many_as_tuples_and_share_no_factor_with_partitions(tuples in 0_u64..100_000, partitions in 1_u32..1000) {
            let buckets = buckets(tuples, partitions);
            prop_assert!(u64::from(buckets) >= tuples && u64::from(buckets) < 2 * tuples.max(500));
            let common = (2..=partitions).find(|&factor| partitions.is_multiple_of(factor) && buckets.is_multiple_of(factor));
            prop_assert_eq!(common, None);
        }
    }
}
