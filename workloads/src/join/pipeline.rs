//! Software-pipelined prefetching (thesis section 4.5): an iteration runs each stage for another tuple, a distance apart.

use super::costs::{CIRCULAR_STATE, LOOP, TEST};
use super::relation::Relation;
use super::scan::Inputs;
use super::sites::Site;
use super::states::States;
use super::visit::{Progress, Stages, Step, Waiting};
use crate::tracer::{Dep, Trace};

/// States that the tuples under way take: a power of two, so that an index is found by a mask.
pub(super) fn states(last_stage: usize, distance: usize) -> usize {
    (last_stage * distance + 1).next_power_of_two()
}

/// Takes every tuple of a relation through the stages, each `distance` iterations behind the one before.
pub(super) fn run<S: Stages, T: Trace, I: Inputs>(
    stages: &mut S,
    trace: &mut T,
    inputs: &mut I,
    from: &mut Relation,
    (first_state, distance): (u64, usize),
) {
    let size = states(S::LAST, distance);
    let mut pipeline = Pipeline {
        stages,
        states: States::new(first_state, size, CIRCULAR_STATE),
        behind: vec![None; size],
    };
    let mut begun = 0;
    let mut more = true;
    for iteration in 0.. {
        more = more && {
            let input = inputs.next(from, trace);
            if let Some(input) = input {
                let visit = pipeline.stages.begin(trace, input, true);
                pipeline.states.set(trace, iteration % size, visit);
                begun += 1;
            }
            input.is_some()
        };
        if !more && iteration >= begun + S::LAST * distance {
            return;
        }
        for stage in 1..=S::LAST {
            let tuple = iteration.checked_sub(stage * distance);
            if let Some(tuple) = tuple.filter(|&tuple| tuple < begun) {
                pipeline.step(trace, from, stage, tuple % size);
            }
        }
        trace.work(LOOP);
        trace.branch(Site::StageLoop, true, Dep::NONE);
    }
}

/// Tuples under way, and who waits behind whom (section 4.5.3).
#[derive(Debug)]
struct Pipeline<'s, S: Stages> {
    stages: &'s mut S,
    states: States<S::Notes>,
    /// By state: the next that waits for the same.
    behind: Vec<Option<usize>>,
}

impl<S: Stages> Pipeline<'_, S> {
    fn step<T: Trace>(&mut self, trace: &mut T, from: &Relation, stage: usize, number: usize) {
        let mut visit = self.states.get(trace, number);
        let goes_on = !matches!(visit.progress, Progress::Over | Progress::Waits);
        trace.branch(Site::OnPath, goes_on, visit.token.after(1));
        if goes_on {
            let step = self
                .stages
                .step(trace, from, stage, (number, &mut visit), true);
            if let Step::Busy(holder) = step {
                visit.progress = Progress::Waits;
                self.wait_behind(trace, holder, number);
            }
            if stage < S::LAST {
                self.states.set(trace, number, visit);
            }
        }
        if stage == S::LAST && S::WAITING != Waiting::Nobody && goes_on {
            self.look_behind(trace, from, (number, visit.token.after(1)));
        }
    }

    /// Looks whether anybody waits for a visit that is over, which its state says.
    fn look_behind<T: Trace>(
        &mut self,
        trace: &mut T,
        from: &Relation,
        (number, known): (usize, Dep),
    ) {
        let next = self.behind[number].take();
        trace.work(TEST);
        trace.branch(Site::OthersWait, next.is_some(), known);
        if let Some(next) = next {
            self.go_on(trace, from, next);
        }
    }

    /// Puts a visit at the end of a queue.
    fn wait_behind<T: Trace>(&mut self, trace: &mut T, holder: usize, number: usize) {
        let mut last = holder;
        while let Some(next) = self.behind[last] {
            self.states.get(trace, last);
            last = next;
        }
        let visit = self.states.get(trace, last);
        self.states.set(trace, last, visit);
        self.behind[last] = Some(number);
    }

    /// Runs all stages but the last for the first of a queue, or for all of it: what they wait for is free, and their last stages are
    /// still to come.
    fn go_on<T: Trace>(&mut self, trace: &mut T, from: &Relation, first: usize) {
        let mut next = Some(first);
        while let Some(number) = next {
            next = match S::WAITING {
                Waiting::All => self.behind[number].take(),
                Waiting::First | Waiting::Nobody => None,
            };
            let mut visit = self.states.get(trace, number);
            visit.progress = Progress::UnderWay;
            for stage in 1..S::LAST {
                let at = (number, &mut visit);
                if let Step::Busy(holder) = self.stages.step(trace, from, stage, at, true) {
                    debug_assert!(number != first, "what the first waits for is free");
                    visit.progress = Progress::Waits;
                    self.wait_behind(trace, holder, number);
                    break;
                }
            }
            self.states.set(trace, number, visit);
        }
    }
}
