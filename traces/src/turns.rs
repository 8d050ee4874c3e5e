//! The threads of a program on one core: each in its turn up to the next barrier, or for a slice of so many events.

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

/// One thread waits for a latch that another has not released when it ended, or waits itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("thread {waiting} waits for a latch that thread {holder} does not release")]
pub struct HeldForEver {
    /// Who waits.
    pub waiting: usize,
    /// Who holds the latch.
    pub holder: usize,
}

/// The events of a thread that have been asked for and not yet been handed on.
#[derive(Default)]
struct Batch {
    events: Vec<Event>,
    next: usize,
}

impl Batch {
    /// The next events, `most` or up to the next barrier, and whether they end at it.
    fn take(&mut self, most: usize) -> (&[Event], bool) {
        let left = &self.events[self.next..];
        let left = &left[..left.len().min(most)];
        let barrier = left.iter().position(|event| event.kind == Kind::Barrier);
        let part = barrier.map_or(left, |place| &left[..=place]);
        self.next += part.len();
        (part, barrier.is_some())
    }
}

/// Where a thread stands behind its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Its slice was over.
    #[default]
    Runs,
    AtBarrier,
    Ended,
}

/// Runs the threads of a program one after the other, as one core would that has them all: each up to its next barrier, or for `slice`
/// events if that is less.
///
/// `next` replaces what a vector holds by the next batch of a thread, and leaves it empty at the thread's end, as
/// [`crate::EventSource::next_batch`] does; `take` has the events with their thread's number.
///
/// # Errors
/// The first error of `next` or `take`; or, inside, that some threads wait for others that have ended.
pub fn take_turns<E>(
    threads: usize,
    slice: Option<u32>,
    mut next: impl FnMut(usize, &mut Vec<Event>) -> Result<(), E>,
    mut take: impl FnMut(usize, &[Event]) -> Result<(), E>,
) -> Result<Result<(), AloneAtBarrier>, E> {
    let slice = slice.map_or(usize::MAX, |events| events as usize);
    let mut batches: Vec<Batch> = (0..threads).map(|_| Batch::default()).collect();
    let mut states = vec![State::Runs; threads];
    loop {
        for (thread, batch) in batches.iter_mut().enumerate() {
            if states[thread] != State::Runs {
                continue;
            }
            let mut left = slice;
            states[thread] = loop {
                if left == 0 {
                    break State::Runs;
                }
                if batch.next == batch.events.len() {
                    batch.events.clear();
                    batch.next = 0;
                    next(thread, &mut batch.events)?;
                    if batch.events.is_empty() {
                        break State::Ended;
                    }
                }
                let (events, at_barrier) = batch.take(left);
                take(thread, events)?;
                left -= events.len();
                if at_barrier {
                    break State::AtBarrier;
                }
            };
        }
        let who = |state| states.iter().rposition(|&one| one == state);
        if who(State::Runs).is_some() {
            continue;
        }
        match (who(State::AtBarrier), who(State::Ended)) {
            (Some(waiting), Some(ended)) => return Ok(Err(AloneAtBarrier { waiting, ended })),
            (None, _) => return Ok(Ok(())),
            (Some(_), None) => states.fill(State::Runs),
        }
    }
}
