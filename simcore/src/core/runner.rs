//! Who runs the routines behind calls: a pipeline in its time, or nobody where time stands still.

use super::Pipeline;
use super::mispredictions::Mispredictions;
use super::routines::Routine;
use super::{Clocked, Flow, Machinery};
use crate::hierarchy::{Cycles, Hierarchy, Purpose, Standstill};
use traces::Event;

/// The instructions of all routines, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Instructions {
    flow: Flow,
    pub(super) mispredictions: Mispredictions,
}

/// Takes a routine's private data, code and instructions, in its order.
pub(super) trait Runner {
    /// The cycle it is.
    fn cycle(&self) -> u64;

    /// Reads a line of the routine's private data, which its next instruction needs.
    fn read_private(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, line: &Event);

    /// Fetches the line of code at `address`, which the routine's next instruction waits for.
    fn fetch(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, address: u64);

    /// Runs so many instructions of the routine.
    fn execute(
        &mut self,
        machinery: &mut Machinery,
        instructions: &mut Instructions,
        routine: &mut Routine,
        count: u64,
    );
}

impl Runner for Pipeline {
    fn cycle(&self) -> u64 {
        self.now()
    }

    fn read_private(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, line: &Event) {
        self.read_private(machinery, caches, line);
    }

    fn fetch(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, address: u64) {
        let fetched = machinery.fetch_line::<Cycles>(caches, address, self.now());
        self.wait_for_code(machinery, fetched);
    }

    /// There is a misprediction wherever one is due.
    fn execute(
        &mut self,
        machinery: &mut Machinery,
        Instructions {
            flow,
            mispredictions,
        }: &mut Instructions,
        routine: &mut Routine,
        count: u64,
    ) {
        let (rate, pace) = (routine.mispredicts_per_1000, &mut routine.pace);
        let mut rest = count;
        while rest > 0 {
            let (part, mispredicts) = mispredictions.advance(rate, rest);
            let done = self.run_paced(machinery, (flow, pace), part);
            rest -= part;
            if !mispredicts {
                continue;
            }
            self.mispredict_paced(machinery, done);
            if self.may_run_groups(done)
                && let Some(groups) = mispredictions.advance_by_groups(rate, rest)
            {
                self.run_groups(machinery, pace, &groups);
                rest -= groups.instructions;
            }
        }
    }
}

/// Moves the lines that a routine touches, in cycle `now`; its instructions do nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Still {
    pub(super) now: u64,
}

impl Runner for Still {
    fn cycle(&self) -> u64 {
        self.now
    }

    fn read_private(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, line: &Event) {
        machinery.pass(caches, line, Purpose::Load, self.now);
    }

    fn fetch(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy, address: u64) {
        machinery.fetch_line::<Standstill>(caches, address, self.now);
    }

    fn execute(&mut self, _: &mut Machinery, _: &mut Instructions, _: &mut Routine, _: u64) {}
}
