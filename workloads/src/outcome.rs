//! What a run leaves besides its events.

use std::collections::BTreeMap;

/// Numbers of a run that the simulator cannot know, such as node splits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Metrics by name.
    pub metrics: BTreeMap<String, u64>,
}

impl Outcome {
    pub(crate) fn set(&mut self, name: &str, value: u64) {
        self.metrics.insert(name.into(), value);
    }
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
        self.0 & ((1 << f64::MANTISSA_DIGITS) - 1)
    }
}
