//! The states of tuples under way: an array in memory, as registers are too few.

use super::pages::WORD;
use super::sites::Site;
use super::visit::Visit;
use crate::tracer::{Dep, Trace};

/// Bytes from one state to the next, of which a stage reads and writes the first ones.
pub(super) const STATE_BYTES: u64 = 32;
const USED_BYTES: u16 = 24;
const USED_WORDS: u16 = USED_BYTES / WORD as u16;

/// So many states from an address on.
#[derive(Debug)]
pub(super) struct States<N> {
    first: u64,
    visits: Vec<Visit<N>>,
    /// Plain instructions of finding one.
    finding: u32,
}

impl<N: Copy + Default> States<N> {
    pub(super) fn new(first: u64, count: usize, finding: u32) -> Self {
        Self {
            first,
            visits: vec![Visit::none(); count],
            finding,
        }
    }

    fn address(&self, number: usize) -> u64 {
        self.first + number as u64 * STATE_BYTES
    }

    /// Reads a state: what the tuple does next waits for that.
    pub(super) fn get<T: Trace>(&self, trace: &mut T, number: usize) -> Visit<N> {
        trace.work(self.finding);
        let (site, address) = (Site::State, self.address(number));
        let token = trace.load(site, address, USED_BYTES, USED_WORDS, Dep::NONE);
        let mut visit = self.visits[number];
        (visit.token, visit.tuple.token) = (token, token);
        visit
    }

    pub(super) fn set<T: Trace>(&mut self, trace: &mut T, number: usize, visit: Visit<N>) {
        let (site, address) = (Site::StateChange, self.address(number));
        trace.store(site, address, USED_BYTES, USED_WORDS, visit.token.after(0));
        self.visits[number] = visit;
    }
}
