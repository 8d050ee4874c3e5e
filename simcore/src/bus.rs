//! The memory bus: one line per interval, reserved in a calendar.

use std::collections::VecDeque;

/// Reservations of the bus.
///
/// Requests reach the bus in program order, which is not the order of their times: a load that waits for its
/// address asks for a later time than the independent load after it. A counter of the next free cycle would make the
/// second wait for the first; the calendar gives each request the first gap at or after its own time.
#[derive(Clone, Debug)]
pub(crate) struct Bus {
    interval: u64,
    /// Starts of the reserved intervals, ascending, at least one interval apart.
    starts: VecDeque<u64>,
}

impl Bus {
    pub(crate) fn new(interval: u64) -> Self {
        Self {
            interval,
            starts: VecDeque::with_capacity(256),
        }
    }

    /// Reserves the first free interval at or after `earliest` and gives its start. No later call may ask for a time
    /// before `now`.
    pub(crate) fn reserve(&mut self, earliest: u64, now: u64) -> u64 {
        let interval = self.interval;
        while self
            .starts
            .front()
            .is_some_and(|&start| start + interval <= now)
        {
            self.starts.pop_front();
        }
        let mut next = self.starts.len();
        while next > 0 && self.starts[next - 1] + interval > earliest {
            next -= 1;
        }
        let mut start = earliest;
        while next < self.starts.len() && self.starts[next] < start + interval {
            start = self.starts[next] + interval;
            next += 1;
        }
        self.starts.insert(next, start);
        start
    }

    pub(crate) fn clear(&mut self) {
        self.starts.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_at_once_are_an_interval_apart() {
        let mut bus = Bus::new(15);
        assert_eq!([0; 3].map(|t| bus.reserve(t, 0)), [0, 15, 30]);
    }

    #[test]
    fn an_idle_bus_starts_at_once_and_one_cycle_early_waits() {
        let mut bus = Bus::new(15);
        bus.reserve(100, 0);
        assert_eq!(bus.reserve(115, 0), 115);
        let mut bus = Bus::new(15);
        bus.reserve(100, 0);
        assert_eq!(bus.reserve(114, 0), 115);
    }

    #[test]
    fn an_earlier_request_takes_the_gap_before_a_later_one() {
        let mut bus = Bus::new(15);
        bus.reserve(100, 0);
        assert_eq!(bus.reserve(85, 0), 85);
        assert_eq!(bus.reserve(71, 0), 115, "a gap of 14 cycles is too short");
        assert_eq!(bus.reserve(70, 0), 70);
    }

    #[test]
    fn the_past_is_forgotten() {
        let mut bus = Bus::new(15);
        for t in 0..1000 {
            bus.reserve(t * 20, t * 20);
        }
        assert!(bus.starts.len() <= 2);
    }
}
