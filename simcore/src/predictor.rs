//! Branch prediction with the kernels' real outcomes.

use crate::spec::PredictorSpec;

/// Two-bit saturating counters, indexed by site and, for gshare, global history.
#[derive(Clone, Debug)]
pub(crate) struct Predictor {
    counters: Box<[u8]>,
    index_mask: u32,
    history: u32,
    history_mask: u32,
    perfect: bool,
}

/// Spreads consecutive site numbers over the index, as the addresses of real branches are spread.
const SITE_SPREAD: u32 = 0x9E37_79B1;
const WEAKLY_TAKEN: u8 = 2;
/// What each counter becomes, two bits for each counter and outcome: the counter times two, plus one if taken.
const NEXT: u32 = transitions();

const fn transitions() -> u32 {
    let (mut packed, mut counter) = (0, 0_u32);
    while counter < 4 {
        let not_taken = counter.saturating_sub(1);
        let taken = if counter < 3 { counter + 1 } else { 3 };
        packed |= (not_taken | taken << 2) << (4 * counter);
        counter += 1;
    }
    packed
}

impl Predictor {
    pub(crate) fn new(spec: &PredictorSpec) -> Self {
        let (history_bits, counters, perfect) = match *spec {
            PredictorSpec::Gshare {
                history_bits,
                counters,
            } => (history_bits, counters, false),
            PredictorSpec::Bimodal { counters } => (0, counters, false),
            PredictorSpec::Perfect => (0, 1, true),
        };
        Self {
            counters: vec![WEAKLY_TAKEN; counters as usize].into_boxed_slice(),
            index_mask: counters - 1,
            history: 0,
            history_mask: (1 << history_bits) - 1,
            perfect,
        }
    }

    /// Predicts the branch at `site`, learns its outcome and says whether the prediction was right.
    #[inline]
    pub(crate) fn predict(&mut self, site: u16, taken: bool) -> bool {
        let spread = (u32::from(site).wrapping_mul(SITE_SPREAD)) >> 16;
        let index = (spread ^ self.history) & self.index_mask;
        let counter = &mut self.counters[index as usize];
        let right = (*counter >= WEAKLY_TAKEN) == taken;
        // Without a branch: the host would mispredict it where the simulated machine does.
        let transition = u32::from(*counter) << 1 | u32::from(taken);
        *counter = ((NEXT >> (2 * transition)) & 3) as u8;
        self.history = ((self.history << 1) | u32::from(taken)) & self.history_mask;
        right | self.perfect
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misses(spec: &PredictorSpec, outcomes: impl Iterator<Item = bool>) -> usize {
        let mut predictor = Predictor::new(spec);
        outcomes
            .filter(|&taken| !predictor.predict(7, taken))
            .count()
    }

    #[test]
    fn a_loop_branch_misses_once_per_exit_without_history() {
        let spec = PredictorSpec::Bimodal { counters: 16 };
        let outcomes = (0..100).map(|i| i % 10 != 9);
        assert_eq!(misses(&spec, outcomes), 10);
    }

    #[test]
    fn history_learns_a_short_pattern() {
        let spec = PredictorSpec::Gshare {
            history_bits: 12,
            counters: 4096,
        };
        let first = misses(&spec, (0..1000).map(|i| i % 3 == 0));
        let longer = misses(&spec, (0..10_000).map(|i| i % 3 == 0));
        assert_eq!(
            first, longer,
            "nothing is missed once the pattern is learnt"
        );
        assert!(first > 0);
    }

    #[test]
    fn perfect_never_misses() {
        assert_eq!(
            misses(&PredictorSpec::Perfect, (0..100).map(|i| i % 7 < 3)),
            0
        );
    }
}
