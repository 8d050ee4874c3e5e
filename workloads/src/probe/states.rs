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
    /// Key and bucket of each.
    probes: Vec<Option<(u64, B)>>,
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

    /// Reads a state: what the probe does next waits for that. Nothing, if there is none.
    pub(super) fn get<T: Trace>(&self, trace: &mut T, slot: usize) -> Option<Probe<B>> {
        let (bytes, words) = USED;
        let token = trace.load(Site::State, self.address(slot), bytes, words, Dep::NONE);
        let probe = self.at(slot, token);
        trace.branch(Site::IsUnderWay, probe.is_some(), token.after(1));
        probe
    }

    /// Writes a state; nothing is none.
    pub(super) fn set<T: Trace>(&mut self, trace: &mut T, slot: usize, probe: Option<Probe<B>>) {
        let (bytes, words) = USED;
        let dep = probe.map_or(Dep::NONE, |probe| probe.waits);
        trace.store(Site::StateChange, self.address(slot), bytes, words, dep);
        self.leave(slot, probe);
    }

    /// What is under way in a slot, without an event: a token says what brought it.
    #[inline]
    pub(super) fn at(&self, slot: usize, token: Token) -> Option<Probe<B>> {
        let waits = token.after(0);
        self.probes[slot].map(|(key, bucket)| Probe { key, bucket, waits })
    }

    /// Leaves in a slot what is under way, without an event.
    #[inline]
    pub(super) fn leave(&mut self, slot: usize, probe: Option<Probe<B>>) {
        self.probes[slot] = probe.map(|probe| (probe.key, probe.bucket));
    }
}
