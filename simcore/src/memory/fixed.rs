//! A memory that takes the same time for every line, behind a bus that starts one line per interval.

use crate::calendar::Calendar;

/// The bus calendar and the latency.
#[derive(Debug)]
pub(crate) struct FixedMemory {
    bus: Calendar,
    latency: u64,
    write_backs_use_bus: bool,
}

impl FixedMemory {
    pub(crate) fn new(latency: u32, interval: u32, write_backs_use_bus: bool) -> Self {
        Self {
            bus: Calendar::new(u64::from(interval)),
            latency: u64::from(latency),
            write_backs_use_bus,
        }
    }

    /// The cycle in which a line asked for at cycle `time` is there.
    #[inline]
    pub(super) fn read(&mut self, time: u64, now: u64) -> u64 {
        self.bus.reserve(time, now) + self.latency
    }

    /// Writes a line at cycle `time` and gives the cycle in which it is on its way.
    #[inline]
    pub(super) fn write(&mut self, time: u64, now: u64) -> u64 {
        if self.write_backs_use_bus {
            self.bus.reserve(time, now)
        } else {
            time
        }
    }

    /// Cycles that a line takes behind the bus.
    pub(super) fn latency(&self) -> u64 {
        self.latency
    }

    pub(super) fn clear(&mut self) {
        self.bus.clear();
    }
}
