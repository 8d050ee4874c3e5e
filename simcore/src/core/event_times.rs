//! When the events of a run got on: what a critical path is found from.

use super::{Clocked, Machinery, Turn};
use crate::hierarchy::Hierarchy;
use std::cell::RefCell;
use traces::Event;

/// When an instruction's event got on in an out-of-order core. Times are cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventTimes {
    /// It entered the reorder buffer.
    pub dispatched: u64,
    /// The operand that it names was there.
    pub ready: u64,
    /// A unit or a port was free.
    pub issued: u64,
    /// Its address was translated.
    pub translated: u64,
    /// Page-table walks so far: one more than at the event before, if it walked.
    pub walks: u64,
    /// The latest of these walks began.
    pub walk_began: u64,
    /// When it had a miss handler that it waited for; 0 if it waited for none.
    pub behind: u64,
    /// Level that served the line whose end freed that handler.
    pub behind_level: usize,
    /// Its result could be used.
    pub complete: u64,
    /// The line that it accessed was in the first cache: later than `complete` for stores and prefetches.
    pub arrived: u64,
    /// The slot after its graduation: cycles times the width of the core.
    pub graduated_slot: u64,
    /// Level that served the line: 0 for the first cache, the number of caches for memory.
    pub level: usize,
    /// A branch that was predicted wrongly.
    pub mispredicted: bool,
}

/// A turn that ends with its events, and keeps when each got on.
#[derive(Debug)]
pub(crate) struct Watched<'t>(RefCell<&'t mut Vec<EventTimes>>);

impl<'t> Watched<'t> {
    /// Appends to `times`.
    pub(crate) fn new(times: &'t mut Vec<EventTimes>) -> Self {
        Self(RefCell::new(times))
    }
}

impl Turn for Watched<'_> {
    #[inline]
    fn includes(&self, _: &impl Clocked, _: &mut Machinery, _: &Hierarchy, _: &Event) -> bool {
        true
    }

    fn foresee(&self, _: &Machinery, _: &Hierarchy, _: &[Event]) {}

    fn saw(&self, times: impl FnOnce() -> EventTimes) {
        self.0.borrow_mut().push(times());
    }
}
