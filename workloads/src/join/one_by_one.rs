//! A tuple after the other, each through all stages: GRACE, and simple prefetching.

use super::relation::Relation;
use super::scan::Inputs;
use super::visit::{Progress, Stages, Step, Visit};
use crate::tracer::Trace;

/// Takes every tuple of a relation through the stages. What a tuple has come to is in registers.
pub(super) fn run<S: Stages, T: Trace, I: Inputs>(
    stages: &mut S,
    trace: &mut T,
    inputs: &mut I,
    from: &mut Relation,
) {
    while let Some(input) = inputs.next(from, trace) {
        let mut visit = stages.begin(trace, input, false);
        go_through(stages, trace, from, (0, &mut visit));
    }
}

/// Takes a tuple that has begun through the other stages, with nobody else under way.
pub(super) fn go_through<S: Stages, T: Trace>(
    stages: &mut S,
    trace: &mut T,
    from: &Relation,
    (number, visit): (usize, &mut Visit<S::Notes>),
) {
    for stage in 1..=S::LAST {
        if visit.progress == Progress::Over {
            return;
        }
        let step = stages.step(trace, from, stage, (number, visit), false);
        debug_assert_eq!(step, Step::Done, "nobody else holds anything");
    }
}
