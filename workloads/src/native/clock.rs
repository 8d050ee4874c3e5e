//! The clock, and what reading it costs.

use std::time::{Duration, Instant};

/// Empty intervals timed to know what an interval costs.
const SAMPLES: usize = 1001;

/// A clock that knows its own cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    cost: Duration,
}

impl Clock {
    /// Times empty intervals: the median is what every interval contains too much.
    pub(super) fn calibrated() -> Self {
        let mut samples: Vec<Duration> = (0..SAMPLES).map(|_| Instant::now().elapsed()).collect();
        samples.sort_unstable();
        Self {
            cost: samples[SAMPLES / 2],
        }
    }

    /// Time of an empty interval, in nanoseconds.
    pub(super) fn cost_ns(self) -> f64 {
        self.cost.as_secs_f64() * 1e9
    }

    /// Time since `start` without the clock's own.
    pub(super) fn since(self, start: Instant) -> Duration {
        start.elapsed().saturating_sub(self.cost)
    }
}
