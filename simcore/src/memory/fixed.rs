//! A memory that takes the same time for every line, behind a bus that starts one line per interval.

use super::Transfer;
use crate::calendar::{Calendar, Claim};
use crate::spec::Interval;

/// How many writes may wait for a way of their own: as many as the memory controllers of gem5 hold unless told otherwise
/// (`MemInterface.write_buffer_size`). Processors' own numbers are not published. It says how long a burst is before reads notice it, and
/// not how many lines are written in the end.
const WAITING_WRITES: u64 = 64;

/// Calendars and the latency.
#[derive(Debug)]
pub(crate) struct FixedMemory {
    bus: Calendar,
    latency: u64,
    writes: Writes,
}

/// Which way lines are written.
#[derive(Debug)]
pub(crate) enum Writes {
    /// The one by which lines are read.
    Bus,
    /// One of their own.
    Own(Calendar),
    /// One that always has room.
    Free,
}

impl Writes {
    /// As the keys of a specification say.
    pub(super) fn of(use_bus: bool, interval: Option<Interval>) -> Self {
        match interval {
            _ if use_bus => Self::Bus,
            Some(interval) => Self::Own(Calendar::new(interval)),
            None => Self::Free,
        }
    }
}

impl FixedMemory {
    pub(crate) fn new(latency: u32, interval: Interval, writes: Writes) -> Self {
        Self {
            bus: Calendar::new(interval),
            latency: u64::from(latency),
            writes,
        }
    }

    /// The cycle in which a line asked for is there. While too many writes wait on a way of their own nobody reads: the line that a read
    /// displaces would have nowhere to go.
    #[inline]
    pub(super) fn read(&mut self, mut claim: Claim) -> u64 {
        if let Writes::Own(way) = &self.writes {
            claim.time = way.short_of(WAITING_WRITES, claim.time);
        }
        self.bus.reserve(claim) + self.latency
    }

    /// Writes a line and gives the cycle in which it is on its way.
    #[inline]
    pub(super) fn write(&mut self, claim: Claim) -> u64 {
        match &mut self.writes {
            Writes::Bus => self.bus.reserve(claim),
            Writes::Own(way) => way.reserve(claim),
            Writes::Free => claim.time,
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

    /// Whether reads and writes are in each other's way.
    pub(super) fn has_one_bus(&self) -> bool {
        matches!(self.writes, Writes::Bus)
    }

    pub(super) fn clear(&mut self) {
        self.bus.clear();
        if let Writes::Own(way) = &mut self.writes {
            way.clear();
        }
    }
}
