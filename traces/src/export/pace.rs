//! How fast the core of an elastic trace runs what is no memory access.

use super::Timing;
use crate::event::{Event, Kind, OpClass};
use crate::gem5::TICKS_PER_SECOND;

/// What the core does in which time, in units that make whole numbers of all of it.
pub(super) struct Pace {
    pub(super) period_ticks: u64,
    /// Units that an instruction takes to be dispatched.
    pub(super) dispatch: u64,
    /// Units that a plain instruction occupies the integer units, which work beside the front end.
    pub(super) plain: u64,
    /// Units of a cycle.
    pub(super) cycle: u64,
    /// Instructions in flight at most.
    pub(super) reorder_buffer: u64,
    multiply_cycles: u64,
    divide_cycles: u64,
}

impl Pace {
    pub(super) fn new(timing: &Timing) -> Self {
        let (width, units) = (
            u64::from(timing.issue_width),
            u64::from(timing.integer_units),
        );
        Self {
            period_ticks: period_ticks(timing.clock_hz),
            dispatch: units,
            plain: width,
            cycle: width * units,
            reorder_buffer: timing.reorder_buffer.unwrap_or(u32::MAX).into(),
            multiply_cycles: timing.multiply_latency_cycles.into(),
            divide_cycles: timing.divide_latency_cycles.into(),
        }
    }

    /// Cycles until whoever depends on an event without memory access can start.
    pub(super) fn latency(&self, event: &Event) -> u64 {
        match event.kind {
            Kind::Op if event.size == OpClass::Divide as u16 => self.divide_cycles,
            Kind::Op if event.size == OpClass::Multiply as u16 => self.multiply_cycles,
            _ => 1,
        }
    }
}

/// The clock's period as gem5 has it: whole picoseconds, at least one.
#[must_use]
pub fn period_ticks(clock_hz: u64) -> u64 {
    ((TICKS_PER_SECOND + clock_hz / 2) / clock_hz).max(1)
}
