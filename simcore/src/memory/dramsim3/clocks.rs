//! Cycles of the core and cycles of the DRAM, converted exactly.

/// The ratio of two clocks. Nothing is accumulated: each conversion starts from cycle 0 of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clocks {
    /// DRAM cycles ...
    dram: u128,
    /// ... that take as long as so many core cycles, in lowest terms.
    core: u128,
}

impl Clocks {
    /// A core of `clock_hz` beside a DRAM whose cycle takes `cycle_attoseconds`.
    pub(super) fn new(clock_hz: u64, cycle_attoseconds: u64) -> Self {
        const ATTOSECONDS: u128 = 1_000_000_000_000_000_000;
        let dram = ATTOSECONDS;
        let core = u128::from(clock_hz) * u128::from(cycle_attoseconds);
        let common = gcd(dram, core);
        Self {
            dram: dram / common,
            core: core / common,
        }
    }

    /// The first DRAM cycle that does not begin before core cycle `cycle`.
    pub(super) fn to_dram(self, cycle: u64) -> u64 {
        (u128::from(cycle) * self.dram).div_ceil(self.core) as u64
    }

    /// The last DRAM cycle that does not begin behind core cycle `cycle`.
    pub(super) fn begun_by(self, cycle: u64) -> u64 {
        (u128::from(cycle) * self.dram / self.core) as u64
    }

    /// The first core cycle that does not begin before DRAM cycle `cycle`.
    pub(super) fn to_core(self, cycle: u64) -> u64 {
        (u128::from(cycle) * self.core).div_ceil(self.dram) as u64
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_core_four_times_as_fast_as_the_dram() {
        let clocks = Clocks::new(4_000_000_000, 1_000_000_000);
        assert_eq!(
            [0, 1, 4, 5].map(|cycle| clocks.to_dram(cycle)),
            [0, 1, 1, 2]
        );
        assert_eq!([0, 1, 2].map(|cycle| clocks.to_core(cycle)), [0, 4, 8]);
    }

    #[test]
    fn nothing_drifts_in_a_year() {
        // 3.7 GHz and 0.625 ns: 16 DRAM cycles are 37 core cycles.
        let clocks = Clocks::new(3_700_000_000, 625_000_000);
        let year = 3_700_000_000 * 86_400 * 365;
        assert_eq!(clocks.to_dram(year), year / 37 * 16);
        assert_eq!(clocks.to_core(year / 37 * 16), year);
    }

    proptest! {
        #[test]
        fn no_event_moves_into_the_past(
            clock_hz in 1_000_000_u64..10_000_000_000,
            cycle_attoseconds in 100_000_000_u64..10_000_000_000,
            cycle in 0_u64..1 << 50,
        ) {
            let clocks = Clocks::new(clock_hz, cycle_attoseconds);
            let there = clocks.to_dram(cycle);
            prop_assert!(clocks.to_core(there) >= cycle);
            prop_assert!(there == 0 || clocks.to_core(there - 1) <= cycle, "not the first");
            let begun = clocks.begun_by(cycle);
            prop_assert!(clocks.to_core(begun) <= cycle && clocks.to_core(begun + 1) > cycle);
        }
    }
}
