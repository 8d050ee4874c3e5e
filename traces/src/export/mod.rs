//! Traces in other simulators' formats, one file per format, each of which says what it loses.
//!
//! An [`Exporter`] is an event sink. Its file appears under its name when it is whole, compressed if the name ends in
//! `.gz` or `.xz`. Memory accesses become one record per cache line that they touch, so that a simulator with lines of
//! [`Settings::line_bytes`] looks up its first cache as often as memwalk does.

mod champsim;
mod code;
mod din;
mod dramsim3;
mod exporter;
mod format;
mod gem5_elastic;
mod gem5_packet;
mod output;
mod pace;
mod parts;
mod ramulator;
mod window;

pub use code::{CODE_BASE, instruction_address};
pub use exporter::{ExportSummary, Exporter};
pub use format::Format;
pub use gem5_elastic::fetch_path;
pub use pace::period_ticks;

use crate::event::Event;
use output::Output;
use std::io;

/// What an export knows of the trace beside its events, and of the machine that it is to run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Threads whose events these are.
    pub threads: u32,
    /// Line size at which accesses are split; a power of two.
    pub line_bytes: u64,
    /// The core's speed, for the formats that hold times ([`Format::needs_timing`]).
    pub timing: Option<Timing>,
}

/// How fast the core runs what is no memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Cycles per second.
    pub clock_hz: u64,
    /// Instructions dispatched per cycle; at least 1.
    pub issue_width: u32,
    /// Plain instructions executed per cycle; at least 1.
    pub integer_units: u32,
    /// Instructions in flight at most; nothing if nothing limits them.
    pub reorder_buffer: Option<u32>,
    /// Cycles of a multiplication.
    pub multiply_latency_cycles: u32,
    /// Cycles of a division.
    pub divide_latency_cycles: u32,
}

/// Why an event was not written.
#[derive(Debug)]
enum Failure {
    /// The file could not be written.
    Io(io::Error),
    /// The format cannot hold the event.
    Unsupported(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Writes events in one format.
trait Encoder: Send {
    /// Writes what `event` becomes and gives the number of records.
    fn encode(&mut self, event: &Event) -> Result<u64, Failure>;

    /// Writes what ends the file and gives back every file, the main one last, and the number of further records.
    fn finish(self: Box<Self>) -> Result<(Vec<Output>, u64), Failure>;
}
