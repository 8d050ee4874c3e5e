//! Barriers of a recorded program: where some of its threads, or all, wait for each other.
//!
//! Where all do, that is an event. Where some do, each holds a latch for the next time. When it has come, it takes one for the time after that,
//! releases this one, and waits for those of the others. So each has three in turn: one that it holds, one that others may still ask for, and
//! one that nobody asks for any more.

use super::Step;
use super::latches::{arrival, wait_for};
use crate::event::Kind;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// The barrier that the program tells memwalk of; others are told by where they lie.
pub(in crate::import) const SAID: u64 = 0;
/// Barriers that are known: the first of each thread.
const MOST: usize = 1 << 16;

/// How often a thread has come to each barrier.
#[derive(Debug, Default)]
pub(super) struct Arrivals(BTreeMap<u64, u64>);

/// Who waits at a barrier.
#[derive(Debug)]
enum Group {
    All,
    /// These threads, at the barrier of this number.
    Some(u64, Vec<usize>),
}

/// Who waits at each barrier; nobody waits at others.
#[derive(Debug, Default)]
pub(super) struct Groups {
    of: HashMap<u64, Group>,
    /// Barriers to which some threads come more often than others.
    uneven: Vec<u64>,
}

/// A thread and its barriers.
#[derive(Debug, Default)]
pub(in crate::import) struct Meetings {
    arrivals: Arrivals,
    groups: Rc<Groups>,
    thread: usize,
}

/// What a thread does at a barrier.
#[derive(Debug)]
pub(in crate::import) enum Meeting {
    /// It waits for all threads.
    OfAll,
    /// It waits for some.
    OfSome(Vec<Step>),
}

impl Arrivals {
    fn add(&mut self, barrier: u64) -> u64 {
        if self.0.len() == MOST && !self.0.contains_key(&barrier) {
            return 0;
        }
        let arrivals = self.0.entry(barrier).or_default();
        *arrivals += 1;
        *arrivals - 1
    }
}

impl Groups {
    /// Finds out who waits for whom.
    pub(super) fn of(threads: &[Arrivals]) -> Self {
        let mut barriers: BTreeMap<u64, Vec<(usize, u64)>> = BTreeMap::new();
        for (thread, arrivals) in threads.iter().enumerate() {
            for (&barrier, &count) in &arrivals.0 {
                barriers.entry(barrier).or_default().push((thread, count));
            }
        }
        let mut groups = Self::default();
        for (number, (barrier, group)) in barriers.into_iter().enumerate() {
            let is_even = group.iter().all(|&(_, count)| count == group[0].1);
            if group.len() == threads.len() && is_even {
                groups.of.insert(barrier, Group::All);
            } else if is_even {
                let members = group.into_iter().map(|(thread, _)| thread).collect();
                groups
                    .of
                    .insert(barrier, Group::Some(number as u64, members));
            } else {
                groups.uneven.push(barrier);
            }
        }
        groups
    }

    /// Whether some threads wait for each other, and others do not.
    pub(super) fn has_some(&self) -> bool {
        let mut groups = self.of.values();
        groups.any(|group| matches!(group, Group::Some(..)))
    }

    /// Barriers at which nobody waits, as some threads come there more often than others: how many, and the lowest; nothing if there are none.
    pub(super) fn uneven(&self) -> Option<(usize, u64)> {
        Some((self.uneven.len(), *self.uneven.first()?))
    }
}

impl Meetings {
    /// Those of a thread.
    pub(super) fn of(groups: Rc<Groups>, thread: usize) -> Self {
        Self {
            arrivals: Arrivals::default(),
            groups,
            thread,
        }
    }

    /// What the thread holds before it does anything.
    pub(super) fn hold(&self) -> Vec<Step> {
        let own = self.own().into_iter();
        own.map(|number| (Kind::Latch, arrival(number, self.thread, 0)))
            .collect()
    }

    /// The thread comes to a barrier.
    pub(in crate::import) fn meet(&mut self, barrier: u64) -> Option<Meeting> {
        let round = self.arrivals.add(barrier);
        let (number, members) = match self.groups.of.get(&barrier)? {
            Group::All => return Some(Meeting::OfAll),
            Group::Some(number, members) => (*number, members),
        };
        let mut steps = vec![
            (Kind::Latch, arrival(number, self.thread, round + 1)),
            (Kind::Unlatch, arrival(number, self.thread, round)),
        ];
        for &other in members.iter().filter(|&&other| other != self.thread) {
            steps.extend(wait_for(arrival(number, other, round)));
        }
        Some(Meeting::OfSome(steps))
    }

    /// The thread has ended: nobody waits for it.
    pub(super) fn finish(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (barrier, &rounds) in &self.arrivals.0 {
            if let Some(Group::Some(number, _)) = self.groups.of.get(barrier) {
                steps.push((Kind::Unlatch, arrival(*number, self.thread, rounds)));
            }
        }
        steps
    }

    /// The trace begins here: what the program has said before was not said.
    pub(super) fn forget_said(&mut self) {
        self.arrivals.0.remove(&SAID);
    }

    /// How often it has come to the barrier that the program tells memwalk of.
    pub(super) fn said(&self) -> u64 {
        self.arrivals.0.get(&SAID).copied().unwrap_or(0)
    }

    pub(super) fn into_arrivals(self) -> Arrivals {
        self.arrivals
    }

    /// Numbers of the barriers at which it waits for some.
    fn own(&self) -> Vec<u64> {
        let groups = self.groups.of.values();
        let own = groups.filter_map(|group| match group {
            Group::Some(number, members) if members.contains(&self.thread) => Some(*number),
            _ => None,
        });
        let mut own: Vec<u64> = own.collect();
        own.sort_unstable();
        own
    }
}
