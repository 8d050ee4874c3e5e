//! Range scans: copy the tupleIDs of a key range into a return buffer, leaf by leaf (thesis section 2.3).

use super::jump_pointers::JumpCursor;
use super::layout::{KEYNUM, KEYS};
use super::search::CALL;
use super::{Pointer, Site, Tree};
use crate::arena::Arena;
use crate::tracer::{Dep, Trace};
use crate::word::Word;

/// Per leaf: room left in the buffer (subtract), the smaller of it and the leaf's pairs (compare, move), address
/// of the first key (shift, add), first test of the pair loop (compare).
pub(crate) const LEAF: u32 = 6;
/// Comparing a key with the end key.
pub(crate) const COMPARE_END: u32 = 1;
/// Bumping index, key address and buffer address (the tupleID is at a constant distance from its key), and
/// comparing the index with its end.
pub(crate) const NEXT_PAIR: u32 = 4;
/// Comparing the prefetched end of the return buffer with its real end.
const BUFFER_TEST: u32 = 1;
/// Bumping the prefetched end of the return buffer, which starts again at its beginning (add, mask).
const BUFFER_BUMP: u32 = 2;
/// Comparing the tupleIDs in the buffer with its room.
pub(crate) const FULL_TEST: u32 = 1;

/// What to scan.
#[derive(Clone, Copy, Debug)]
pub struct ScanRange<W> {
    /// First key wanted; the tree need not have it.
    pub start: W,
    /// Last key wanted.
    pub end: W,
    /// TupleIDs wanted; the scan stops when it has returned so many.
    pub tuples: usize,
}

/// Where the tupleIDs go. When it is full the scan pauses, the caller takes them, and the scan goes on with the empty
/// buffer.
pub struct ReturnBuffer<'b, W> {
    /// Simulated address of the first tupleID.
    pub address: u64,
    /// The tupleIDs the buffer has room for.
    pub room: &'b mut [W],
    /// The caller: takes what is in the buffer, when it is full and at the end of the scan.
    pub take: &'b mut dyn FnMut(&[W]),
}

/// How far the return buffer is prefetched: leaves are taken to be full, so that it is always far enough.
pub(crate) struct BufferCursor {
    address: u64,
    /// Bytes of the buffer, and of all tupleIDs that will go through it.
    capacity: u64,
    end: u64,
    /// Bytes prefetched so far.
    next: u64,
}

impl BufferCursor {
    /// At the start of a buffer, which `tuples` go through.
    pub(crate) fn new<W: Word>(buffer: &ReturnBuffer<'_, W>, tuples: usize) -> Self {
        Self {
            address: buffer.address,
            capacity: (buffer.room.len() * W::BYTES) as u64,
            end: (tuples * W::BYTES) as u64,
            next: 0,
        }
    }

    /// Prefetches what `bytes` more of tupleIDs need, unrolled; each prefetch takes so many plain instructions besides itself.
    pub(crate) fn prefetch<T: Trace, S: Into<u16> + Copy>(
        &mut self,
        trace: &mut T,
        memory: &Arena,
        (room, line): (S, S),
        (bytes, line_bytes): (u64, u32),
        instructions: u32,
    ) {
        trace.work(BUFFER_TEST);
        trace.branch(room, self.next < self.end, Dep::NONE);
        if self.next < self.end {
            let first = self.address + self.next % self.capacity;
            for number in 0..bytes.div_ceil(u64::from(line_bytes)) {
                trace.work(instructions);
                memory.prefetch(
                    trace,
                    line,
                    first + number * u64::from(line_bytes),
                    Dep::NONE,
                );
            }
            trace.work(BUFFER_BUMP);
            self.next += bytes;
        }
    }
}

impl<W: Word> Tree<W> {
    /// Copies the tupleIDs of the keys in `range` into `buffer`.
    ///
    /// Not `&self` because a scan corrects an inexact hint that it comes across.
    pub fn scan<T: Trace>(
        &mut self,
        trace: &mut T,
        range: ScanRange<W>,
        buffer: ReturnBuffer<'_, W>,
    ) {
        trace.work(CALL);
        let mut parent = None;
        let mut leaf = self.descend(trace, range.start, |_, level, position| {
            if level == 1 {
                parent = Some(position);
            }
        });
        let mut slot = self.upper_bound(trace, 0, leaf, range.start);
        if self.holds(trace, leaf, slot, range.start) {
            slot -= 1;
        }
        let mut ahead = BufferCursor::new(&buffer, range.tuples);
        let mut jumps = if self.prefetching.nodes {
            self.start_jumps(trace, leaf, parent)
        } else {
            None
        };
        self.prefetch_buffer(trace, &mut ahead);
        if let Some(cursor) = &mut jumps {
            self.prefetch_node(trace, leaf);
            for _ in 1..self.prefetching.distance_nodes {
                self.prefetch_ahead(trace, cursor, &mut ahead);
            }
        }
        let layout = self.layouts[0];
        let ReturnBuffer {
            address: target,
            room: buffer,
            take,
        } = buffer;
        // TupleIDs in the buffer, all returned so far, and how many may still come before the scan pauses or ends.
        let (mut filled, mut returned) = (0, 0);
        let capacity = buffer.len();
        let room =
            |filled: usize, returned: usize| (capacity - filled).min(range.tuples - returned);
        'leaves: loop {
            if let Some(cursor) = &mut jumps {
                self.prefetch_ahead(trace, cursor, &mut ahead);
            }
            let (count, token) = self.load(trace, Site::KeyCount, 0, leaf, KEYNUM, 0);
            let count = count.to_u64() as usize;
            trace.work(LEAF);
            let mut stop = count.min(slot + room(filled, returned));
            trace.branch(Site::ScanPairLoop, slot < stop, token.after(2));
            while slot < stop {
                let (key, key_token) = self.load(trace, Site::ScanKey, 0, leaf, KEYS + slot, 1);
                trace.work(COMPARE_END);
                trace.branch(
                    Site::ScanEnd,
                    key > range.end,
                    key_token.after(COMPARE_END as u8),
                );
                if key > range.end {
                    break 'leaves;
                }
                let (tuple, token) =
                    self.load(trace, Site::ScanTuple, 0, leaf, layout.values + slot, 1);
                let target = Self::at(target, filled);
                trace.store(Site::ScanReturn, target, W::BYTES as u16, 1, token.after(0));
                buffer[filled] = tuple;
                filled += 1;
                returned += 1;
                slot += 1;
                trace.work(NEXT_PAIR);
                trace.branch(Site::ScanPairLoop, slot < stop, Dep::NONE);
                if filled == capacity {
                    // The scan returns to its caller, who takes the tupleIDs and calls again.
                    trace.work(CALL);
                    take(buffer);
                    filled = 0;
                    stop = count.min(slot + room(filled, returned));
                }
            }
            trace.work(FULL_TEST);
            let emptied = filled == 0 && returned > 0;
            trace.branch(Site::BufferFull, emptied, Dep::NONE);
            if returned == range.tuples {
                break;
            }
            let (next, token) = self.load(trace, Site::ScanNext, 0, leaf, layout.next, 0);
            leaf = Pointer::loaded(next, token);
            trace.branch(Site::ScanLeafLoop, leaf.address != 0, leaf.dep);
            if leaf.address == 0 {
                break;
            }
            slot = 0;
            if jumps.is_none() {
                self.prefetch_node(trace, leaf);
                self.prefetch_buffer(trace, &mut ahead);
            }
        }
        take(&buffer[..filled]);
    }

    /// Prefetches the next leaf of the jump pointers and the part of the return buffer it may fill.
    fn prefetch_ahead<T: Trace>(
        &self,
        trace: &mut T,
        cursor: &mut JumpCursor,
        ahead: &mut BufferCursor,
    ) {
        if let Some(leaf) = self.next_jump(trace, cursor) {
            self.prefetch_node(trace, leaf);
            self.prefetch_buffer(trace, ahead);
        }
    }

    /// Prefetches the part of the return buffer that one more full leaf needs, unrolled.
    fn prefetch_buffer<T: Trace>(&self, trace: &mut T, ahead: &mut BufferCursor) {
        if !self.prefetching.nodes {
            return;
        }
        let bytes = (self.layouts[0].max_keys * W::BYTES) as u64;
        ahead.prefetch(
            trace,
            &self.arena,
            (Site::BufferRoom, Site::BufferPrefetch),
            (bytes, self.shape.line_bytes),
            self.prefetching.instructions,
        );
    }
}
