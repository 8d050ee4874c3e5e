//! The states of probes under way: an array in memory, as registers are too few.

use super::lookup::Probe;
use super::sites::Site;
use crate::tracer::{Dep, Trace};

/// Bytes from one state to the next: a probe's key and bucket, and for coroutines where it goes on and what else was in registers.
pub(super) const STATE_BYTES: u64 = 64;
/// Bytes of key and bucket.
const USED: (u16, u16) = (16, 2);

/// So many states from an address on.
#[derive(Debug)]
pub(super) struct States {
    first: u64,
    probes: Vec<Option<Probe>>,
}

impl States {
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
    pub(super) fn get<T: Trace>(&self, trace: &mut T, slot: usize) -> Option<Probe> {
        let (bytes, words) = USED;
        let token = trace.load(Site::State, self.address(slot), bytes, words, Dep::NONE);
        let under_way = self.probes[slot].is_some();
        trace.branch(Site::IsUnderWay, under_way, token.after(1));
        self.probes[slot].map(|probe| Probe { token, ..probe })
    }

    /// Writes a state; nothing is none.
    pub(super) fn set<T: Trace>(&mut self, trace: &mut T, slot: usize, probe: Option<Probe>) {
        let (bytes, words) = USED;
        let dep = probe.map_or(Dep::NONE, |probe| probe.token.after(0));
        trace.store(Site::StateChange, self.address(slot), bytes, words, dep);
        self.probes[slot] = probe;
    }

    /// What is under way in a slot; nobody reads that.
    pub(super) fn at(&mut self, slot: usize) -> &mut Option<Probe> {
        &mut self.probes[slot]
    }
}
