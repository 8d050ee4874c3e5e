//! Hash codes of keys: by XOR and shift only (thesis section 4.7.1), so that no two keys have one code.

/// The hash code of a key. Partitions hold codes, and what they are made from is codes: only tests go this way.
#[cfg(test)]
pub(super) fn hash(key: u32) -> u32 {
    let mut code = key;
    code ^= code << 13;
    code ^= code >> 17;
    code ^ (code << 5)
}

/// The key of a hash code.
pub(super) fn key_of(code: u32) -> u32 {
    let mut key = code;
    // Shifts by 5 and 13 are undone a shift's width at a time.
    key ^= key << 5;
    key ^= key << 10;
    key ^= key << 20;
    key ^= key >> 17;
    key ^= key << 13;
    key ^ (key << 26)
}

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
        fn a_code_tells_its_key(key: u32) {
            prop_assert_eq!(key_of(hash(key)), key);
        }

        #[test]
        fn buckets_are_as_many_as_tuples_and_share_no_factor_with_partitions(tuples in 0_u64..100_000, partitions in 1_u32..1000) {
            let buckets = buckets(tuples, partitions);
            prop_assert!(u64::from(buckets) >= tuples && u64::from(buckets) < 2 * tuples.max(500));
            let common = (2..=partitions).find(|&factor| partitions.is_multiple_of(factor) && buckets.is_multiple_of(factor));
            prop_assert_eq!(common, None);
        }
    }
}
