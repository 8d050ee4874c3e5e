//! What a scan does with an entry: compares its key with the range's end and copies its tupleID into the return buffer.

use super::Site;
use super::key::Key;
use crate::place::Loaded;
use crate::pool::Pool;
use crate::tracer::{Dep, Trace};
use crate::tree::scan::{BufferCursor, COMPARE_END, FULL_TEST, NEXT_PAIR};
use crate::tree::search::CALL;
use crate::tree::{ReturnBuffer, ScanRange};

/// The entries that a scan wants, and where their tupleIDs go.
pub(crate) struct Taker<'b, K> {
    range: ScanRange<K>,
    buffer: ReturnBuffer<'b, u32>,
    ahead: BufferCursor,
    filled: usize,
    returned: usize,
}

impl<'b, K: Key> Taker<'b, K> {
    pub(super) fn new(range: ScanRange<K>, buffer: ReturnBuffer<'b, u32>) -> Self {
        Self {
            ahead: BufferCursor::new(&buffer, range.tuples),
            range,
            buffer,
            filled: 0,
            returned: 0,
        }
    }

    /// Whether a key lies behind the range.
    #[inline]
    pub(super) fn is_beyond<T: Trace>(&self, trace: &mut T, key: Loaded<K>) -> bool {
        let beyond = key.value > self.range.end;
        trace.work(COMPARE_END);
        trace.branch(Site::ScanEnd, beyond, key.token.after(COMPARE_END as u8));
        beyond
    }

    /// Takes a tupleID, behind which the page or node has `more`; whether the scan has all that it wants.
    #[inline]
    pub(super) fn take<T: Trace>(&mut self, trace: &mut T, id: Loaded<u32>, more: bool) -> bool {
        let target = self.buffer.address + (self.filled * 4) as u64;
        trace.store(Site::ScanReturn, target, 4, 1, id.token.after(0));
        self.buffer.room[self.filled] = id.value;
        self.filled += 1;
        self.returned += 1;
        let done = self.returned == self.range.tuples;
        let full = self.filled == self.buffer.room.len();
        trace.work(NEXT_PAIR);
        trace.branch(Site::ScanLoop, more && !done && !full, Dep::NONE);
        if full {
            // The scan returns to its caller, who takes the tupleIDs and calls again.
            trace.work(CALL + FULL_TEST);
            (self.buffer.take)(self.buffer.room);
            self.filled = 0;
        }
        done
    }

    /// Prefetches the part of the return buffer that so many tupleIDs more need.
    pub(super) fn prefetch<T: Trace>(
        &mut self,
        trace: &mut T,
        pool: &Pool,
        tuples: usize,
        line_bytes: u32,
    ) {
        let sites = (Site::BufferRoom, Site::BufferPrefetch);
        self.ahead
            .prefetch(trace, pool.memory(), sites, (tuples * 4) as u64, line_bytes);
    }

    /// Hands over what is left.
    pub(super) fn end(self) {
        (self.buffer.take)(&self.buffer.room[..self.filled]);
    }
}
