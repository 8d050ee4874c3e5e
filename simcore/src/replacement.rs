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
    /// Next to leave. A use makes the line one like any other, where it is used: levels that are not looked up for that keep it so.
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

/// What a policy with a state of its own does. Lines stay in their way.
trait Policy {
    /// For a cache of so many sets and ways, of which there are at most 64.
    fn new(sets: usize, ways: usize) -> Self;

    /// The line in `way` was hit.
    fn used(&mut self, set: usize, way: usize);

    /// A line was put into `way`.
    fn filled(&mut self, set: usize, way: usize, position: Position);

    /// The way that makes room in a full set.
    fn victim(&mut self, set: usize) -> usize;

    /// Forgets all uses.
    fn clear(&mut self);
}

/// Makes of the list of policies one type that dispatches to them.
macro_rules! register {
    ($($policy:ident,)+) => {
        /// A policy with a state of its own.
        #[derive(Clone, Debug)]
        pub(crate) enum Kept {
            $($policy($policy),)+
        }

        impl Order {
            pub(crate) fn new(replacement: Replacement, sets: usize, ways: usize) -> Self {
                match replacement {
                    Replacement::Lru => Self::Recency,
                    Replacement::Fifo => Self::Arrival,
                    $(Replacement::$policy => Self::Kept(Kept::$policy($policy::new(sets, ways))),)+
                }
            }
        }

        impl Kept {
            /// As [`Policy::used`].
            pub(crate) fn used(&mut self, set: usize, way: usize) {
                match self { $(Self::$policy(policy) => policy.used(set, way),)+ }
            }

            /// As [`Policy::filled`].
            pub(crate) fn filled(&mut self, set: usize, way: usize, position: Position) {
                match self { $(Self::$policy(policy) => policy.filled(set, way, position),)+ }
            }

            /// As [`Policy::victim`].
            pub(crate) fn victim(&mut self, set: usize) -> usize {
                match self { $(Self::$policy(policy) => policy.victim(set),)+ }
            }

            /// As [`Policy::clear`].
            pub(crate) fn clear(&mut self) {
                match self { $(Self::$policy(policy) => policy.clear(),)+ }
            }
        }
    };
}

// The list of policies, by the names that they have in the specification.
register! {
    TreePlru,
    Nru,
    Random,
    Srrip,
}
