//! Routines of the host DBMS on the in-order pipeline, in closed form.

use super::InOrder;
use crate::core::Machinery;
use crate::core::pace::{Flow, Pace};
use crate::ledger::Cause;
use traces::Event;

impl InOrder {
    /// Runs instructions of a routine and gives the slot in which the last of them is done.
    pub(crate) fn run_paced(
        &mut self,
        machinery: &mut Machinery,
        (flow, pace): (&mut Flow, &Pace),
        instructions: u64,
    ) -> u64 {
        self.instructions += instructions;
        let end = flow.execute(pace, instructions, self.issue.position);
        let slots = end - self.issue.position;
        machinery.ledger.charge(Cause::Other, slots - instructions);
        flow.retirement.count(pace, instructions, slots);
        self.issue.position = end;
        end
    }

    /// The branch done in slot `done` was predicted wrongly: nothing issues until the front end has restarted.
    pub(crate) fn mispredict_paced(&mut self, machinery: &mut Machinery, done: u64) {
        let restarted = done.div_ceil(self.width) + self.mispredict_penalty;
        self.wait(machinery, restarted, Cause::Branch);
    }

    /// Reads a line of a routine's own data, which its next instruction needs.
    pub(crate) fn read_private(&mut self, machinery: &mut Machinery, event: &Event) {
        let issue = machinery.after_walk(self.issue.cycle());
        self.wait(machinery, issue, Cause::Dtlb);
        let timing = machinery.load(event, issue, issue);
        if self.issue.is_before(timing.complete) {
            let (place, position) = (machinery.ledger.place(), self.issue.position);
            timing.charge(&mut machinery.ledger, place, position, 0, 0, self.width);
            self.issue.wait_until(timing.complete);
        }
    }
}
