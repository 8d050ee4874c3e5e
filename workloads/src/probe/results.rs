//! What probes find: it is counted and, where that is asked for, written one behind the other into an array of each thread, with room for as
//! many as it has probes.
//!
//! The place of the next is in memory, as in programs whose results go to a list of buffers: it is loaded, compared with the end of the
//! buffer, and stored.

use super::costs::{COMPARE, TAKE};
use super::sites::Site;
use crate::outcome::Checksum;
use crate::tracer::{Dep, Token, Trace};

/// Bytes of a result: key and payload.
pub(super) const RESULT_BYTES: u64 = 16;
/// Bytes from a thread's place to the next one's: no line is of two threads.
pub(super) const PLACE_BYTES: u64 = 64;
/// Plain instructions: the place from its number, and the next number.
const NEXT_PLACE: u32 = 2;
/// Words of a result.
const WORDS: u16 = 2;

/// What a thread has found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) matches: u64,
    /// Of their payloads.
    pub(super) checksum: Checksum,
    /// Where results are written, if they are: address of the first, and of the place of the next.
    addresses: Option<(u64, u64)>,
    /// Those that a processor of the host writes itself, all of them touched.
    there: Box<[[u64; 2]]>,
}

impl Found {
    /// Nothing yet, with room at addresses for the results of so many probes; natively in the host's memory.
    pub(super) fn stored<T: Trace>(addresses: (u64, u64), probes: u64) -> Self {
        let native = if T::NATIVE { probes as usize } else { 0 };
        Self {
            addresses: Some(addresses),
            there: vec![[1; 2]; native].into(),
            ..Self::default()
        }
    }

    /// Takes a key and its payload, which `brought` has brought.
    #[inline]
    pub(super) fn take<T: Trace>(&mut self, trace: &mut T, result: [u64; 2], brought: Token) {
        trace.work(TAKE);
        if let Some(addresses) = self.addresses {
            self.say(trace, addresses, brought);
        }
        // There is room for all of them, or for none: natively nothing else asks whether they are written.
        if let Some(there) = self.there.get_mut(self.matches as usize) {
            *there = result;
        }
        self.matches += 1;
        self.checksum.add(result[1]);
    }

    /// Says that the next result is written.
    #[inline]
    fn say<T: Trace>(&self, trace: &mut T, (first, place): (u64, u64), brought: Token) {
        let loaded = trace.load(Site::ResultPlace, place, 8, 1, Dep::NONE);
        trace.work(COMPARE);
        trace.branch(Site::ResultsFull, false, loaded.after(1));
        trace.work(NEXT_PLACE);
        let address = first + self.matches * RESULT_BYTES;
        let bytes = RESULT_BYTES as u16;
        trace.store(Site::Result, address, bytes, WORDS, brought.after(0));
        let known = loaded.after(1);
        trace.store(Site::ResultPlaceChange, place, 8, 1, known);
    }
}
