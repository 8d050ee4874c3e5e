//! The price of a mispredicted branch: one loop over bits that nobody can predict, and over bits that everybody can.

use super::clock::Clock;
use crate::random::Random;
use std::hint::black_box;
use std::time::Instant;

/// Times of the loop, one per repetition, in nanoseconds per bit.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchTimes {
    /// Over random bits: the branch is mispredicted at every other one.
    pub random_ns: Vec<f64>,
    /// Over bits that are all 0 and then all 1: the branch is mispredicted a few times in all.
    pub ordered_ns: Vec<f64>,
}

/// Times a branch on each bit of `words` words, `repetitions` times after an unmeasured one, with new random bits in each.
///
/// Bits wait in a register, and no branch waits for another: the difference of the two times is what the processor loses while it
/// fetches the right instructions, at every other bit. So a misprediction costs twice the difference.
#[must_use]
pub fn measure_branches(words: usize, repetitions: u32) -> BranchTimes {
    let clock = Clock::calibrated();
    let per_bit = |words: &[u64]| {
        let start = Instant::now();
        black_box(ones(black_box(words)));
        clock.since(start).as_secs_f64() * 1e9 / bits(words).max(1) as f64
    };
    let ordered: Vec<u64> = (0..words)
        .map(|word| if word < words / 2 { 0 } else { u64::MAX })
        .collect();
    let mut times = BranchTimes {
        random_ns: Vec::new(),
        ordered_ns: Vec::new(),
    };
    for repetition in 0..=repetitions {
        let mut random = Random::new(u64::from(repetition), 0);
        let unknown: Vec<u64> = (0..words).map(|_| random.below(u64::MAX)).collect();
        let (random_ns, ordered_ns) = (per_bit(&unknown), per_bit(&ordered));
        if repetition > 0 {
            times.random_ns.push(random_ns);
            times.ordered_ns.push(ordered_ns);
        }
    }
    times
}

fn bits(words: &[u64]) -> u64 {
    words.len() as u64 * u64::from(u64::BITS)
}

/// Counts the bits that are 1, with a branch for each.
#[inline(never)]
fn ones(words: &[u64]) -> u64 {
    let mut ones = 0;
    for &word in words {
        let mut rest = word;
        for _ in 0..u64::BITS {
            if rest & 1 == 1 {
                // Something the compiler must not do for the other bits: without it, it would add the bit and leave the branch out.
                black_box(());
                ones += 1;
            }
            rest >>= 1;
        }
    }
    ones
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a branch in the loop, both would take the same time. No processor of the last decades loses less than the
    /// quarter of a nanosecond that is asked for here.
    #[test]
    fn random_bits_take_longer() {
        let times = measure_branches(1 << 10, 15);
        let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!((times.random_ns.len(), times.ordered_ns.len()), (15, 15));
        assert!(
            least(&times.random_ns) > least(&times.ordered_ns) + 0.25,
            "{times:?}"
        );
    }

    #[test]
    fn ones_are_counted() {
        assert_eq!(ones(&[0, u64::MAX, 0b1011]), 67);
    }

    #[test]
    fn no_bits_take_no_time() {
        assert_eq!(measure_branches(0, 1).random_ns.len(), 1);
    }
}
