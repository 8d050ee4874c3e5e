//! Where threads leave what they made for all: before a barrier, to be taken behind it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A place for each of several things.
#[derive(Debug)]
pub(crate) struct Board<V>(Mutex<Vec<Option<Arc<V>>>>);

impl<V> Board<V> {
    pub(crate) fn of(places: u32) -> Self {
        Self(Mutex::new((0..places).map(|_| None).collect()))
    }

    /// Leaves something, in place of what an earlier run left.
    pub(crate) fn leave(&self, place: u32, thing: Arc<V>) {
        self.things()[place as usize] = Some(thing);
    }

    /// What was left in all places.
    pub(crate) fn all(&self) -> Vec<Arc<V>> {
        self.things().iter().flatten().cloned().collect()
    }

    /// A thread that panics has left a thing or has not.
    fn things(&self) -> MutexGuard<'_, Vec<Option<Arc<V>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
