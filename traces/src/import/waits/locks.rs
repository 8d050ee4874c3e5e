//! The locks that a thread of a recorded program holds, and what is said of them in its trace, where latches stand for them.
//!
//! A latch is taken and released where the lock was. Three things are different, so that no thread waits for ever:
//!
//! - A lock that its holder takes again is no second latch.
//! - At a barrier, and at its end, a thread holds nothing: behind the barrier it takes again what it held.
//! - A thread that takes a lock against the [order](LockOrder) of locks gives up for a moment those that come behind it.
//!
//! While nothing is recorded, a thread takes no latch. It takes those of locks that it holds when that is over.

use super::lock_order::{LockOrder, Nested};
use crate::event::Kind;
use crate::import::error::Fault;
use std::rc::Rc;

/// Locks that a thread may hold at a time. Each that it takes is remembered with all that it holds.
const MOST: usize = 1024;

/// An event of a latch: its kind, and the address of the lock.
pub(in crate::import) type Step = (Kind, u64);

/// A lock that the thread holds.
#[derive(Debug)]
struct Held {
    lock: u64,
    /// How it was taken: alone or beside others.
    kind: Kind,
    /// How often, without a release in between.
    depth: u32,
    /// Whether the trace says so.
    is_told: bool,
}

/// Locks of a thread. What is to be told is given as steps.
#[derive(Debug, Default)]
pub(in crate::import) struct Locks {
    /// In the order in which they were taken.
    held: Vec<Held>,
    order: Rc<LockOrder>,
    nested: Nested,
}

impl Locks {
    /// None is held. Those of all threads have this order.
    pub(super) fn with_order(order: Rc<LockOrder>) -> Self {
        Self {
            order,
            ..Self::default()
        }
    }

    /// The thread takes a lock, as `kind` says. Whoever records nothing calls [`Locks::tell`] later.
    ///
    /// # Errors
    /// It would hold more than [`MOST`].
    pub(in crate::import) fn take(&mut self, kind: Kind, lock: u64) -> Result<(), Fault> {
        if let Some(held) = self.held.iter_mut().find(|held| held.lock == lock) {
            held.depth += 1;
            return Ok(());
        }
        if self.held.len() == MOST {
            return Err(Fault::new(format!(
                "a thread takes the lock at {lock:#x} and holds {MOST} others, which is as many as it may"
            )));
        }
        self.held.push(Held {
            lock,
            kind,
            depth: 1,
            is_told: false,
        });
        Ok(())
    }

    /// The thread releases a lock. One that it does not hold was taken before its recording began, or by another.
    pub(in crate::import) fn release(&mut self, lock: u64) -> Option<Step> {
        let place = self.held.iter().position(|held| held.lock == lock)?;
        self.held[place].depth -= 1;
        if self.held[place].depth > 0 {
            return None;
        }
        let held = self.held.remove(place);
        held.is_told.then_some((Kind::Unlatch, lock))
    }

    /// Tells of all locks that are held and not told of.
    pub(in crate::import) fn tell(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        for place in 0..self.held.len() {
            if !self.held[place].is_told {
                self.tell_of(place, &mut steps);
            }
        }
        steps
    }

    fn tell_of(&mut self, place: usize, steps: &mut Vec<Step>) {
        let Held { lock, kind, .. } = self.held[place];
        let mut behind = Vec::new();
        for held in self.held.iter().filter(|held| held.is_told) {
            self.nested.add(held.lock, lock);
            if self.order.is_against(held.lock, lock) {
                behind.push((held.lock, held.kind));
            }
        }
        behind.sort_unstable_by_key(|&(lock, _)| lock);
        steps.extend(behind.iter().map(|&(lock, _)| (Kind::Unlatch, lock)));
        steps.push((kind, lock));
        steps.extend(behind.iter().map(|&(lock, kind)| (kind, lock)));
        self.held[place].is_told = true;
    }

    /// Tells that all locks are released. They are still held.
    pub(in crate::import) fn leave(&mut self) -> Vec<Step> {
        let told = self.held.iter_mut().filter(|held| held.is_told);
        let leave = |held: &mut Held| {
            held.is_told = false;
            (Kind::Unlatch, held.lock)
        };
        told.map(leave).collect()
    }

    /// The trace begins here: nothing has been told.
    pub(super) fn forget(&mut self) {
        self.nested.clear();
        for held in &mut self.held {
            held.is_told = false;
        }
    }

    /// How many locks are held that have been told of, and the first of them; nothing if none is.
    pub(in crate::import) fn held(&self) -> Option<(usize, u64)> {
        let mut told = self.held.iter().filter(|held| held.is_told);
        let first = told.next()?;
        Some((1 + told.count(), first.lock))
    }

    /// Locks that were taken while others were held.
    pub(super) fn into_nested(self) -> Nested {
        self.nested
    }
}
