//! The threads of a kernel: each is plain sequential code on a stack of its own, and all of them run on one thread of the host.
//!
//! A thread runs until it has a batch of events, or is at a barrier, and goes on when it is asked for the next. So the
//! simulator decides which one runs, and the same run gives the same events every time: what threads share changes
//! between barriers by one of them only, or in turns.
//!
//! A thread that waits for its turn ([`Trace::wait_for_turn`]) goes on when all others have come as far: the first turn of each in order
//! of their numbers, then the second of each. A turn lasts up to the next. Whoever is asked for events that come behind a turn has the
//! others go on first; what they say meanwhile is kept until they are asked.
//!
//! [`Trace::wait_for_turn`]: crate::tracer::Trace::wait_for_turn

use crate::family::Kernel;
use crate::outcome::Outcome;
use crate::tracer::Tracer;
use crate::watch::{self, Stopped};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use traces::turns;
use traces::{Event, EventSink, EventSource, Kind, SinkError};

type Batch = Vec<Event>;

/// What a thread stops for.
enum Stop {
    /// It has a batch of events.
    Batch(Batch),
    /// It waits for its turn. The room for its next batch comes back.
    Turn(Batch),
}

/// A thread of a kernel's run: the source of its events.
pub struct Thread {
    run: Rc<RefCell<Vec<Running>>>,
    number: usize,
}

/// A thread and what is known of it.
struct Running {
    coroutine: Coroutine<Batch, Stop, Result<Outcome, SinkError>>,
    outcome: Option<Outcome>,
    /// What it has said without having been asked.
    said: VecDeque<Batch>,
    /// How far it is: barriers behind it, and turns since the last of them, the one that it waits for included.
    place: (u64, u64),
    waits: bool,
}

/// Hands batches to whoever asked for them.
struct Asked<'y> {
    yielder: &'y Yielder<Batch, Stop>,
    room: Batch,
}

impl EventSink for Asked<'_> {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        // An empty batch would be the end.
        if !events.is_empty() {
            let mut batch = std::mem::take(&mut self.room);
            batch.extend_from_slice(events);
            self.room = self.yielder.suspend(Stop::Batch(batch));
        }
        Ok(())
    }

    fn wait_for_turn(&mut self) {
        let room = std::mem::take(&mut self.room);
        self.room = self.yielder.suspend(Stop::Turn(room));
    }
}

/// So many threads of a new run of a kernel, by number. None has begun.
pub(crate) fn begin<K: Kernel + 'static>(kernel: &Arc<K>, threads: u32) -> Vec<Thread> {
    let kernel = kernel
        .renewed()
        .map_or_else(|| Arc::clone(kernel), Arc::new);
    let running = |number| {
        let kernel = Arc::clone(&kernel);
        Running {
            coroutine: Coroutine::new(move |yielder, room| {
                let mut sink = Asked { yielder, room };
                let mut tracer = Tracer::new(&mut sink);
                let outcome = kernel.run(number, &mut tracer);
                tracer.finish()?;
                Ok(outcome)
            }),
            outcome: None,
            said: VecDeque::new(),
            place: (0, 0),
            waits: false,
        }
    };
    let run = Rc::new(RefCell::new((0..threads).map(running).collect()));
    let thread = |number| Thread {
        run: Rc::clone(&run),
        number,
    };
    (0..threads as usize).map(thread).collect()
}

/// What the threads of a run leave together. All have ended; of those that have not, nothing is counted.
#[must_use]
pub fn outcome(threads: Vec<Thread>) -> Outcome {
    let outcome = |thread: Thread| thread.run.borrow_mut()[thread.number].outcome.take();
    let outcomes = threads.into_iter().filter_map(outcome);
    outcomes.fold(Outcome::default(), Outcome::and)
}

impl Running {
    /// Runs the thread until it stops. The room is given back if it said nothing.
    fn go_on(&mut self, room: Batch) -> Result<Batch, SinkError> {
        self.waits = false;
        let resumed = watch::stoppable(|| self.coroutine.resume(room));
        match resumed.map_err(|Stopped| SinkError::Interrupted)? {
            CoroutineResult::Yield(Stop::Batch(batch)) => {
                if batch.last().is_some_and(|last| last.kind == Kind::Barrier) {
                    self.place = (self.place.0 + 1, 0);
                }
                self.said.push_back(batch);
            }
            CoroutineResult::Yield(Stop::Turn(room)) => {
                self.place.1 += 1;
                self.waits = true;
                return Ok(room);
            }
            CoroutineResult::Return(outcome) => self.outcome = Some(outcome?),
        }
        Ok(Batch::new())
    }
}

/// The number of the thread whose turn it is.
fn whose_turn(run: &[Running]) -> usize {
    let going = (0..run.len()).filter(|&number| run[number].outcome.is_none());
    let first = going.min_by_key(|&number| run[number].place);
    first.expect("somebody waits for a turn")
}

impl EventSource for Thread {
    /// Runs the thread until it has a batch, is at a barrier, or has ended; and others, if it waits for its turn.
    ///
    /// # Errors
    /// [`SinkError::Interrupted`] if whoever watches stops it.
    fn next_batch(&mut self, events: &mut Vec<Event>) -> Result<(), SinkError> {
        let run = &mut *self.run.borrow_mut();
        let mut room = std::mem::take(events);
        loop {
            let own = &mut run[self.number];
            if let Some(batch) = own.said.pop_front() {
                *events = batch;
                return Ok(());
            }
            if own.outcome.is_some() {
                return Ok(());
            }
            let next = if own.waits {
                whose_turn(run)
            } else {
                self.number
            };
            room = run[next].go_on(room)?;
        }
    }
}

/// Runs the threads one after the other, each up to its next barrier, or for a `slice` of so many events: what one core would do that has
/// them all. `take` has the events with their thread's number.
///
/// # Errors
/// The first error of `take` or of a thread; or some wait for others that have ended.
pub(crate) fn take_turns(
    threads: &mut [Thread],
    slice: Option<u32>,
    take: impl FnMut(usize, &[Event]) -> Result<(), SinkError>,
) -> Result<(), SinkError> {
    let count = threads.len();
    let next = |thread: usize, events: &mut Vec<Event>| threads[thread].next_batch(events);
    Ok(turns::take_turns(count, slice, next, take)??)
}

#[cfg(test)]
mod tests;
