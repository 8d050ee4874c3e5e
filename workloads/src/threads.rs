//! The threads of a kernel: each is plain sequential code on a stack of its own, and all of them run on one thread of the host.
//!
//! A thread runs until it has a batch of events, or is at a barrier, and goes on when it is asked for the next. So the
//! simulator decides which one runs, and the same run gives the same events every time: what threads share changes
//! between barriers by one of them only.

use crate::family::Kernel;
use crate::outcome::Outcome;
use crate::tracer::Tracer;
use crate::watch::{self, Stopped};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::sync::Arc;
use traces::turns;
use traces::{Event, EventSink, EventSource, SinkError};

/// What goes back and forth: the room for a batch, and the batch.
type Batch = Vec<Event>;

/// A thread of a kernel's run: the source of its events.
pub struct Thread {
    coroutine: Coroutine<Batch, Batch, Result<Outcome, SinkError>>,
    outcome: Option<Outcome>,
}

/// Hands batches to whoever asked for them.
struct Asked<'y> {
    yielder: &'y Yielder<Batch, Batch>,
    room: Batch,
}

impl EventSink for Asked<'_> {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        // An empty batch would be the end.
        if !events.is_empty() {
            let mut batch = std::mem::take(&mut self.room);
            batch.extend_from_slice(events);
            self.room = self.yielder.suspend(batch);
        }
        Ok(())
    }
}

/// So many threads of a new run of a kernel, by number. None has begun.
pub(crate) fn begin<K: Kernel + 'static>(kernel: &Arc<K>, threads: u32) -> Vec<Thread> {
    let thread = |number| {
        let kernel = Arc::clone(kernel);
        Thread {
            coroutine: Coroutine::new(move |yielder, room| {
                let mut sink = Asked { yielder, room };
                let mut tracer = Tracer::new(&mut sink);
                let outcome = kernel.run(number, &mut tracer);
                tracer.finish()?;
                Ok(outcome)
            }),
            outcome: None,
        }
    };
    (0..threads).map(thread).collect()
}

/// What the threads of a run leave together. All have ended; of those that have not, nothing is counted.
#[must_use]
pub fn outcome(threads: Vec<Thread>) -> Outcome {
    let outcomes = threads.into_iter().filter_map(|thread| thread.outcome);
    outcomes.fold(Outcome::default(), Outcome::and)
}

impl EventSource for Thread {
    /// Runs the thread until it has a batch, is at a barrier, or has ended.
    ///
    /// # Errors
    /// [`SinkError::Interrupted`] if whoever watches stops it.
    fn next_batch(&mut self, events: &mut Vec<Event>) -> Result<(), SinkError> {
        if self.outcome.is_some() {
            return Ok(());
        }
        let room = std::mem::take(events);
        let resumed = watch::stoppable(|| self.coroutine.resume(room));
        match resumed.map_err(|Stopped| SinkError::Interrupted)? {
            CoroutineResult::Yield(batch) => *events = batch,
            CoroutineResult::Return(outcome) => self.outcome = Some(outcome?),
        }
        Ok(())
    }
}

/// Runs the threads one after the other, each up to its next barrier: what one core would do that has them all. `take` has
/// the events with their thread's number.
///
/// # Errors
/// The first error of `take` or of a thread; or some wait for others that have ended.
pub(crate) fn take_turns(
    threads: &mut [Thread],
    take: impl FnMut(usize, &[Event]) -> Result<(), SinkError>,
) -> Result<(), SinkError> {
    let count = threads.len();
    let next = |thread: usize, events: &mut Vec<Event>| threads[thread].next_batch(events);
    Ok(turns::take_turns(count, next, take)??)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relocated::Relocated;
    use crate::tracer::{Dep, Token, Trace};
    use std::ops::ControlFlow;
    use std::sync::Mutex;
    use traces::{Kind, Layout};

    /// Each thread writes what it has, waits, and adds up what all have written; `rounds` times.
    #[derive(Default)]
    struct Sums {
        rounds: u64,
        /// Thread 0 waits so often more.
        lonely: u64,
        written: Mutex<Vec<u64>>,
    }

    impl Kernel for Sums {
        fn layout(&self) -> Layout {
            Layout::default()
        }

        fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
            let mut sum = 0;
            let mut before = Token::NONE;
            for round in 0..self.rounds {
                for _ in 0..u64::from(thread) * 700 {
                    before = trace.load(thread as u16, 64, 4, 1, before.after(0));
                }
                self.written
                    .lock()
                    .expect("nobody waits with it")
                    .push(round);
                trace.barrier();
                sum += self.written.lock().expect("nobody waits with it").len() as u64;
                trace.barrier();
            }
            (0..self.lonely)
                .filter(|_| thread == 0)
                .for_each(|_| trace.barrier());
            trace.load(thread as u16, 0, 4, 1, Dep::NONE);
            let mut outcome = Outcome::default();
            outcome.set("sum", sum);
            outcome
        }
    }

    fn sums(rounds: u64) -> Arc<Sums> {
        Arc::new(Sums {
            rounds,
            ..Sums::default()
        })
    }

    #[test]
    fn what_is_written_before_a_barrier_is_read_behind_it() {
        let mut threads = begin(&sums(4), 3);
        let mut events: Vec<Event> = Vec::new();
        take_turns(&mut threads, |_, part| events.consume(part))
            .expect("all come to every barrier");
        let outcome = outcome(threads);
        // In each round all three see what three have added.
        assert_eq!(outcome.metrics["sum"], 3 * (3 + 6 + 9 + 12));
        let loads = events.iter().filter(|event| event.kind == Kind::Load);
        assert_eq!(loads.count(), 4 * (700 + 1400) + 3);
        assert_eq!(events.len(), 4 * (700 + 1400) + 3 + 3 * 2 * 4);
    }

    /// A dependence never reaches back over a barrier, where another thread's events lie.
    #[test]
    fn dependences_stay_between_barriers() {
        let mut events: Vec<Event> = Vec::new();
        take_turns(&mut begin(&sums(2), 3), |_, part| events.consume(part))
            .expect("all come to every barrier");
        for (place, event) in events.iter().enumerate() {
            let produced = place
                .checked_sub(event.dep as usize)
                .expect("within the trace");
            assert_eq!(events[produced].site, event.site, "event {place}");
        }
    }

    /// The next batch of a thread: how many events, and whether it ends at a barrier.
    fn asked(thread: &mut Thread) -> (usize, bool) {
        let mut batch = Vec::new();
        thread.next_batch(&mut batch).expect("events");
        let last = batch.last().map(|last| last.kind);
        (batch.len(), last == Some(Kind::Barrier))
    }

    #[test]
    fn threads_are_asked_in_any_order() {
        let kernel = sums(1);
        let mut threads = begin(&kernel, 3);
        // A full batch, and what is left before the barrier.
        assert_eq!(asked(&mut threads[2]), (1024, false));
        assert_eq!(asked(&mut threads[0]), (1, true));
        assert_eq!(kernel.written.lock().expect("nobody has it").len(), 1);
        assert_eq!(asked(&mut threads[2]), (1400 + 1 - 1024, true));
        assert_eq!(asked(&mut threads[1]), (701, true));
        assert_eq!(asked(&mut threads[1]), (1, true), "behind the barrier");
        // A thread that is dropped in the middle of its run leaves nothing behind.
        drop(threads);
        assert_eq!(Arc::strong_count(&kernel), 1);
    }

    /// A thread is at its barrier also where its structure lies in a larger address space.
    #[test]
    fn barriers_are_barriers_wherever_a_structure_lies() {
        struct Moved;
        impl Kernel for Moved {
            fn layout(&self) -> Layout {
                Layout::default()
            }

            fn run<T: Trace>(&self, _thread: u32, trace: &mut T) -> Outcome {
                let mut moved = Relocated::new(trace, 64, 1);
                moved.load(0_u16, 0, 4, 1, Dep::NONE);
                moved.barrier();
                moved.load(0_u16, 0, 4, 1, Dep::NONE);
                Outcome::default()
            }
        }
        let mut threads = begin(&Arc::new(Moved), 1);
        assert_eq!(asked(&mut threads[0]), (2, true));
        assert_eq!(asked(&mut threads[0]), (1, false));
    }

    #[test]
    fn a_thread_that_ends_too_early_is_an_error() {
        let kernel = Arc::new(Sums {
            lonely: 1,
            ..Sums::default()
        });
        let mut events: Vec<Event> = Vec::new();
        let error = take_turns(&mut begin(&kernel, 2), |_, part| events.consume(part))
            .expect_err("one is alone");
        assert!(
            error
                .to_string()
                .starts_with("thread 0 waits at a barrier, but thread 1 has ended")
        );
    }

    #[test]
    fn a_thread_can_be_stopped() {
        struct Endless;
        impl Kernel for Endless {
            fn layout(&self) -> Layout {
                Layout::default()
            }

            fn run<T: Trace>(&self, _thread: u32, _trace: &mut T) -> Outcome {
                loop {
                    watch::step(1);
                }
            }
        }
        let _watch = watch::Watch::begin(Box::new(|_| ControlFlow::Break(())));
        let mut threads = begin(&Arc::new(Endless), 1);
        let error = threads[0]
            .next_batch(&mut Vec::new())
            .expect_err("it never ends");
        assert!(matches!(error, SinkError::Interrupted));
    }
}
