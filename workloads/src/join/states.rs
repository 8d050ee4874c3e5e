//! The states of tuples under way: an array in memory, as registers are too few.

use super::limits::WORD;
use super::sites::Site;
use super::visit::Visit;
use crate::arena::Reservation;
use crate::tracer::Trace;

/// Bytes from one state to the next, of which a stage reads and writes the first ones.
const STATE_BYTES: u64 = 32;
const USED_BYTES: u16 = 24;
const USED_WORDS: u16 = USED_BYTES / WORD as u16;

/// Memory for so many states of each thread, and the bytes from one thread's to the next one's. No line is of two threads.
pub(super) fn of_threads(states: u64, threads: u32, line_bytes: u32) -> (Reservation, u64) {
    let (object_bytes, bytes) = if threads == 1 {
        (STATE_BYTES, states * STATE_BYTES)
    } else {
        let line = u64::from(line_bytes).max(STATE_BYTES);
        (line, (states * STATE_BYTES).next_multiple_of(line))
    };
    let reservation = Reservation {
        name: "state".into(),
        object_bytes,
        objects: bytes / object_bytes * u64::from(threads),
    };
    (reservation, bytes)
}

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

    /// Reads a state, which is there when what was left in it is: what the tuple does next waits for that.
    pub(super) fn get<T: Trace>(&self, trace: &mut T, number: usize) -> Visit<N> {
        trace.work(self.finding);
        let (site, address) = (Site::State, self.address(number));
        let mut visit = self.visits[number];
        let token = trace.load(site, address, USED_BYTES, USED_WORDS, visit.waits);
        visit.brought(token);
        visit.tuple.token = token;
        visit
    }

    pub(super) fn set<T: Trace>(&mut self, trace: &mut T, number: usize, visit: Visit<N>) {
        let (site, address) = (Site::StateChange, self.address(number));
        trace.store(site, address, USED_BYTES, USED_WORDS, visit.waits);
        self.visits[number] = visit;
    }
}
