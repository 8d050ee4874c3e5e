//! Counts mode: which level serves each access, without time.
//!
//! [`Counts`] takes the same events as [`Engine`] and gives the same hits, misses and write-backs (a line on its way
//! counts as found), but for what [`CountStatistics::differs_from_timing`] says. Plain LRU caches are counted in batches, faster than in time; a machine with other
//! policies, hardware prefetchers, an instruction cache, page-table walks or calls into a DBMS lets its events pass through
//! the engine in no time.

mod batch;
mod batched;
mod level;
mod operation;
mod past_caches;
mod rows;
mod statistics;

pub use statistics::{CountRow, CountStatistics};

use crate::engine::Engine;
use crate::reads::AddressSink;
use crate::spec::{MachineSpec, SpecError};
use batched::Batched;
use traces::{Event, EventSink, Kind, Layout, SinkError};

/// Events made of bare addresses at a time.
const READS: usize = 1024;

#[derive(Debug)]
enum Method {
    Batched(Box<Batched>),
    Passed {
        engine: Box<Engine>,
        instructions: u64,
        differs_from_timing: Vec<String>,
    },
}

/// A cache hierarchy in the middle of a run. Feed it events or addresses, then [`Counts::finish`].
#[derive(Debug)]
pub struct Counts(Method);

impl Counts {
    /// A machine with empty caches.
    ///
    /// # Errors
    /// The machine cannot exist.
    pub fn new(spec: &MachineSpec, layout: &Layout) -> Result<Self, SpecError> {
        spec.validate()?;
        Ok(Self(if Batched::suits(spec) && layout.calls.is_empty() {
            Method::Batched(Box::new(Batched::new(spec, layout)?))
        } else {
            Method::Passed {
                engine: Box::new(Engine::new(spec, layout)?),
                instructions: 0,
                differs_from_timing: statistics::differences(spec, layout),
            }
        }))
    }

    /// The same with pages from storage, which overwrite the frames that they come into.
    #[must_use]
    pub fn with_arrivals(mut self) -> Self {
        match &mut self.0 {
            Method::Batched(batched) => batched.overwrite_frames(),
            Method::Passed { engine, .. } => engine.overwrite_frames(),
        }
        self
    }

    /// Gives the counts.
    #[must_use]
    pub fn finish(self) -> CountStatistics {
        match self.0 {
            Method::Batched(batched) => batched.finish(),
            Method::Passed {
                engine,
                instructions,
                differs_from_timing,
            } => CountStatistics::of_passed(engine.finish(), instructions, differs_from_timing),
        }
    }
}

impl EventSink for Counts {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        match &mut self.0 {
            Method::Batched(batched) => batched.consume(events),
            Method::Passed {
                engine,
                instructions,
                ..
            } => {
                for event in events {
                    *instructions += engine.instructions_of(event);
                    if event.kind == Kind::Measure {
                        *instructions = 0;
                    }
                }
                engine.pass(events)
            }
        }
    }
}

impl AddressSink for Counts {
    fn read(&mut self, addresses: &[u64]) {
        if let Method::Batched(batched) = &mut self.0 {
            return batched.read(addresses);
        }
        let mut events = Vec::with_capacity(READS);
        for addresses in addresses.chunks(READS) {
            events.clear();
            events.extend(addresses.iter().map(|&address| Event {
                size: 1,
                ..Event::new(Kind::Load, address)
            }));
            self.consume(&events).expect("every machine takes loads");
        }
    }
}
