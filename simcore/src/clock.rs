//! One time line for cores, which count cycles, and storage, which counts picoseconds.

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// A core's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    hz: u128,
}

impl Clock {
    /// A clock of so many cycles per second, at least one.
    pub(crate) fn new(hz: u64) -> Self {
        Self { hz: hz.into() }
    }

    /// When a cycle begins, in whole picoseconds.
    pub(crate) fn ps(self, cycle: u64) -> u64 {
        let ps = u128::from(cycle) * PS_PER_SECOND / self.hz;
        u64::try_from(ps).expect("runs end within half a year of simulated time")
    }

    /// The first cycle that begins at a time or after it.
    pub(crate) fn cycle_from(self, ps: u64) -> u64 {
        let cycle = (u128::from(ps) * self.hz).div_ceil(PS_PER_SECOND);
        u64::try_from(cycle).expect("cycles of half a year at less than a terahertz")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_core_goes_on_in_the_first_cycle_that_has_not_begun(hz in 1_u64..10_000_000_000, ps in 0_u64..1 << 50) {
            let clock = Clock::new(hz);
            let cycle = clock.cycle_from(ps);
            prop_assert!(clock.ps(cycle) >= ps);
            prop_assert!(cycle == 0 || u128::from(cycle - 1) * PS_PER_SECOND < u128::from(ps) * u128::from(hz));
        }
    }
}
