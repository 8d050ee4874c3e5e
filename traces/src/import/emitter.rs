//! Turns the accesses and instructions of a foreign trace into events.

use crate::event::{Event, Kind};
use crate::sink::{EventSink, SinkError};
use serde::{Deserialize, Serialize};

/// Events handed to the sink at a time.
const BATCH_EVENTS: usize = 4096;

/// What becomes of the instructions that a foreign trace lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Instructions {
    /// They are counted.
    #[default]
    Count,
    /// They are counted, and where they stand is told to the instruction cache.
    Fetch,
    /// They are left out; each access still counts as one.
    Drop,
}

/// What an import took, and what it had to change or leave out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Memory accesses: loads, stores and software prefetches.
    pub accesses: u64,
    /// Instructions that the foreign trace lists; 0 if it lists none.
    pub listed_instructions: u64,
    /// Accesses and fetches cut short: they reached beyond the top of memory or had more than 65535 bytes.
    pub clipped: u64,
    /// Lines or records that stand for nothing a simulation sees, such as a tool's messages.
    pub skipped: u64,
}

/// Collects events for a sink.
///
/// An instruction of the foreign trace is the access that follows it. If none does, it is a plain instruction of the
/// next event; if several do, each is an instruction of memwalk's, and the surplus is taken from the plain
/// instructions that follow, so that the sum stays that of the foreign trace.
pub(super) struct Emitter<'s> {
    sink: &'s mut dyn EventSink,
    instructions: Instructions,
    batch: Vec<Event>,
    /// The last instruction listed has no event yet.
    open: bool,
    /// Plain instructions since the last event.
    plain: u64,
    surplus: u64,
    tally: Tally,
}

impl<'s> Emitter<'s> {
    pub(super) fn new(sink: &'s mut dyn EventSink, instructions: Instructions) -> Self {
        Self {
            sink,
            instructions,
            batch: Vec::with_capacity(2 * BATCH_EVENTS),
            open: false,
            plain: 0,
            surplus: 0,
            tally: Tally::default(),
        }
    }

    /// An instruction was executed; the accesses that follow are its own. `code` is its address and size in bytes.
    #[inline]
    pub(super) fn instruction(&mut self, code: Option<(u64, u64)>) {
        self.tally.listed_instructions += 1;
        if self.instructions == Instructions::Drop {
            return;
        }
        self.close_instruction();
        if let (Instructions::Fetch, Some((address, size))) = (self.instructions, code) {
            self.fetch(address, size);
        }
        self.open = true;
    }

    /// So many instructions without an access were executed.
    pub(super) fn plain_instructions(&mut self, count: u32) {
        self.tally.listed_instructions += u64::from(count);
        if self.instructions != Instructions::Drop {
            self.close_instruction();
            self.add_plain(u64::from(count));
        }
    }

    /// Code bytes were fetched, for formats that do not say how many instructions they are.
    pub(super) fn fetch(&mut self, address: u64, size: u64) {
        if self.instructions == Instructions::Fetch {
            self.push(Kind::Fetch, address, size);
        }
    }

    /// `size` bytes at `address` were read.
    #[inline]
    pub(super) fn load(&mut self, address: u64, size: u64) {
        self.access(Kind::Load, address, size);
    }

    /// `size` bytes at `address` were written.
    #[inline]
    pub(super) fn store(&mut self, address: u64, size: u64) {
        self.access(Kind::Store, address, size);
    }

    /// `size` bytes at `address` were read and written.
    #[inline]
    pub(super) fn modify(&mut self, address: u64, size: u64) {
        self.load(address, size);
        self.store(address, size);
    }

    /// The line of `address` was asked for ahead of its use.
    pub(super) fn prefetch(&mut self, kind: Kind, address: u64) {
        self.access(kind, address, 1);
    }

    /// The instruction was a conditional branch.
    pub(super) fn branch(&mut self, taken: bool) {
        self.take_instruction();
        let instructions = self.take_plain();
        self.batch.push(Event {
            instructions,
            ..Event::new(Kind::Branch, u64::from(taken))
        });
    }

    /// A line or record stood for nothing.
    #[inline]
    pub(super) fn skip(&mut self) {
        self.tally.skipped += 1;
    }

    /// Hands over what has been collected, once that is enough.
    #[inline]
    pub(super) fn flush_if_full(&mut self) -> Result<(), SinkError> {
        if self.batch.len() >= BATCH_EVENTS {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Hands over everything, the instructions after the last access too.
    pub(super) fn finish(mut self) -> Result<Tally, SinkError> {
        self.close_instruction();
        if self.plain > 0 {
            let instructions = self.take_plain();
            self.push_carrier(instructions);
        }
        self.flush()?;
        Ok(self.tally)
    }

    #[inline]
    fn access(&mut self, kind: Kind, address: u64, size: u64) {
        self.tally.accesses += 1;
        self.take_instruction();
        self.push(kind, address, size);
    }

    /// The next event is the open instruction, or one more of it.
    #[inline]
    fn take_instruction(&mut self) {
        let counted = self.tally.listed_instructions > 0 && self.instructions != Instructions::Drop;
        self.surplus += u64::from(counted && !self.open);
        self.open = false;
    }

    /// The open instruction had no event.
    #[inline]
    fn close_instruction(&mut self) {
        if self.open {
            self.open = false;
            self.add_plain(1);
        }
    }

    #[inline]
    fn add_plain(&mut self, count: u64) {
        let paid = self.surplus.min(count);
        self.surplus -= paid;
        self.plain += count - paid;
    }

    #[inline]
    fn push(&mut self, kind: Kind, address: u64, size: u64) {
        let fits = size
            .min(u64::from(u16::MAX))
            .min((u64::MAX - address).saturating_add(1));
        self.tally.clipped += u64::from(fits < size);
        let instructions = self.take_plain();
        self.batch.push(Event {
            size: fits as u16,
            instructions,
            ..Event::new(kind, address)
        });
    }

    /// The plain instructions of the next event; what does not fit goes into events before it.
    #[inline]
    fn take_plain(&mut self) -> u16 {
        if self.plain > u64::from(u16::MAX) {
            self.carry();
        }
        std::mem::take(&mut self.plain) as u16
    }

    #[cold]
    fn carry(&mut self) {
        while self.plain > u64::from(u16::MAX) {
            self.plain -= u64::from(u16::MAX);
            self.push_carrier(u16::MAX);
        }
    }

    /// The only phase of an imported trace opens again: that carries instructions and changes nothing.
    fn push_carrier(&mut self, instructions: u16) {
        self.batch.push(Event {
            instructions,
            ..Event::new(Kind::Mark, 0)
        });
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        let taken = self.sink.consume(&self.batch);
        self.batch.clear();
        taken
    }
}
