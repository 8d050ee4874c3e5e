//! The pipeline of a machine, whichever kind it is.

use super::{Clocked, Flow, Groups, InOrder, Machinery, OutOfOrder, Pace, Turn};
use crate::hierarchy::Hierarchy;
use crate::ledger::Cause;
use crate::spec::{CoreKind, MachineSpec};
use traces::Event;

#[derive(Clone, Debug)]
pub(super) enum Pipeline {
    OutOfOrder(Box<OutOfOrder>),
    InOrder(Box<InOrder>),
}

/// Calls a method that both kinds have.
macro_rules! either {
    ($pipeline:expr, $core:ident => $call:expr) => {
        match $pipeline {
            Pipeline::OutOfOrder($core) => $call,
            Pipeline::InOrder($core) => $call,
        }
    };
}

impl Pipeline {
    pub(super) fn new(spec: &MachineSpec) -> Self {
        match spec.core.kind {
            CoreKind::OutOfOrder => Self::OutOfOrder(Box::new(OutOfOrder::new(spec))),
            CoreKind::InOrder => Self::InOrder(Box::new(InOrder::new(spec))),
        }
    }

    /// Runs events as long as the turn lasts, up to the first that is no instruction, and gives how many.
    #[inline]
    pub(super) fn run(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        events: &[Event],
        turn: &impl Turn,
    ) -> usize {
        either!(self, core => core.run(machinery, caches, events, turn))
    }

    /// Lets an event pass that is no instruction, but has plain ones before it, and gives the instructions run so far.
    pub(super) fn pass(&mut self, machinery: &mut Machinery, plain: u64) -> u64 {
        either!(self, core => core.pass(machinery, plain))
    }

    /// Later events count one more event when they name their producer; nothing waits for it.
    pub(super) fn skip_result(&mut self) {
        either!(self, core => core.skip_result());
    }

    /// Runs instructions of a routine, at least one, and gives the slot in which the last of them is done.
    pub(super) fn run_paced(
        &mut self,
        machinery: &mut Machinery,
        paced: (&mut Flow, &mut Pace),
        instructions: u64,
    ) -> u64 {
        either!(self, core => core.run_paced(machinery, paced, instructions))
    }

    /// Restarts the front end after a mispredicted branch of a routine that was done in slot `done`.
    pub(super) fn mispredict_paced(&mut self, machinery: &mut Machinery, done: u64) {
        match self {
            Self::OutOfOrder(core) => core.mispredict_paced(done),
            Self::InOrder(core) => core.mispredict_paced(machinery, done),
        }
    }

    /// Whether groups of the routine's instructions may follow its misprediction done in slot `done`.
    pub(super) fn may_run_groups(&self, done: u64) -> bool {
        match self {
            Self::OutOfOrder(core) => core.may_run_groups(done),
            Self::InOrder(core) => core.may_run_groups(),
        }
    }

    /// Runs groups of a routine's instructions after a misprediction.
    pub(super) fn run_groups(
        &mut self,
        machinery: &mut Machinery,
        pace: &mut Pace,
        groups: &Groups,
    ) {
        either!(self, core => core.run_groups(machinery, pace, groups));
    }

    /// Reads a line of a routine's private data, which its next instruction needs.
    pub(super) fn read_private(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
    ) {
        either!(self, core => core.read_private(machinery, caches, event));
    }

    /// Dispatches nothing before the code is there, in cycle `fetched`.
    pub(super) fn wait_for_code(&mut self, machinery: &mut Machinery, fetched: u64) {
        match self {
            Self::OutOfOrder(core) => core.wait_for_code(fetched),
            Self::InOrder(core) => core.wait_for_code(machinery, fetched),
        }
    }

    /// Leaves slots empty until cycle `cycle`, in which what the whole core waits for is there.
    pub(super) fn wait_until(&mut self, machinery: &mut Machinery, cycle: u64, cause: Cause) {
        either!(self, core => core.wait_until(machinery, cycle, cause));
    }

    /// Nothing later overlaps with what came before.
    pub(super) fn flush(&mut self, machinery: &mut Machinery) {
        match self {
            Self::OutOfOrder(core) => core.flush(),
            Self::InOrder(core) => core.flush(machinery),
        }
    }

    /// The cycle in which all results are there that nothing has waited for: instructions that have graduated have theirs.
    pub(super) fn results_there(&self) -> u64 {
        match self {
            Self::OutOfOrder(_) => 0,
            Self::InOrder(core) => core.results_there(),
        }
    }

    /// Leaves slots empty until then.
    pub(super) fn wait_for_results(&mut self, machinery: &mut Machinery) {
        if let Self::InOrder(core) = self {
            core.wait_for_results(machinery);
        }
    }

    /// Waits for loads that were left open, and for what graduates behind them: before anybody asks how far the core is.
    pub(super) fn close_loads(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy) {
        if let Self::OutOfOrder(core) = self {
            core.close_loads(machinery, caches);
        }
    }

    /// Whether the next event, or the end, has to wait until it is known when a line comes; see [`OutOfOrder::waits_for_line`].
    pub(super) fn waits_for_line(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: Option<&Event>,
    ) -> bool {
        match self {
            Self::OutOfOrder(core) => core.waits_for_line(machinery, caches, event),
            Self::InOrder(_) => false,
        }
    }

    /// Whether it has stopped before such an event.
    pub(super) fn is_waiting(&self) -> bool {
        match self {
            Self::OutOfOrder(core) => core.is_waiting(),
            Self::InOrder(_) => false,
        }
    }

    /// Whether something behind it will ask for a line when others have come.
    pub(super) fn will_ask(&self) -> bool {
        match self {
            Self::OutOfOrder(core) => core.will_ask(),
            Self::InOrder(_) => false,
        }
    }

    /// When it asks for a line next, if none comes before, and however long its next event waits.
    pub(super) fn next_ask(&self) -> u64 {
        match self {
            Self::OutOfOrder(core) => core.next_ask(),
            Self::InOrder(_) => u64::MAX,
        }
    }

    /// Asks for lines up to a cycle.
    pub(super) fn ask_until(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        cycle: u64,
    ) {
        if let Self::OutOfOrder(core) = self {
            core.go_on(machinery, caches, cycle);
        }
    }

    /// A cycle that nothing comes before which it has to hear of.
    pub(super) fn asks_from(&self) -> u64 {
        match self {
            Self::OutOfOrder(core) => core.asks_from(core.now()),
            Self::InOrder(core) => core.now(),
        }
    }

    /// All stores have their times: whoever comes next does so when they are written.
    pub(super) fn settle_stores(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy) {
        if let Self::OutOfOrder(core) = self {
            core.settle_stores(machinery, caches);
        }
    }

    /// Leaves slots empty until all stores are written, which those pay for whose lines they wait for.
    pub(super) fn wait_until_written(&mut self, machinery: &mut Machinery) {
        either!(self, core => core.wait_until_written(machinery));
    }

    /// Graduation slots filled or charged so far.
    pub(super) fn position(&self) -> u64 {
        either!(self, core => core.position())
    }

    /// Instructions run so far.
    pub(super) fn instructions(&self) -> u64 {
        either!(self, core => core.instructions())
    }

    /// The cycle in which the last store leaves the store buffer.
    pub(super) fn stores_drained(&self) -> u64 {
        either!(self, core => core.stores_drained())
    }
}

impl Clocked for Pipeline {
    fn now(&self) -> u64 {
        either!(self, core => core.now())
    }

    fn dispatches(&self, event: &Event) -> u64 {
        either!(self, core => core.dispatches(event))
    }

    fn begins(&self, now: u64, machinery: &Machinery, event: &Event) -> u64 {
        either!(self, core => core.begins(now, machinery, event))
    }
}
