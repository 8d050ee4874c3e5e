//! A tuple after the other, each through all stages: GRACE, and simple prefetching.

use super::partition::{Partition, Scan};
use super::visit::{Path, Stages, Step, Visit};
use crate::tracer::Trace;

/// Takes every tuple of a partition through the stages. What a tuple has come to is in registers.
pub(super) fn run<S: Stages, T: Trace>(
    stages: &mut S,
    trace: &mut T,
    scan: &mut Scan,
    from: &mut Partition,
) {
    while let Some(input) = scan.next(from, trace) {
        let mut visit = stages.begin(trace, input, false);
        go_through(stages, trace, from, (0, &mut visit));
    }
}

/// Takes a tuple whose bucket is known through the other stages, with nobody else under way.
pub(super) fn go_through<S: Stages, T: Trace>(
    stages: &mut S,
    trace: &mut T,
    from: &Partition,
    (number, visit): (usize, &mut Visit),
) {
    for stage in 1..=S::LAST {
        if visit.path == Path::Over {
            return;
        }
        let step = stages.step(trace, from, stage, (number, visit), false);
        debug_assert_eq!(step, Step::Done, "nobody else changes the bucket");
    }
}
