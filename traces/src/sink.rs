//! Where kernels send their events.

use crate::event::{Event, Kind};
use crate::turns::{AloneAtBarrier, HeldForEver};
use thiserror::Error;

/// Why a sink takes no more events.
#[derive(Debug, Error)]
pub enum SinkError {
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The sink has all the events that it needs.
    #[error("no more events are needed")]
    Enough,
    /// An event that this sink cannot work with; it names the event and the remedy.
    #[error("{0}")]
    Unsupported(String),
    /// The threads of a program do not meet.
    #[error(transparent)]
    Alone(#[from] AloneAtBarrier),
    /// A latch is not released.
    #[error(transparent)]
    Held(#[from] HeldForEver),
    /// A file could not be written.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
}

/// Takes events in program order, a batch at a time.
///
/// Where one batch ends and the next begins carries no meaning: any split of the same events gives the same result.
pub trait EventSink {
    /// Takes the next events.
    ///
    /// # Errors
    /// A sink that failed once stays failed; the kernel stops at its next operation.
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError>;

    /// The thread whose events these are goes on when it is its turn, among those of its program that share what each changes. A thread alone
    /// has its turn at once.
    fn wait_for_turn(&mut self) {}

    /// Forgets all events taken so far: the trace begins with the next.
    ///
    /// # Errors
    /// The sink cannot, which is so unless it says otherwise.
    fn forget(&mut self) -> Result<(), SinkError> {
        Err(SinkError::Unsupported(
            "what has been taken cannot be forgotten here".to_owned(),
        ))
    }
}

/// Counts events by kind, and instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// Events of each kind, indexed by its number.
    pub events: [u64; Kind::ALL.len()],
    /// Instructions the events stand for.
    pub instructions: u64,
    /// Those of them before the measurement.
    pub warm_up_instructions: u64,
}

impl Counter {
    /// Counts the next events.
    pub fn count(&mut self, events: &[Event]) {
        for event in events {
            self.events[event.kind as usize] += 1;
            self.instructions += u64::from(event.instructions) + event.own_instructions();
            if event.kind == Kind::Measure {
                self.warm_up_instructions = self.instructions;
            }
        }
    }
}

impl EventSink for Counter {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        self.count(events);
        Ok(())
    }

    fn forget(&mut self) -> Result<(), SinkError> {
        *self = Self::default();
        Ok(())
    }
}

/// Keeps the events in memory: for tests, benchmarks and short traces.
impl EventSink for Vec<Event> {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        self.extend_from_slice(events);
        Ok(())
    }

    fn forget(&mut self) -> Result<(), SinkError> {
        self.clear();
        Ok(())
    }
}
