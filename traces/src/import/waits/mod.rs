//! How threads of a recorded program wait for each other: for locks, for conditions, at barriers, and for other threads to begin and to end.
//!
//! Latches stand for all of it, but for barriers of all threads, which traces have. Who waits for whom is known when all recordings have been
//! read: so they are read twice, and there is a [`Plan`] in between.

mod latches;
mod lives;
mod lock_order;
mod locks;
mod meetings;
mod rounds;
mod signals;

pub(super) use locks::Step;
pub(super) use meetings::{Meeting, SAID};

use lives::{Known, Life};
use lock_order::{LockOrder, Nested};
use locks::Locks;
use meetings::{Arrivals, Groups, Meetings};
use rounds::{Round, Rounds};
use signals::Signals;
use std::rc::Rc;

/// What a thread waits for, and others wait for it.
#[derive(Debug, Default)]
pub(super) struct Waits {
    pub(super) locks: Locks,
    pub(super) life: Life,
    pub(super) meetings: Meetings,
    pub(super) signals: Signals,
    rounds: Rounds,
}

/// What a thread's recording has said of that.
#[derive(Debug)]
pub(super) struct Told {
    nested: Nested,
    life: lives::Told,
    arrivals: Arrivals,
    signals: signals::Told,
    rounds: rounds::Told,
    /// How often it has said that it waits for all that say it.
    pub(super) said: u64,
}

/// Who waits for whom.
#[derive(Debug)]
pub(super) struct Plan {
    order: Rc<LockOrder>,
    lives: Vec<Known>,
    /// Threads whose recordings were not given.
    missing: usize,
    signals: Vec<signals::Known>,
    rounds: Vec<rounds::Known>,
    groups: Rc<Groups>,
    all_meet: bool,
}

/// What the plan has for a thread.
#[derive(Debug, Default)]
pub(super) struct Planned {
    order: Rc<LockOrder>,
    number: usize,
    life: Known,
    signals: signals::Known,
    rounds: rounds::Known,
    groups: Rc<Groups>,
    /// All wait until each holds the latches that others ask it for.
    pub(super) all_meet: bool,
}

impl Waits {
    /// Those of a thread.
    pub(super) fn of(planned: Planned) -> Self {
        Self {
            locks: Locks::with_order(planned.order),
            life: Life::of(planned.life),
            meetings: Meetings::of(planned.groups, planned.number),
            signals: Signals::of(planned.signals),
            rounds: Rounds::of(planned.rounds),
        }
    }

    /// What the thread holds before it does anything.
    pub(super) fn hold(&self) -> Vec<Step> {
        let (life, meetings) = (self.life.hold(), self.meetings.hold());
        [life, meetings, self.signals.hold()].concat()
    }

    /// The thread has ended: nobody waits for it.
    pub(super) fn finish(&mut self) -> Vec<Step> {
        let (signals, meetings) = (self.signals.finish(), self.meetings.finish());
        [signals, meetings, self.life.finish()].concat()
    }

    /// The thread comes to a barrier, and the recording says when.
    pub(super) fn meet_at(&mut self, barrier: u64, came: u64) -> Option<Meeting> {
        let (came, own) = (self.signals.at(came), self.signals.given());
        match self.rounds.come(barrier, came, own) {
            Round::Alone => {
                self.signals.meet(came, &[]);
                None
            }
            Round::All => {
                self.signals.meet(came, &[]);
                Some(Meeting::OfAll)
            }
            Round::Some(members) => Some(Meeting::OfSome(self.signals.meet(came, &members))),
        }
    }

    /// The thread goes on from the barrier that it has come to last.
    pub(super) fn go_on(&mut self, left: u64) {
        let left = self.signals.at(left);
        self.rounds.go_on(left);
    }

    /// The trace begins here.
    pub(super) fn forget(&mut self) {
        self.locks.forget();
        self.meetings.forget_said();
    }

    /// What the recording has said.
    pub(super) fn into_told(self) -> Told {
        Told {
            said: self.meetings.said(),
            nested: self.locks.into_nested(),
            life: self.life.into_told(),
            arrivals: self.meetings.into_arrivals(),
            signals: self.signals.into_told(),
            rounds: self.rounds.into_told(),
        }
    }
}

impl Plan {
    /// That of threads whose recordings have said so much, each.
    pub(super) fn of(threads: Vec<Told>) -> Self {
        let mut nested = Nested::default();
        let (mut told_lives, mut arrivals) = (Vec::new(), Vec::new());
        let (mut signals, mut rounds) = (Vec::new(), Vec::new());
        for told in threads {
            nested.join(told.nested);
            told_lives.push(told.life);
            arrivals.push(told.arrivals);
            signals.push(told.signals);
            rounds.push(told.rounds);
        }
        let lives = Known::of_all(&told_lives);
        let missing = Known::count_missing(&told_lives, &lives);
        let rounds = rounds::Known::of_all(&rounds);
        let meetings = rounds.iter().flat_map(rounds::Known::signals);
        let signals = signals::Known::of_all(&signals, meetings);
        let groups = Groups::of(&arrivals);
        Self {
            order: Rc::new(LockOrder::of(nested)),
            all_meet: groups.has_some()
                || lives.iter().any(Known::is_waited_for)
                || signals.iter().any(signals::Known::is_waited_for),
            lives,
            missing,
            signals,
            rounds,
            groups: Rc::new(groups),
        }
    }

    /// The part of a thread.
    pub(super) fn of_thread(&mut self, number: usize) -> Planned {
        Planned {
            order: Rc::clone(&self.order),
            number,
            life: std::mem::take(&mut self.lives[number]),
            signals: std::mem::take(&mut self.signals[number]),
            rounds: std::mem::take(&mut self.rounds[number]),
            groups: Rc::clone(&self.groups),
            all_meet: self.all_meet,
        }
    }

    /// What the user should know of it, a sentence each.
    pub(super) fn warnings(&self) -> Vec<String> {
        let crossed = self.order.crossed().map(|(count, lowest)| {
            format!(
                "{count} locks are taken in several orders, that at {lowest:#x} among them: a thread that takes one of them and holds others of \
                 higher addresses gives those up until it has it, or threads could wait for each other for ever"
            )
        });
        let uneven = self.groups.uneven().map(|(count, lowest)| {
            format!(
                "nobody waits at {count} barriers, that at {lowest:#x} among them: some threads come there more often than others"
            )
        });
        let missing = (self.missing > 0).then(|| {
            format!(
                "{} of the threads that the program begins have no file here: give all that one run has written, FILE, FILE.1 and so on",
                self.missing
            )
        });
        let unknown = self.order.most_known().map(|most| {
            format!(
                "only {most} pairs of locks of which one is taken while the other is held are looked at: if others are taken in several orders, \
                 threads could wait for each other for ever"
            )
        });
        let warnings = missing.into_iter().chain(crossed).chain(unknown);
        warnings.chain(uneven).collect()
    }
}
