//! TupleIDs of 4 bytes that a scan copies into its return buffer, one by one.

use crate::place::Loaded;
use crate::tracer::{Dep, Trace};
use crate::tree::ReturnBuffer;
use crate::tree::scan::{FULL_TEST, NEXT_PAIR};
use crate::tree::search::CALL;

/// Where a scan is in the code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReturnSites<S> {
    /// Stores a tupleID.
    pub store: S,
    /// The loop's condition.
    pub again: S,
}

/// The return buffer of a scan under way.
pub(crate) struct Returning<'b> {
    buffer: ReturnBuffer<'b, u32>,
    wanted: usize,
    filled: usize,
    returned: usize,
}

impl<'b> Returning<'b> {
    /// An empty buffer, which so many tupleIDs go through.
    pub(crate) fn new(buffer: ReturnBuffer<'b, u32>, wanted: usize) -> Self {
        Self {
            buffer,
            wanted,
            filled: 0,
            returned: 0,
        }
    }

    /// Takes a tupleID, behind which the page or node has `more`; whether the scan has all that it wants.
    #[inline]
    pub(crate) fn take<T: Trace, S: Into<u16>>(
        &mut self,
        trace: &mut T,
        sites: ReturnSites<S>,
        id: Loaded<u32>,
        more: bool,
    ) -> bool {
        let target = self.buffer.address + (self.filled * 4) as u64;
        trace.store(sites.store, target, 4, 1, id.token.after(0));
        self.buffer.room[self.filled] = id.value;
        self.filled += 1;
        self.returned += 1;
        let done = self.returned == self.wanted;
        let full = self.filled == self.buffer.room.len();
        trace.work(NEXT_PAIR);
        trace.branch(sites.again, more && !done && !full, Dep::NONE);
        if full {
            // The scan returns to its caller, who takes the tupleIDs and calls again.
            trace.work(CALL + FULL_TEST);
            (self.buffer.take)(self.buffer.room);
            self.filled = 0;
        }
        done
    }

    /// Hands over what is left.
    pub(crate) fn end(self) {
        (self.buffer.take)(&self.buffer.room[..self.filled]);
    }
}
