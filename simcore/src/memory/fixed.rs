//! A memory that takes the same time for every line, behind a bus that starts one line per interval.

use super::Transfer;
use crate::calendar::{Calendar, Claim};

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

    /// The cycle in which a line asked for is there.
    #[inline]
    pub(super) fn read(&mut self, claim: Claim) -> u64 {
        self.bus.reserve(claim) + self.latency
    }

    /// Writes a line and gives the cycle in which it is on its way.
    #[inline]
    pub(super) fn write(&mut self, claim: Claim) -> u64 {
        if self.write_backs_use_bus {
            self.bus.reserve(claim)
        } else {
            claim.time
        }
    }

    /// The cycle in which a miss is done that reads or writes a line.
    pub(super) fn transfer(&mut self, claim: Claim, transfer: Transfer) -> u64 {
        match transfer {
            Transfer::Read => self.read(claim),
            Transfer::Write => self.write(claim) + self.latency,
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
