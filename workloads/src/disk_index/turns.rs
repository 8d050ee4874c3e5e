//! An index that threads change: each has it for itself while an operation of its own lasts, and they take turns.
//!
//! In simulated time operations overlap, as far as latches of pages let them. Which page is split by whom does not depend on that: every run
//! has the same events.

use super::counts::Counts;
use crate::paged_tree::{Index, Key};
use crate::pool::Own;
use crate::tracer::Trace;
use std::sync::{Arc, Mutex};

/// A thread's hold on an index that threads change.
pub(super) struct Turns<K> {
    index: Arc<Mutex<Index<K>>>,
    /// What the thread has of its own in the pool.
    own: Option<Own>,
    /// What its operations did.
    pub(super) counts: Counts,
}

const NOT_POISONED: &str = "a run ends with the first panic";

impl<K: Key> Turns<K> {
    /// Of a thread with a buffer of one page at an address.
    pub(super) fn new(index: &Arc<Mutex<Index<K>>>, buffer: u64) -> Self {
        let own = index.lock().expect(NOT_POISONED).pool().own_of(buffer);
        Self {
            index: Arc::clone(index),
            own,
            counts: Counts::default(),
        }
    }

    /// Does an operation in the thread's turn. The thread may stop meanwhile, as events fill a batch; but nobody else goes on then.
    pub(super) fn operate<T: Trace, R>(
        &mut self,
        trace: &mut T,
        operation: impl FnOnce(&mut Index<K>, &mut T) -> R,
    ) -> R {
        trace.wait_for_turn();
        let index = &mut *self.index.lock().expect(NOT_POISONED);
        let before = Counts::of(index);
        index.pool_mut().swap(&mut self.own);
        let done = operation(index, trace);
        index.pool_mut().swap(&mut self.own);
        self.counts += Counts::of(index) - before;
        done
    }
}
