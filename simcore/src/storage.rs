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

/// One coming of a page into a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fill {
    /// The page.
    pub page: u64,
    /// Which of the page's fills it is, counted from 1 and going on with 1 behind 65535; 0 if the frame belongs to one thread, so that nobody else
    /// comes for it.
    pub number: u16,
}

impl Fill {
    /// Of a frame that belongs to one thread.
    #[must_use]
    pub fn alone(page: u64) -> Self {
        Self { page, number: 0 }
    }

    /// Whether threads share the frame.
    #[must_use]
    pub fn is_shared(self) -> bool {
        self.number > 0
    }
}

/// A page that is there, or has room to be written from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When: not before it was asked for.
    pub at_ps: u64,
    /// Where the time since it was asked for went.
    pub parts: StorageParts,
    /// Whether nobody had come for the same fill before, or for a later one of its page; so it always is where threads share no frames.
    pub first: bool,
}

/// What a core asks of storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// To bring this page; the core stops until it is there. What a prefetch has asked for is not asked for again, nor what somebody has come for
    /// before: the same fill, or a later one.
    Read(Fill),
    /// The same for a page that another core is to read, and may have come for.
    Wait(Fill),
    /// To bring this page, which a later read will want, unless somebody has come for the fill.
    Prefetch(Fill),
    /// To write this page in the background; the core stops until there is room for that.
    Write(u64),
    /// To say when all pages that were written are there, for which the core stops: its program ends. A further run of it counts fills anew.
    Finish,
    /// To count anew what it does: the core has warmed up. Of several the last one counts.
    Measure,
}

impl Request {
    /// Whether the core stops.
    #[must_use]
    pub fn stops(self) -> bool {
        !matches!(self, Self::Prefetch(_) | Self::Measure)
    }
}

/// What pages come from. Times are picoseconds since the beginning of the run.
///
/// Storage stands at a time of its own, and goes on when it is told to: cores may ask for something later than others still will, and no
/// core asks for anything before the time up to which storage was told to go on.
pub trait Storage: Debug {
    /// Time of a core that it takes to have a page read or written: the operating system's.
    fn cpu_per_page_ps(&self) -> u64;

    /// A core, told by its number, asks for something at `at_ps`. One that stops asks for nothing else until [`Storage::advance`] has given
    /// what it waits for.
    ///
    /// # Errors
    /// The user asked to stop.
    fn ask(&mut self, core: usize, request: Request, at_ps: u64) -> Result<(), SinkError>;

    /// When the next thing happens, if anything is to happen: nothing arrives before.
    ///
    /// # Errors
    /// As for [`Storage::ask`].
    fn next_ps(&mut self) -> Result<Option<u64>, SinkError>;

    /// Goes on with all that happens up to `until_ps`, or to the first arrival of what a core has stopped for: gives the core, and what
    /// it waited for. Nothing, if there is no such arrival.
    ///
    /// Only while a core has stopped is it told to go on without end (`u64::MAX`): storage may serve others too, who never end.
    ///
    /// # Errors
    /// There is no such page as one that was asked for, or the user asked to stop.
    fn advance(&mut self, until_ps: u64) -> Result<Option<(usize, Arrival)>, SinkError>;
}
