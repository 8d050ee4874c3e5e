//! Conditions: a thread that waits for one is woken by another that signals it.
//!
//! The recorder counts signals and wakings of all threads together, so that it is known which signal was the last before a waking: that one is
//! waited for. A thread holds a latch for each signal that somebody waits for, from the signal before that on.

use super::Step;
use super::latches::{signal, wait_for};
use crate::event::Kind;
use std::collections::{HashMap, VecDeque};

/// Signals before a waking among which one of another thread is looked for.
const LOOKED_AT: usize = 1000;

/// A condition, and when something was done with it: a number that grows from one to the next, of all threads.
type When = (u64, u64);
/// A thread, and how many signals it has given before this one.
type Signal = (usize, u64);

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
    /// Its signals that somebody waits for, in its order.
    wanted: VecDeque<u64>,
    /// The signal that it waits for, each time that it is woken.
    wakings: VecDeque<Option<Signal>>,
}

/// Signals and wakings of a thread.
#[derive(Debug, Default)]
pub(in crate::import) struct Signals {
    told: Told,
    known: Known,
}

impl Signals {
    /// Those of a thread of which something is known.
    pub(super) fn of(known: Known) -> Self {
        Self {
            told: Told::default(),
            known,
        }
    }

    /// What the thread holds before it does anything.
    pub(super) fn hold(&self) -> Vec<Step> {
        self.next(Kind::Latch).into_iter().collect()
    }

    /// The thread signals a condition.
    pub(in crate::import) fn signal(&mut self, condition: u64, when: u64) -> Vec<Step> {
        let own = self.told.signals.len() as u64;
        self.told.signals.push((condition, when));
        if self.known.wanted.front() != Some(&own) {
            return Vec::new();
        }
        self.known.wanted.pop_front();
        let mut steps = self.hold();
        steps.push((Kind::Unlatch, signal(self.known.number, own)));
        steps
    }

    /// The thread has been woken.
    pub(in crate::import) fn wake(&mut self, condition: u64, when: u64) -> Option<[Step; 2]> {
        self.told.wakings.push((condition, when));
        let (other, before) = self.known.wakings.pop_front()??;
        Some(wait_for(signal(other, before)))
    }

    /// The thread has ended: nobody waits for it.
    pub(super) fn finish(&self) -> Vec<Step> {
        self.next(Kind::Unlatch).into_iter().collect()
    }

    pub(super) fn into_told(self) -> Told {
        self.told
    }

    fn next(&self, kind: Kind) -> Option<Step> {
        let next = self.known.wanted.front()?;
        Some((kind, signal(self.known.number, *next)))
    }
}

impl Known {
    /// Whether somebody waits for a signal of the thread.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Finds out which signals have woken whom.
    pub(super) fn of_all(told: &[Told]) -> Vec<Self> {
        let mut signals: HashMap<u64, Vec<(u64, Signal)>> = HashMap::new();
        for (thread, one) in told.iter().enumerate() {
            for (own, &(condition, when)) in one.signals.iter().enumerate() {
                let of_condition = signals.entry(condition).or_default();
                of_condition.push((when, (thread, own as u64)));
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
        let mut known: Vec<Self> = Vec::with_capacity(told.len());
        for (number, one) in told.iter().enumerate() {
            let wakings = one.wakings.iter().map(|waking| wakes(number, waking));
            known.push(Self {
                number,
                wanted: VecDeque::new(),
                wakings: wakings.collect(),
            });
        }
        let mut wanted: Vec<Signal> = known
            .iter()
            .flat_map(|one| one.wakings.iter().flatten().copied())
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        for (thread, own) in wanted {
            known[thread].wanted.push_back(own);
        }
        known
    }
}
