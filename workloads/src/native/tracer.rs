//! What a kernel says it does, done by the host: prefetches are instructions, flushes empty the caches, and the clock
//! runs while operations do.

use super::clock::Interval;
use super::eviction::Eviction;
use super::meeting::Meeting;
use crate::tracer::{Dep, Token, Trace};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use traces::host_prefetch::{prefetch, prefetch_nta};
use traces::{Event, Kind};

/// Time between two looks at the observer, about.
const LOOK: Duration = Duration::from_millis(100);

/// The first phase that is timed, as are all behind it: every kernel's first is its preparation.
pub(crate) const TIMED_PHASE: u16 = 1;

/// Takes the place of a tracer on the host's processor.
///
/// Loads, stores and branches are the kernel's own instructions: saying them costs nothing. A mark costs one
/// decrement and a branch.
pub struct Native<'a> {
    eviction: &'a Eviction,
    meeting: &'a Meeting,
    observer: &'a mut (dyn FnMut(u64) -> ControlFlow<()> + 'a),
    /// Operations begun when the fuel was filled, and those that may begin until it is empty.
    operations: u64,
    tank: u64,
    fuel: u64,
    /// When the running interval began.
    since: Option<Instant>,
    looked: Instant,
    ran: Vec<Interval>,
    stopped: bool,
    /// The clock ran when the kernel paused.
    paused: bool,
}

/// When a run took place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Timed {
    /// When the clocks of its threads ran.
    pub(super) ran: Vec<Interval>,
    /// Operations begun in this run and those before; of several threads, by the first.
    pub(super) operations: u64,
}

impl Timed {
    /// Of two threads that ran side by side.
    pub(super) fn beside(mut self, other: Self) -> Self {
        self.ran.extend(other.ran);
        self
    }
}

impl<'a> Native<'a> {
    /// A clock that stands still, before a run; `operations` were begun in the runs before it.
    pub(super) fn new(
        eviction: &'a Eviction,
        meeting: &'a Meeting,
        operations: u64,
        observer: &'a mut (dyn FnMut(u64) -> ControlFlow<()> + 'a),
    ) -> Self {
        Self {
            eviction,
            meeting,
            observer,
            operations,
            tank: 0,
            fuel: 0,
            since: None,
            looked: Instant::now(),
            ran: Vec::new(),
            stopped: false,
            paused: false,
        }
    }

    /// Ends the run; `None` if the observer stopped it.
    pub(super) fn finish(self) -> Option<Timed> {
        let operations = self.begun();
        (!self.stopped).then_some(Timed {
            ran: self.ran,
            operations,
        })
    }

    fn begun(&self) -> u64 {
        self.operations + self.tank - self.fuel
    }

    /// Stops the clock.
    fn stop(&mut self) {
        if let Some(begin) = self.since.take() {
            let end = Instant::now();
            self.ran.push(Interval { begin, end });
        }
    }

    /// Waits for the other threads, which is not timed: a barrier of the simulation takes no time.
    fn meet(&mut self) {
        if self.meeting.is_alone() {
            return;
        }
        let runs = self.since.is_some();
        self.stop();
        self.stopped |= !self.meeting.wait();
        if runs {
            self.since = Some(Instant::now());
        }
    }

    /// Looks at the observer if it is time to, and gives the time since it last was.
    fn look(&mut self) -> Duration {
        let passed = self.looked.elapsed();
        if passed >= LOOK {
            let begun = self.begun();
            if (self.observer)(begun).is_break() {
                self.stopped = true;
                self.meeting.stop();
            }
            self.looked = Instant::now();
        }
        passed
    }

    /// Starts the clock; looks at the observer before that if it is time to.
    #[cold]
    #[inline(never)]
    fn start(&mut self) {
        self.stop();
        self.operations = self.begun();
        let passed = self.look();
        // Twice as many operations as last time, or half of them, so that the next look is in time.
        let wanted = if passed < LOOK {
            self.tank.saturating_mul(2)
        } else {
            self.tank / 2
        };
        self.tank = wanted.max(1);
        self.fuel = self.tank - 1;
        self.since = Some(Instant::now());
    }

    /// Begins an operation, or the timed phase as a whole.
    #[inline(always)]
    fn begin(&mut self, phase: u64) {
        if phase < u64::from(TIMED_PHASE) {
            self.stop();
            self.look();
        } else if self.fuel == 0 {
            self.start();
        } else {
            self.fuel -= 1;
        }
    }

    /// Empties the caches, which is not timed.
    fn empty(&mut self) {
        self.stop();
        self.eviction.run();
        self.operations = self.begun();
        (self.tank, self.fuel) = (0, 0);
    }
}

impl Trace for Native<'_> {
    const NATIVE: bool = true;

    #[inline(always)]
    fn emit(&mut self, event: Event, _dep: Dep) -> Token {
        match event.kind {
            Kind::Mark => self.begin(event.address),
            Kind::Flush => self.empty(),
            Kind::Barrier => self.meet(),
            _ => {}
        }
        Token::NONE
    }

    #[inline(always)]
    fn work(&mut self, _instructions: u32) {}

    #[inline(always)]
    fn failed(&self) -> bool {
        self.stopped
    }

    #[inline(always)]
    fn prefetch(&mut self, _site: impl Into<u16>, _address: u64, host: *const u8, _dep: Dep) {
        prefetch(host);
    }

    #[inline(always)]
    fn prefetch_nta(&mut self, _site: impl Into<u16>, _address: u64, host: *const u8, _dep: Dep) {
        prefetch_nta(host);
    }

    fn pause(&mut self) {
        self.paused = self.since.is_some();
        self.stop();
    }

    fn resume(&mut self) {
        if std::mem::take(&mut self.paused) {
            self.since = Some(Instant::now());
        }
    }

    fn end(&mut self) {
        self.stop();
    }
}
