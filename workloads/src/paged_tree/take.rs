//! What a scan does with an entry: compares its key with the range's end and copies its tupleID into the return buffer.

use super::Site;
use super::key::Key;
use crate::operations::{ReturnSites, Returning};
use crate::place::Loaded;
use crate::pool::Pool;
use crate::tracer::Trace;
use crate::tree::scan::{BufferCursor, COMPARE_END};
use crate::tree::{ReturnBuffer, ScanRange};

/// Of the return buffer.
const RETURN: ReturnSites<Site> = ReturnSites {
    store: Site::ScanReturn,
    again: Site::ScanLoop,
};

/// The entries that a scan wants, and where their tupleIDs go.
pub(crate) struct Taker<'b, K> {
    range: ScanRange<K>,
    returning: Returning<'b>,
    ahead: BufferCursor,
}

impl<'b, K: Key> Taker<'b, K> {
    pub(super) fn new(range: ScanRange<K>, buffer: ReturnBuffer<'b, u32>) -> Self {
        Self {
            ahead: BufferCursor::new(&buffer, range.tuples),
            returning: Returning::new(buffer, range.tuples),
            range,
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
        self.returning.take(trace, RETURN, id, more)
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
        let part = ((tuples * 4) as u64, line_bytes);
        let instructions = pool.program().prefetch_instructions;
        self.ahead
            .prefetch(trace, pool.memory(), sites, part, instructions);
    }

    /// Hands over what is left.
    pub(super) fn end(self) {
        self.returning.end();
    }
}
