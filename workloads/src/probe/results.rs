//! What probes find, written one behind the other: an array of each thread, with room for as many as it has probes.
//!
//! The place of the next is in memory, as in programs whose results go to a list of buffers: it is loaded, compared with the end of the
//! buffer, and stored.

use super::costs::COMPARE;
use super::sites::Site;
use crate::tracer::{Dep, Token, Trace};

/// Bytes of a result: key and payload.
pub(super) const RESULT_BYTES: u64 = 16;
/// Bytes from a thread's place to the next one's: no line is of two threads.
pub(super) const PLACE_BYTES: u64 = 64;
/// Plain instructions: the place from its number, and the next number.
const NEXT_PLACE: u32 = 2;
/// Words of a result.
const WORDS: u16 = 2;

/// The results of a thread.
#[derive(Debug)]
pub(super) struct StoredResults {
    /// Address of the first, and of the place of the next.
    addresses: (u64, u64),
    /// How many there are.
    count: u64,
    /// Those that a processor of the host stores itself, all of them touched.
    there: Vec<[u64; 2]>,
}

impl StoredResults {
    /// Room at addresses for the results of so many probes; natively in the host's memory.
    pub(super) fn new<T: Trace>(addresses: (u64, u64), probes: u64) -> Self {
        let native = if T::NATIVE { probes as usize } else { 0 };
        Self {
            addresses,
            count: 0,
            there: vec![[1; 2]; native],
        }
    }

    /// Stores a key and its payload, which `brought` has brought.
    pub(super) fn store<T: Trace>(&mut self, trace: &mut T, result: [u64; 2], brought: Token) {
        let (first, place) = self.addresses;
        let loaded = trace.load(Site::ResultPlace, place, 8, 1, Dep::NONE);
        trace.work(COMPARE);
        trace.branch(Site::ResultsFull, false, loaded.after(1));
        trace.work(NEXT_PLACE);
        let address = first + self.count * RESULT_BYTES;
        let bytes = RESULT_BYTES as u16;
        trace.store(Site::Result, address, bytes, WORDS, brought.after(0));
        let known = loaded.after(1);
        trace.store(Site::ResultPlaceChange, place, 8, 1, known);
        if let Some(there) = self.there.get_mut(self.count as usize) {
            *there = result;
        }
        self.count += 1;
    }
}
