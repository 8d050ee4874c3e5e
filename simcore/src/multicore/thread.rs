//! A thread on its core: the events that it has yet to run, and whether it runs, waits or has ended.

use super::latches::Latch;
use super::reading::{self, Reading};
use traces::{AloneAtBarrier, Event, EventSource, Kind, SinkError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Runs,
    /// At a barrier, with all before it done in this cycle.
    WaitsFrom(u64),
    /// For a latch.
    WaitsForLatch,
    Ended,
}

/// A thread of a program.
#[derive(Debug)]
pub(super) struct Thread {
    /// Threads of one program meet at barriers.
    pub(super) program: usize,
    state: State,
    batch: Vec<Event>,
    next: usize,
    /// What it reads at the moment that others may change meanwhile, in the order in which it began.
    readings: Vec<Reading>,
}

impl Thread {
    pub(super) fn of(program: usize) -> Self {
        Self {
            program,
            state: State::Runs,
            batch: Vec::new(),
            next: 0,
            readings: Vec::new(),
        }
    }

    /// Whether it can have a turn.
    pub(super) fn runs(&self) -> bool {
        self.state == State::Runs
    }

    /// Whether there are no more events.
    pub(super) fn has_ended(&self) -> bool {
        self.state == State::Ended
    }

    /// Events to be run.
    pub(super) fn events(&self) -> &[Event] {
        &self.batch[self.next..]
    }

    /// So many of them have been run.
    pub(super) fn skip(&mut self, events: usize) {
        self.next += events;
    }

    /// Whether there is an event to be run now.
    #[inline]
    pub(super) fn has_next(&self) -> bool {
        let next = self.batch.get(self.next);
        next.is_some_and(|event| event.kind != Kind::Barrier)
    }

    /// Whether it takes or releases a latch next.
    #[inline]
    pub(super) fn is_at_latch(&self) -> bool {
        let next = self.batch.get(self.next);
        next.is_some_and(|event| event.kind.is_of_latch())
    }

    /// Another holds the latch that it is at.
    pub(super) fn wait_for_latch(&mut self) {
        self.state = State::WaitsForLatch;
    }

    /// Has the latch that it is at, and goes on.
    pub(super) fn get_latch(&mut self) {
        self.state = State::Runs;
        self.next += 1;
    }

    /// It begins, with the latch event that it is at, to read what a latch guards, and notes how many changes there have been.
    pub(super) fn begin_reading(&mut self, latch: Latch, changes: u64) {
        self.readings.push(Reading {
            latch,
            changes,
            start: self.next,
        });
    }

    /// Ends the reading of what a latch guards, if there is one.
    pub(super) fn end_reading(&mut self, latch: Latch) -> Option<Reading> {
        let place = self.readings.iter().position(|one| one.latch == latch)?;
        Some(self.readings.remove(place))
    }

    /// Whether all since a reading began can be run again.
    pub(super) fn can_read_again(&self, reading: &Reading) -> bool {
        reading::can_be_repeated(&self.batch[reading.start..self.next])
    }

    /// Goes back to where a reading began, and gives the latches that it has taken since then.
    pub(super) fn read_again(&mut self, reading: Reading) -> Vec<Latch> {
        let since = &self.batch[reading.start..self.next];
        let holds = |event: &&Event| matches!(event.kind, Kind::Latch | Kind::ShareLatch);
        let taken = since.iter().filter(holds);
        let taken = taken.map(|event| (self.program, event.latch())).collect();
        self.next = reading.start;
        self.readings.retain(|one| one.start < reading.start);
        taken
    }

    /// Changes that had been noted when the oldest of its readings began.
    pub(super) fn oldest_reading(&self) -> Option<u64> {
        self.readings.first().map(|reading| reading.changes)
    }

    /// Whether there is nothing left of the batch.
    #[inline]
    pub(super) fn has_run_all(&self) -> bool {
        self.next == self.batch.len()
    }

    /// Gets the next batch, and says whether its first event can be run now.
    pub(super) fn refill(&mut self, source: &mut dyn EventSource) -> Result<bool, SinkError> {
        let first = reading::first_kept(&mut self.readings, self.next);
        let kept = self.batch.split_off(first);
        self.batch.clear();
        self.next = kept.len();
        source.next_batch(&mut self.batch)?;
        if !kept.is_empty() {
            self.batch.splice(..0, kept);
        }
        Ok(self.has_next())
    }

    /// Gets the next batch if there is nothing left.
    pub(super) fn refill_if_empty(
        &mut self,
        source: &mut dyn EventSource,
    ) -> Result<(), SinkError> {
        if self.has_run_all() {
            self.refill(source)?;
        }
        Ok(())
    }

    /// Looks at the next event, which ends the thread if there is none. A barrier is taken out.
    pub(super) fn look_ahead(&mut self) -> Option<Event> {
        let next = self.batch.get(self.next);
        if next.is_none() {
            self.state = State::Ended;
        }
        let barrier = next.copied().filter(|event| event.kind == Kind::Barrier);
        self.next += usize::from(barrier.is_some());
        barrier
    }

    /// Is at a barrier, with all before it done in this cycle.
    pub(super) fn wait_from(&mut self, cycle: u64) {
        self.state = State::WaitsFrom(cycle);
    }

    /// All threads have met.
    pub(super) fn leave_barrier(&mut self) {
        self.state = State::Runs;
    }
}

/// Whether a thread's program has another one.
pub(super) fn has_others(threads: &[Thread], number: usize) -> bool {
    let mut others = threads.iter().enumerate();
    others.any(|(other, thread)| other != number && thread.program == threads[number].program)
}

/// Whether all threads of a program have ended.
pub(super) fn have_ended(threads: &[Thread], program: usize) -> bool {
    let mut of_program = threads.iter().filter(|thread| thread.program == program);
    of_program.all(Thread::has_ended)
}

/// The cycle in which the last thread of a program came to the barrier at which all wait; nothing if some still run.
///
/// # Errors
/// Some wait for others that have ended.
pub(super) fn meeting(threads: &[Thread], program: usize) -> Result<Option<u64>, SinkError> {
    let mut latest = None;
    let mut ended = None;
    for (number, thread) in threads.iter().enumerate() {
        if thread.program != program {
            continue;
        }
        match thread.state {
            State::Runs | State::WaitsForLatch => return Ok(None),
            State::WaitsFrom(cycle) => latest = latest.max(Some((cycle, number))),
            State::Ended => ended = ended.or(Some(number)),
        }
    }
    match (latest, ended) {
        (Some((_, waiting)), Some(ended)) => Err(AloneAtBarrier { waiting, ended }.into()),
        (latest, _) => Ok(latest.map(|(cycle, _)| cycle)),
    }
}
