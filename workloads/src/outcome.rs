//! What a run leaves besides its events.

use std::collections::BTreeMap;

/// Numbers of a run that the simulator cannot know, such as node splits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Metrics by name.
    pub metrics: BTreeMap<String, u64>,
}

impl Outcome {
    /// This and another thread's, each metric added up: what holds for all of them is said by one.
    pub(crate) fn and(mut self, other: Self) -> Self {
        for (name, value) in other.metrics {
            let sum = self.metrics.entry(name).or_default();
            *sum = exact(sum.wrapping_add(value));
        }
        self
    }

    pub(crate) fn set(&mut self, name: &str, value: u64) {
        self.metrics.insert(name.into(), value);
    }
}

/// The value modulo 2^53: what a JSON number holds exactly.
fn exact(value: u64) -> u64 {
    value & ((1 << f64::MANTISSA_DIGITS) - 1)
}

/// Sums what was found, so that runs can be compared: modulo 2^53, which a JSON number holds exactly.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checksum(u64);

impl Checksum {
    #[inline]
    pub(crate) fn add(&mut self, value: u64) {
        self.0 = self.0.wrapping_add(value);
    }

    pub(crate) fn value(self) -> u64 {
        exact(self.0)
    }
}
