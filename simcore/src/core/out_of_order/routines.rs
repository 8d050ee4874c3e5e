//! Routines of the host DBMS on the out-of-order pipeline, in closed form.

use super::OutOfOrder;
use crate::core::pace::{Flow, Pace};
use crate::core::{Groups, Machinery};
use crate::hierarchy::{Hierarchy, Purpose};
use crate::ledger::Cause;
use traces::Event;

/// Records that the end of a long group leaves in the reorder buffer, evenly over its entries.
const RECORDS: u64 = 4;

impl OutOfOrder {
    /// Runs instructions of a routine and gives the slot in which the last of them is done.
    ///
    /// While older instructions may keep the reorder buffer full, a few are run at a time; the others all at once, as
    /// from then on they wait for nothing but each other.
    pub(crate) fn run_paced(
        &mut self,
        machinery: &mut Machinery,
        (flow, pace): (&mut Flow, &mut Pace),
        instructions: u64,
    ) -> u64 {
        let mut rest = instructions;
        while rest > self.slots.largest_group() && self.is_held_up() {
            self.dispatch(self.slots.largest_group());
            self.graduate_paced(machinery, (flow, pace), self.slots.largest_group());
            self.leave_reorder_buffer();
            rest -= self.slots.largest_group();
        }
        if rest <= self.slots.largest_group() {
            self.dispatch(rest);
            let done = self.graduate_paced(machinery, (flow, pace), rest);
            self.leave_reorder_buffer();
            return done;
        }
        self.slots.dispatch(rest);
        let done = self.graduate_paced(machinery, (flow, pace), rest);
        self.settle_reorder_buffer(pace, rest);
        done
    }

    /// Whether graduation is so far behind dispatch that the reorder buffer may fill up with what is older.
    fn is_held_up(&self) -> bool {
        // Instructions that wait for nothing graduate in the second cycle after their dispatch.
        self.position() > self.slots.dispatched() + 3 * self.width
    }

    /// Executes and graduates the instructions dispatched last and gives the slot in which they are done.
    fn graduate_paced(
        &mut self,
        machinery: &mut Machinery,
        (flow, pace): (&mut Flow, &mut Pace),
        instructions: u64,
    ) -> u64 {
        // A cycle after dispatch an instruction may begin, and it takes a cycle; the last one's own share of the flow
        // is part of that.
        self.slots.leave_idle(instructions);
        let ready = self.slots.dispatched() - instructions + self.width;
        let free = flow.execute(pace, instructions, ready);
        let done = free + self.width - pace.slots(1);
        let graduated = self.slots.instructions() - instructions;
        let position = self.slots.graduates(graduated);
        let end = done.max(position + instructions);
        let begin = (done - pace.slots(instructions)).clamp(position, end - instructions);
        let restarted = (self.restarted * self.width).clamp(position, begin);
        let fetched = (self.fetched * self.width).clamp(restarted, begin);
        let ledger = &mut machinery.ledger;
        ledger.charge(Cause::Branch, restarted - position);
        ledger.charge(Cause::Icache, fetched - restarted);
        ledger.charge(Cause::Other, end - fetched - instructions);
        pace.graduate(instructions, end - position, 1);
        self.slots.graduate_from(self.slots.instructions(), end);
        done
    }

    /// Says when the instructions of a long group left the reorder buffer, and dispatches the last of them no earlier
    /// than the buffer had room for it.
    fn settle_reorder_buffer(&mut self, pace: &Pace, instructions: u64) {
        let (last, end) = (self.slots.instructions(), self.position());
        let entries = self.reorder_buffer.entries;
        for part in (1..RECORDS).rev() {
            let before = entries * part / RECORDS;
            if 0 < before && before < instructions {
                self.reorder_buffer
                    .leave(last - before, end - pace.slots(before));
            }
        }
        self.reorder_buffer.leave(last, end);
        if entries < instructions {
            self.slots.dispatch_from(end - pace.slots(entries));
        }
    }

    /// The branch done in slot `done` was predicted wrongly: nothing is dispatched until the front end has restarted.
    pub(crate) fn mispredict_paced(&mut self, done: u64) {
        self.restart(self.restart_after(done));
    }

    /// The cycle in which instructions are dispatched again after a branch that was done in slot `done`.
    fn restart_after(&self, done: u64) -> u64 {
        done.div_ceil(self.width) + self.mispredict_penalty
    }

    /// Whether the misprediction done in slot `done` was the last to graduate before the pipeline ran empty, so that
    /// groups may follow. Without a pause, instructions may find their entries in the reorder buffer taken.
    pub(crate) fn may_run_groups(&self, done: u64) -> bool {
        self.position() == done && self.mispredict_penalty > 0
    }

    /// Runs groups of a routine's instructions after a misprediction. Each is dispatched from the beginning of a cycle on,
    /// into an empty pipeline, so that all of a length take the same time, and only the last one's end may matter later.
    pub(crate) fn run_groups(
        &mut self,
        machinery: &mut Machinery,
        pace: &mut Pace,
        groups: &Groups,
    ) {
        let width = self.width;
        // From the restart seen by graduation, a cycle after dispatch, to the end.
        let executed = |pace: &Pace, length| width + pace.slots(length) - pace.slots(1);
        let mut restarts = self.slots.dispatched();
        let mut all_executed = 0;
        for (length, count) in groups.lengths() {
            let slots = executed(pace, length);
            let next = self.restart_after(width + slots) * width;
            pace.graduate(length, width + slots, count);
            all_executed += count * slots;
            restarts += count * next;
        }
        let last_done = width + executed(pace, groups.last);
        let end = restarts - self.restart_after(last_done) * width + last_done;
        let ledger = &mut machinery.ledger;
        ledger.charge(Cause::Branch, end - self.position() - all_executed);
        ledger.charge(Cause::Other, all_executed - groups.instructions);
        self.slots.dispatch(groups.instructions);
        self.slots.leave_idle(groups.instructions);
        self.slots.dispatch_from(restarts);
        self.slots.graduate_from(self.slots.instructions(), end);
        self.restarted = self.slots.next_dispatch() + 1;
        self.leave_reorder_buffer();
    }

    /// Reads a line of a routine's own data, which its next instruction needs.
    pub(crate) fn read_private(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
    ) {
        let (instructions, dispatched) = (self.slots.instructions(), self.slots.next_dispatch());
        let issue = self.memory_ports.start(dispatched + 1);
        let timing = machinery.load(caches, event, issue, dispatched, Purpose::Load);
        if self.slots.graduates_before(instructions, timing.complete) {
            self.wait(machinery, timing, instructions, self.restarted);
        }
    }
}
