//! Latches: which core holds one, and who waits for it.

use std::collections::{HashMap, VecDeque};

/// A program and the address of a latch of its own.
pub(super) type Latch = (usize, u64);

/// As many latches as may be remembered before those are forgotten that are free for everybody.
const REMEMBERED: usize = 1 << 12;

/// What is known of a latch that has been taken.
#[derive(Debug)]
struct State {
    holder: Option<usize>,
    /// The cycle in which it was released last, and the core that did so, which need not wait for that.
    free: (u64, usize),
    /// Cores that wait for it, in the order in which they came.
    waiting: VecDeque<usize>,
}

/// Latches that are held, or have been.
#[derive(Debug)]
pub(super) struct Latches {
    states: HashMap<Latch, State>,
    forget_at: usize,
}

impl Latches {
    /// None has been taken.
    pub(super) fn new() -> Self {
        Self {
            states: HashMap::new(),
            forget_at: REMEMBERED,
        }
    }

    /// A core takes a latch, and gets the cycle from which it is free; or waits for it, if another core holds it.
    pub(super) fn take(&mut self, latch: Latch, core: usize) -> Option<u64> {
        let state = self.states.entry(latch).or_insert_with(|| State {
            holder: None,
            free: (0, core),
            waiting: VecDeque::new(),
        });
        if state.holder.is_some_and(|holder| holder != core) {
            state.waiting.push_back(core);
            return None;
        }
        state.holder = Some(core);
        let (cycle, by) = state.free;
        Some(if by == core { 0 } else { cycle })
    }

    /// A core releases a latch in a cycle: it is that of who waits longest, who is given. One that it does not hold stays as it is.
    pub(super) fn release(&mut self, latch: Latch, core: usize, cycle: u64) -> Option<usize> {
        let state = self.states.get_mut(&latch)?;
        if state.holder != Some(core) {
            return None;
        }
        state.free = (cycle, core);
        state.holder = state.waiting.pop_front();
        state.holder
    }

    /// Forgets latches that were free before a cycle from which on cores take some, if there are many.
    pub(super) fn forget(&mut self, cycle: u64) {
        if self.states.len() < self.forget_at {
            return;
        }
        self.states
            .retain(|_, state| state.holder.is_some() || state.free.0 > cycle);
        self.forget_at = (2 * self.states.len()).max(REMEMBERED);
    }

    /// A core that waits for a latch, and the one that holds it.
    pub(super) fn waiting(&self) -> Option<(usize, usize)> {
        let waits = |state: &State| Some((*state.waiting.front()?, state.holder?));
        self.states.values().filter_map(waits).min()
    }
}
