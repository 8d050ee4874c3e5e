//! A pass over a relation: first the tuples in order, then those that were put apart, if somebody looks for them.

use super::inspect::Inspect;
use super::ordered::{Ordered, Sortedness};
use super::sift::Sift;
use crate::join::algorithm::Order;
use crate::join::buffers::Buffers;
use crate::join::distribute::Distribute;
use crate::join::relation::Relation;
use crate::join::visit::Stages;
use crate::tracer::Trace;

/// Stages that end in output pages.
pub(super) trait Fills: Stages {
    fn buffers(&mut self) -> &mut Buffers;
}

impl Fills for Distribute<'_> {
    fn buffers(&mut self) -> &mut Buffers {
        self.buffers
    }
}

impl Fills for Inspect<'_> {
    fn buffers(&mut self) -> &mut Buffers {
        self.distribute.buffers
    }
}

impl Fills for Sift<'_> {
    fn buffers(&mut self) -> &mut Buffers {
        self.distribute.buffers
    }
}

/// Takes the tuples of a relation through stages; the states of those under way lie at an address. Tuples that were put apart begin with
/// pages of their own, unless they were too many.
pub(super) fn run<S: Fills, T: Trace>(
    stages: &mut S,
    trace: &mut T,
    order: Order,
    (from, ordered): (&mut Relation, Option<Ordered>),
    states: u64,
) -> Sortedness {
    let Some(mut ordered) = ordered else {
        order.go_through(stages, trace, from, states);
        return Sortedness::default();
    };
    ordered.open(trace);
    order.go_through_inputs(stages, trace, (from, &mut ordered), states);
    let (found, mut apart) = ordered.close();
    if !found.overflowed && found.out_of_order > 0 {
        stages.buffers().turn_all(trace);
    }
    order.go_through(stages, trace, &mut apart, states);
    found
}
