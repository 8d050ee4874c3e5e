//! Group prefetching (thesis section 4.4): a stage for all tuples of a group, then the next.

use super::costs::{GROUP_STATE, LOOP};
use super::one_by_one::go_through;
use super::relation::Relation;
use super::scan::Inputs;
use super::sites::Site;
use super::states::States;
use super::visit::{Progress, Stages, Step};
use crate::tracer::{Dep, Trace};

/// Takes every tuple of a relation through the stages, `size` at a time.
pub(super) fn run<S: Stages, T: Trace, I: Inputs>(
    stages: &mut S,
    trace: &mut T,
    inputs: &mut I,
    from: &mut Relation,
    (first_state, size): (u64, usize),
) {
    let mut states = States::new(first_state, size, GROUP_STATE);
    // Those that found busy what they are to change.
    let mut delayed = Vec::new();
    loop {
        let mut filled = 0;
        while filled < size
            && let Some(input) = inputs.next(from, trace)
        {
            let visit = stages.begin(trace, input, true);
            states.set(trace, filled, visit);
            filled += 1;
            trace.work(LOOP);
            trace.branch(Site::StageLoop, filled < size, Dep::NONE);
        }
        for stage in 1..=S::LAST {
            for number in 0..filled {
                let mut visit = states.get(trace, number);
                let goes_on = !matches!(visit.progress, Progress::Over | Progress::Waits);
                trace.branch(Site::OnPath, goes_on, visit.token.after(1));
                if goes_on {
                    let at = (number, &mut visit);
                    if let Step::Busy(_) = stages.step(trace, from, stage, at, true) {
                        visit.progress = Progress::Waits;
                        delayed.push(number);
                    }
                    if stage < S::LAST {
                        states.set(trace, number, visit);
                    }
                }
                trace.work(LOOP);
                trace.branch(Site::StageLoop, number + 1 < filled, Dep::NONE);
            }
        }
        // At the end of the group nothing is busy, and what they need is in the caches (section 4.4.4).
        for number in delayed.drain(..) {
            let mut visit = states.get(trace, number);
            visit.progress = Progress::UnderWay;
            go_through(stages, trace, from, (number, &mut visit));
        }
        if filled < size {
            return;
        }
    }
}
