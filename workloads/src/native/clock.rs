//! The clock, what reading it costs, and the time in which any of several clocks ran.

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
        self.without_own(start.elapsed())
    }

    /// A time that the clock took, without its own.
    fn without_own(self, time: Duration) -> Duration {
        time.saturating_sub(self.cost)
    }

    /// How long any of the threads was running, from the first to begin to the last to end, and in how many intervals; without the clock's own time,
    /// once for each.
    pub(super) fn covered(self, mut ran: Vec<Interval>) -> (Duration, u64) {
        ran.sort_unstable_by_key(|interval| interval.begin);
        let mut together: Vec<Interval> = Vec::with_capacity(ran.len());
        for interval in ran {
            match together.last_mut() {
                Some(last) if interval.begin < last.end => last.end = last.end.max(interval.end),
                _ => together.push(interval),
            }
        }
        let length = |interval: &Interval| self.without_own(interval.end - interval.begin);
        (together.iter().map(length).sum(), together.len() as u64)
    }
}

/// A time in which a thread's clock ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub(super) begin: Instant,
    pub(super) end: Instant,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One thread runs from 0 to 10 and from 30 to 40, another from 5 to 12 and from 50 to 57: 12, 10 and 7, less 1 for each.
    #[test]
    fn threads_that_run_one_behind_the_other_take_the_time_of_both() {
        let clock = Clock {
            cost: Duration::from_micros(1),
        };
        let start = Instant::now();
        let interval = |begin, end| Interval {
            begin: start + Duration::from_micros(begin),
            end: start + Duration::from_micros(end),
        };
        let ran = vec![
            interval(0, 10),
            interval(30, 40),
            interval(5, 12),
            interval(50, 57),
        ];
        assert_eq!(clock.covered(ran), (Duration::from_micros(26), 3));
        // Of one thread each counts for itself, also if the next begins when it ends.
        let ran = vec![interval(0, 10), interval(10, 20)];
        assert_eq!(clock.covered(ran), (Duration::from_micros(18), 2));
    }
}
