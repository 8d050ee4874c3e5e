//! The threads of a program on one core: each in its turn up to the next barrier.

use crate::event::{Event, Kind};
use thiserror::Error;

/// One thread waits for another that comes no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "thread {waiting} waits at a barrier, but thread {ended} has ended; all threads of a program must come to as many barriers"
)]
pub struct AloneAtBarrier {
    /// Who waits.
    pub waiting: usize,
    /// Who has ended.
    pub ended: usize,
}

/// The events of a thread that have been asked for and not yet been handed on.
#[derive(Default)]
struct Batch {
    events: Vec<Event>,
    next: usize,
}

impl Batch {
    /// The events up to the next barrier, and whether they end at it.
    fn take(&mut self) -> (&[Event], bool) {
        let left = &self.events[self.next..];
        let barrier = left.iter().position(|event| event.kind == Kind::Barrier);
        let part = barrier.map_or(left, |place| &left[..=place]);
        self.next += part.len();
        (part, barrier.is_some())
    }
}

/// Runs the threads of a program one after the other, each up to its next barrier, as one core would that has them all.
///
/// `next` replaces what a vector holds by the next batch of a thread, and leaves it empty at the thread's end, as
/// [`crate::EventSource::next_batch`] does; `take` has the events with their thread's number.
///
/// # Errors
/// The first error of `next` or `take`; or, inside, that some threads wait for others that have ended.
pub fn take_turns<E>(
    threads: usize,
    mut next: impl FnMut(usize, &mut Vec<Event>) -> Result<(), E>,
    mut take: impl FnMut(usize, &[Event]) -> Result<(), E>,
) -> Result<Result<(), AloneAtBarrier>, E> {
    let mut batches: Vec<Batch> = (0..threads).map(|_| Batch::default()).collect();
    loop {
        let (mut waiting, mut ended) = (None, None);
        for (thread, batch) in batches.iter_mut().enumerate() {
            let at_barrier = loop {
                if batch.next == batch.events.len() {
                    batch.events.clear();
                    batch.next = 0;
                    next(thread, &mut batch.events)?;
                    if batch.events.is_empty() {
                        break false;
                    }
                }
                let (events, at_barrier) = batch.take();
                take(thread, events)?;
                if at_barrier {
                    break true;
                }
            };
            *(if at_barrier { &mut waiting } else { &mut ended }) = Some(thread);
        }
        match (waiting, ended) {
            (Some(waiting), Some(ended)) => return Ok(Err(AloneAtBarrier { waiting, ended })),
            (None, _) => return Ok(Ok(())),
            (Some(_), None) => {}
        }
    }
}
