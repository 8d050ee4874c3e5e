//! Storage on the core's time line: a core that reads a page stops until the page is there.

use serde::Serialize;
use std::fmt::Debug;
use traces::SinkError;

/// Where the time of a request goes, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StorageParts {
    /// In the queue.
    pub queue_ps: u64,
    /// Processing of the command, and what is left of the cycle in which a core goes on.
    pub overhead_ps: u64,
    /// Moving the arm or the sled.
    pub seek_ps: u64,
    /// Waiting for the first block to come by.
    pub rotation_ps: u64,
    /// Blocks passing the heads.
    pub transfer_ps: u64,
    /// Moving over the bus.
    pub bus_ps: u64,
}

impl StorageParts {
    /// All of them together.
    #[must_use]
    pub fn total_ps(&self) -> u64 {
        let Self {
            queue_ps,
            overhead_ps,
            seek_ps,
            rotation_ps,
            transfer_ps,
            bus_ps,
        } = *self;
        queue_ps + overhead_ps + seek_ps + rotation_ps + transfer_ps + bus_ps
    }

    /// Two of them part by part.
    pub(crate) fn both(&self, other: &Self, op: fn(u64, u64) -> u64) -> Self {
        Self {
            queue_ps: op(self.queue_ps, other.queue_ps),
            overhead_ps: op(self.overhead_ps, other.overhead_ps),
            seek_ps: op(self.seek_ps, other.seek_ps),
            rotation_ps: op(self.rotation_ps, other.rotation_ps),
            transfer_ps: op(self.transfer_ps, other.transfer_ps),
            bus_ps: op(self.bus_ps, other.bus_ps),
        }
    }
}

/// A page that is there, or has room to be written from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When: not before it was asked for.
    pub at_ps: u64,
    /// Where the time since it was asked for went.
    pub parts: StorageParts,
}

/// What pages come from. Times are picoseconds since the beginning of the run, and never decrease from one request to the next.
pub trait Storage: Debug {
    /// A core stops at `at_ps` until the page is there. What a prefetch has asked for is not asked for again.
    ///
    /// # Errors
    /// There is no such page, or the user asked to stop.
    fn read(&mut self, page: u64, at_ps: u64) -> Result<Arrival, SinkError>;

    /// Asks for a page that a later read will want.
    ///
    /// # Errors
    /// As for [`Storage::read`].
    fn prefetch(&mut self, page: u64, at_ps: u64) -> Result<(), SinkError>;

    /// Writes a page in the background. A core stops at `at_ps` until there is room for that.
    ///
    /// # Errors
    /// As for [`Storage::read`].
    fn write(&mut self, page: u64, at_ps: u64) -> Result<Arrival, SinkError>;

    /// A core stops at `at_ps` until all pages that were written are there: its program ends.
    ///
    /// # Errors
    /// As for [`Storage::read`].
    fn finish(&mut self, at_ps: u64) -> Result<Arrival, SinkError>;
}
