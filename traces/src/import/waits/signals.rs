//! Conditions: a thread that waits for one is woken by another that signals it.
//!
//! The recorder counts signals and wakings of all threads together, so that it is known which signal was the last before a waking: that one is
//! waited for. A thread holds a latch for each signal that somebody waits for, from some such signals before it on. Who waits for a later one
//! than is held waits for one that is held first, and so on: nobody goes by a latch that is not held yet. To come to a barrier is a signal, too.

use super::Step;
use super::latches::{signal, wait_for};
use crate::event::Kind;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Signals before a waking among which one of another thread is looked for.
const LOOKED_AT: usize = 1000;
/// What a thread signals that comes to a barrier: no condition of the program.
const MEETING: u64 = u64::MAX;
/// Signals for which a thread holds latches at a time: the next ones that somebody waits for.
const HELD: u64 = 64;

/// A condition, and when something was done with it: a number that grows from one to the next, of all threads.
type When = (u64, u64);
/// A thread, and how many signals it has given before this one.
pub(super) type Signal = (usize, u64);
/// A thread, and how many of its signals that somebody waits for come before this one.
type Wanted = (usize, u64);

/// What a thread's recording says, in its order.
#[derive(Debug, Default)]
pub(super) struct Told {
    signals: Vec<When>,
    wakings: Vec<When>,
}

/// What is known of a thread when all recordings have been read.
#[derive(Debug, Default)]
pub(super) struct Known {
    number: usize,
    /// Signals of each thread that somebody waits for, in its order.
    all_wanted: Rc<Vec<Vec<u64>>>,
    /// How many of those it has given.
    given: u64,
    /// The signal that it waits for, each time that it is woken.
    wakings: VecDeque<Option<Wanted>>,
    /// How many of the wanted signals of each other thread it has waited for, or has seen that they were given.
    seen: HashMap<usize, u64>,
}

/// Signals and wakings of a thread.
#[derive(Debug, Default)]
pub(in crate::import) struct Signals {
    told: Told,
    known: Known,
    /// When the last of them was, or a barrier.
    last: u64,
}

impl Signals {
    /// Those of a thread of which something is known.
    pub(super) fn of(known: Known) -> Self {
        Self {
            known,
            ..Self::default()
        }
    }

    /// What the thread holds before it does anything.
    pub(super) fn hold(&self) -> Vec<Step> {
        self.known.held(Kind::Latch).collect()
    }

    /// The thread signals a condition.
    pub(in crate::import) fn signal(&mut self, condition: u64, when: u64) -> Vec<Step> {
        let own = self.given();
        let when = self.at(when);
        self.told.signals.push((condition, when));
        self.known.give(own)
    }

    /// The thread comes to a barrier, and waits there for these, itself among them.
    pub(super) fn meet(&mut self, came: u64, others: &[Signal]) -> Vec<Step> {
        let mut steps = self.signal(MEETING, came);
        let number = self.known.number;
        for &(other, own) in others.iter().filter(|&&(other, _)| other != number) {
            steps.extend(self.known.wait_for_own(other, own));
        }
        steps
    }

    /// How many signals it has given.
    pub(super) fn given(&self) -> u64 {
        self.told.signals.len() as u64
    }

    /// A time, but not before what the thread has done last: so nobody waits for what comes behind his own deeds.
    pub(super) fn at(&mut self, when: u64) -> u64 {
        self.last = self.last.max(when);
        self.last
    }

    /// The thread has been woken.
    pub(in crate::import) fn wake(&mut self, condition: u64, when: u64) -> Vec<Step> {
        let when = self.at(when);
        self.told.wakings.push((condition, when));
        self.known.wait()
    }

    /// The thread has ended: nobody waits for it.
    pub(super) fn finish(&self) -> Vec<Step> {
        self.known.held(Kind::Unlatch).collect()
    }

    pub(super) fn into_told(self) -> Told {
        self.told
    }
}

impl Known {
    /// Whether somebody waits for a signal of the thread.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.wanted().is_empty()
    }

    /// The thread's own signals that somebody waits for.
    fn wanted(&self) -> &[u64] {
        self.all_wanted.get(self.number).map_or(&[], Vec::as_slice)
    }

    /// What is done with each latch that the thread holds between two signals.
    fn held(&self, kind: Kind) -> impl Iterator<Item = Step> {
        let all = self.wanted().len() as u64;
        let held = self.given..all.min(self.given + HELD);
        held.map(move |place| (kind, signal(self.number, place)))
    }

    /// The thread gives its signal of this number.
    fn give(&mut self, own: u64) -> Vec<Step> {
        let given = self.given;
        if self.wanted().get(given as usize) != Some(&own) {
            return Vec::new();
        }
        self.given += 1;
        let (next, all) = (given + HELD, self.wanted().len() as u64);
        let next = (next < all).then(|| (Kind::Latch, signal(self.number, next)));
        let mut steps: Vec<Step> = next.into_iter().collect();
        steps.push((Kind::Unlatch, signal(self.number, given)));
        steps
    }

    /// The thread waits for the signal that has woken it.
    fn wait(&mut self) -> Vec<Step> {
        match self.wakings.pop_front().flatten() {
            None => Vec::new(),
            Some((other, place)) => self.wait_for(other, place),
        }
    }

    /// The thread waits for a signal of another, which has given so many before.
    fn wait_for_own(&mut self, other: usize, own: u64) -> Vec<Step> {
        let wanted = self.all_wanted.get(other);
        match wanted.and_then(|wanted| wanted.binary_search(&own).ok()) {
            None => Vec::new(),
            Some(place) => self.wait_for(other, place as u64),
        }
    }

    fn wait_for(&mut self, other: usize, place: u64) -> Vec<Step> {
        let seen = self.seen.entry(other).or_default();
        let mut steps = Vec::new();
        while *seen <= place {
            // The other holds so many that follow the last that was seen.
            let next = place.min(*seen + HELD - 1);
            steps.extend(wait_for(signal(other, next)));
            *seen = next + 1;
        }
        steps
    }

    /// Finds out which signals have woken whom. Others wait for those of `meetings`, too.
    pub(super) fn of_all(told: &[Told], meetings: impl Iterator<Item = Signal>) -> Vec<Self> {
        // Most signals of some programs wake nobody, each of a condition of its own.
        let mut signals: HashMap<u64, Vec<(u64, Signal)>> = HashMap::new();
        for &(condition, _) in told.iter().flat_map(|one| &one.wakings) {
            signals.entry(condition).or_default();
        }
        for (thread, one) in told.iter().enumerate() {
            for (own, &(condition, when)) in one.signals.iter().enumerate() {
                if let Some(of_condition) = signals.get_mut(&condition) {
                    of_condition.push((when, (thread, own as u64)));
                }
            }
        }
        signals.values_mut().for_each(|all| all.sort_unstable());
        let wakes = |thread: usize, &(condition, when): &When| {
            let all = signals.get(&condition)?;
            let before = &all[..all.partition_point(|&(given, _)| given < when)];
            let mut others = before
                .iter()
                .rev()
                .take(LOOKED_AT)
                .map(|&(_, signal)| signal);
            others.find(|&(other, _)| other != thread)
        };
        let woken = told.iter().enumerate().map(|(thread, one)| {
            let wakings = one.wakings.iter();
            wakings.map(|waking| wakes(thread, waking)).collect()
        });
        let woken: Vec<Vec<Option<Signal>>> = woken.collect();
        let mut all: Vec<Signal> = woken.iter().flatten().flatten().copied().collect();
        all.extend(meetings);
        all.sort_unstable();
        all.dedup();
        let mut wanted = vec![Vec::new(); told.len()];
        for (thread, own) in all {
            wanted[thread].push(own);
        }
        let place = |(thread, own): Signal| {
            let place = wanted[thread].binary_search(&own).ok()?;
            Some((thread, place as u64))
        };
        let wakings = woken.into_iter().map(|woken| {
            let places = woken.into_iter().map(|signal| signal.and_then(place));
            places.collect()
        });
        let wakings: Vec<VecDeque<Option<Wanted>>> = wakings.collect();
        let all_wanted = Rc::new(wanted);
        let known = wakings.into_iter().enumerate();
        let known = known.map(|(number, wakings)| Self {
            number,
            all_wanted: Rc::clone(&all_wanted),
            wakings,
            ..Self::default()
        });
        known.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const CONDITION: u64 = 7;

    /// A thread that signals so often, and one that is woken behind all of that.
    fn of_two(signals: u64) -> [Signals; 2] {
        let (mut first, mut second) = (Told::default(), Told::default());
        for when in 0..signals {
            // The second is woken by each third signal, and a third thread by others.
            first.signals.push((CONDITION + when % 3, when));
        }
        second.wakings.push((CONDITION, signals));
        let wakings = (0..signals).map(|when| (CONDITION + when % 3, when + 1));
        let third = Told {
            signals: Vec::new(),
            wakings: wakings.collect(),
        };
        let known = Known::of_all(&[first, second, third], std::iter::empty());
        let mut threads = known.into_iter().map(Signals::of);
        [threads.next().unwrap(), threads.next().unwrap()]
    }

    /// Takes and releases latches.
    fn change(held: &mut HashSet<u64>, steps: Vec<Step>) {
        for (kind, latch) in steps {
            let is_changed = match kind {
                Kind::Latch => held.insert(latch),
                _ => held.remove(&latch),
            };
            assert!(is_changed);
        }
    }

    #[test]
    fn whoever_comes_early_waits_for_the_last_of_many_signals() {
        for count in [1, 2, 63, 64, 65, 66, 200, 1000] {
            let [mut gives, mut waits] = of_two(count);
            let mut held = HashSet::new();
            change(&mut held, gives.hold());
            let asked = waits.wake(CONDITION, count);
            let mut asked = asked
                .iter()
                .filter(|step| step.0 == Kind::ShareLatch)
                .peekable();
            // The second comes at once, and goes on as soon as the latch that it asks for is not held.
            for when in 0..count {
                while asked.next_if(|(_, latch)| !held.contains(latch)).is_some() {}
                let is_behind = (when..count).all(|later| later % 3 > 0);
                assert_eq!(asked.peek().is_none(), is_behind, "{when} of {count}");
                change(&mut held, gives.signal(CONDITION + when % 3, when));
            }
            assert!(held.is_empty());
        }
    }

    #[test]
    fn a_signal_that_was_seen_is_not_waited_for_again() {
        let told = Told {
            signals: vec![(CONDITION, 0), (CONDITION + 1, 1)],
            wakings: Vec::new(),
        };
        let woken = Told {
            signals: Vec::new(),
            wakings: vec![(CONDITION + 1, 2), (CONDITION, 3)],
        };
        let mut known = Known::of_all(&[told, woken], std::iter::empty());
        let mut waits = Signals::of(known.remove(1));
        assert_eq!(waits.wake(CONDITION + 1, 2).len(), 2);
        assert!(waits.wake(CONDITION, 3).is_empty());
    }
}
