//! The states of probes under way: an array in memory, as registers are too few.

use super::lookup::Probe;
use super::sites::Site;
use crate::tracer::{Dep, Token, Trace};

/// Bytes from one state to the next: a probe's key and bucket, and for coroutines where it goes on and what else was in registers.
pub(super) const STATE_BYTES: u64 = 64;
/// Bytes of key and bucket.
const USED: (u16, u16) = (16, 2);

/// So many states from an address on.
#[derive(Debug)]
pub(super) struct States<B> {
    first: u64,
    probes: Vec<Option<Probe<B>>>,
}

impl<B: Copy> States<B> {
    pub(super) fn new(first: u64, count: u32) -> Self {
        Self {
            first,
            probes: vec![None; count as usize],
        }
    }

    pub(super) fn len(&self) -> usize {
        self.probes.len()
    }

    pub(super) fn address(&self, slot: usize) -> u64 {
        self.first + slot as u64 * STATE_BYTES
    }

    /// Reads a state, which is there when what was left in it is: what the probe does next waits for that. Nothing, if there is none.
    pub(super) fn get<T: Trace>(&self, trace: &mut T, slot: usize) -> Option<Probe<B>> {
        let (bytes, words) = USED;
        let token = trace.load(
            Site::State,
            self.address(slot),
            bytes,
            words,
            self.waits(slot),
        );
        trace.branch(Site::IsUnderWay, self.is_under_way(slot), token.after(1));
        self.brought(slot, token)
    }

    /// Writes a state; nothing is none.
    pub(super) fn set<T: Trace>(&mut self, trace: &mut T, slot: usize, probe: Option<Probe<B>>) {
        let (bytes, words) = USED;
        self.leave(slot, probe);
        trace.store(
            Site::StateChange,
            self.address(slot),
            bytes,
            words,
            self.waits(slot),
        );
    }

    #[inline]
    pub(super) fn is_under_way(&self, slot: usize) -> bool {
        self.probes[slot].is_some()
    }

    /// What the state in a slot waits for.
    #[inline]
    pub(super) fn waits(&self, slot: usize) -> Dep {
        self.probes[slot].map_or(Dep::NONE, |probe| probe.waits)
    }

    /// What is under way in a slot, without an event: a token says what brought it.
    #[inline]
    pub(super) fn brought(&self, slot: usize, token: Token) -> Option<Probe<B>> {
        let waits = token.after(0);
        self.probes[slot].map(|probe| Probe { waits, ..probe })
    }

    /// Leaves in a slot what is under way, without an event.
    #[inline]
    pub(super) fn leave(&mut self, slot: usize, probe: Option<Probe<B>>) {
        self.probes[slot] = probe;
    }
}
