//! Which line of a set makes room: one policy per file, but for the two that are the order of the lines in their set.

mod nru;
mod random;
mod srrip;
mod tree_plru;

use crate::spec::Replacement;
use nru::Nru;
use random::Random;
use srrip::Srrip;
use tree_plru::TreePlru;

/// Where in the order a new line goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// Last to leave.
    Newest,
    /// Next to leave: a line that is used once takes one way of its set, never more.
    Oldest,
}

/// How a cache remembers who makes room.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// LRU: lines stand in the order of their latest use.
    Recency,
    /// FIFO: lines stand in the order of their arrival.
    Arrival,
    /// Lines stay in their way, and the policy keeps its own state.
    Kept(Kept),
}

/// A policy with a state of its own.
#[derive(Clone, Debug)]
pub(crate) enum Kept {
    TreePlru(TreePlru),
    Nru(Nru),
    Random(Random),
    Srrip(Srrip),
}

impl Order {
    pub(crate) fn new(replacement: Replacement, sets: usize, ways: usize) -> Self {
        Self::Kept(match replacement {
            Replacement::Lru => return Self::Recency,
            Replacement::Fifo => return Self::Arrival,
            Replacement::TreePlru => Kept::TreePlru(TreePlru::new(sets, ways)),
            Replacement::Nru => Kept::Nru(Nru::new(sets, ways)),
            Replacement::Random => Kept::Random(Random::new(ways)),
            Replacement::Srrip => Kept::Srrip(Srrip::new(sets, ways)),
        })
    }
}

impl Kept {
    /// The line in `way` was hit.
    pub(crate) fn used(&mut self, set: usize, way: usize) {
        match self {
            Self::TreePlru(policy) => policy.used(set, way),
            Self::Nru(policy) => policy.used(set, way),
            Self::Random(_) => {}
            Self::Srrip(policy) => policy.used(set, way),
        }
    }

    /// A line was put into `way`.
    pub(crate) fn filled(&mut self, set: usize, way: usize, position: Position) {
        match self {
            Self::TreePlru(policy) if position == Position::Newest => policy.used(set, way),
            Self::Nru(policy) => policy.filled(set, way, position),
            Self::Srrip(policy) => policy.filled(set, way, position),
            Self::TreePlru(_) | Self::Random(_) => {}
        }
    }

    /// The way that makes room in a full set.
    pub(crate) fn victim(&mut self, set: usize) -> usize {
        match self {
            Self::TreePlru(policy) => policy.victim(set),
            Self::Nru(policy) => policy.victim(set),
            Self::Random(policy) => policy.victim(),
            Self::Srrip(policy) => policy.victim(set),
        }
    }

    /// Forgets all uses.
    pub(crate) fn clear(&mut self) {
        match self {
            Self::TreePlru(policy) => policy.clear(),
            Self::Nru(policy) => policy.clear(),
            Self::Random(policy) => policy.clear(),
            Self::Srrip(policy) => policy.clear(),
        }
    }
}
