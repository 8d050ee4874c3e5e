//! Routines of the host DBMS on the in-order pipeline, in closed form.

use super::InOrder;
use crate::core::pace::{Flow, Pace};
use crate::core::{Groups, Machinery};
use crate::hierarchy::{Hierarchy, Purpose};
use crate::ledger::Cause;
use traces::Event;

impl InOrder {
    /// Runs instructions of a routine and gives the slot in which the last of them is done.
    pub(crate) fn run_paced(
        &mut self,
        machinery: &mut Machinery,
        (flow, pace): (&mut Flow, &mut Pace),
        instructions: u64,
    ) -> u64 {
        self.instructions += instructions;
        let end = flow.execute(pace, instructions, self.issue.position);
        let slots = end - self.issue.position;
        machinery.ledger.charge(Cause::Other, slots - instructions);
        pace.graduate(instructions, slots, 1);
        self.issue.position = end;
        end
    }

    /// The branch done in slot `done` was predicted wrongly: nothing issues until the front end has restarted.
    pub(crate) fn mispredict_paced(&mut self, machinery: &mut Machinery, done: u64) {
        let restarted = self.restart(done);
        self.wait(machinery, restarted, Cause::Branch);
    }

    /// The cycle in which the front end restarts after a branch that was done in slot `done`.
    fn restart(&self, done: u64) -> u64 {
        done.div_ceil(self.width) + self.mispredict_penalty
    }

    /// Whether groups may follow a misprediction. Without a pause, the flow carries parts of slots from one group into the
    /// next.
    pub(crate) fn may_run_groups(&self) -> bool {
        self.mispredict_penalty > 0
    }

    /// Runs groups of a routine's instructions after a misprediction. Each begins a cycle, so that all of a length take
    /// the same time.
    pub(crate) fn run_groups(
        &mut self,
        machinery: &mut Machinery,
        pace: &mut Pace,
        groups: &Groups,
    ) {
        self.instructions += groups.instructions;
        for (length, count) in groups.lengths() {
            let slots = pace.slots(length);
            let next = self.restart(slots) * self.width;
            let ledger = &mut machinery.ledger;
            ledger.charge(Cause::Other, count * (slots - length));
            ledger.charge(Cause::Branch, count * (next - slots));
            pace.graduate(length, slots, count);
            self.issue.position += count * next;
        }
    }

    /// Reads a line of a routine's own data, which its next instruction needs.
    pub(crate) fn read_private(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
    ) {
        let issue = machinery.after_walk(self.issue.cycle());
        self.wait(machinery, issue, Cause::Dtlb);
        let timing = machinery.load(caches, event, issue, issue, Purpose::Load);
        if self.issue.is_before(timing.complete) {
            let (place, position) = (machinery.ledger.place(), self.issue.position);
            timing.charge(&mut machinery.ledger, place, position, 0, 0, self.width);
            self.issue.wait_until(timing.complete);
        }
    }
}
