//! One time line for cores, which count cycles, and storage, which counts picoseconds; and where it ends.

use traces::SinkError;

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// No run lasts so many cycles, which is three days at 4 GHz: times share their words with other things, here and there.
pub(crate) const END: u64 = 1 << 50;

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

    /// When a cycle begins, in whole picoseconds. What is further off than these can tell begins at their end.
    pub(crate) fn ps(self, cycle: u64) -> u64 {
        let ps = u128::from(cycle) * PS_PER_SECOND / self.hz;
        u64::try_from(ps).unwrap_or(u64::MAX)
    }

    /// The first cycle that begins at a time or after it. What is further off than cycles can tell is the last of them.
    pub(crate) fn cycle_from(self, ps: u64) -> u64 {
        let cycle = (u128::from(ps) * self.hz).div_ceil(PS_PER_SECOND);
        u64::try_from(cycle).unwrap_or(u64::MAX)
    }

    /// Whether a run may come to a cycle.
    ///
    /// # Errors
    /// It is beyond the end of time, of cycles or of picoseconds.
    pub(crate) fn check(self, cycle: u64) -> Result<(), SinkError> {
        if cycle < END && self.ps(cycle) < u64::MAX {
            Ok(())
        } else {
            Err(self.too_long())
        }
    }

    /// What to say to a run that goes beyond the end of time.
    #[cold]
    pub(crate) fn too_long(self) -> SinkError {
        let end_ps = self.ps(END);
        let days = end_ps as f64 / PS_PER_SECOND as f64 / 86_400.0;
        SinkError::Unsupported(format!(
            "the run takes more than {days:.1} days of simulated time, the most at this clock; wait for less, or run fewer operations"
        ))
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

    #[test]
    fn time_ends_in_cycles_or_in_picoseconds() {
        let quick = Clock::new(4_000_000_000);
        assert!(quick.check(END - 1).is_ok());
        let error = quick.check(END).unwrap_err().to_string();
        assert!(error.contains("more than 3.3 days"), "{error}");
        // The last picosecond is half a year from the beginning.
        let slow = Clock::new(1_000);
        assert!(slow.check(18_000_000_000).is_ok());
        let error = slow.check(19_000_000_000).unwrap_err().to_string();
        assert!(error.contains("more than 213.5 days"), "{error}");
    }
}
