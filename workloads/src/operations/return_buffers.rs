//! The buffers that scans return tupleIDs in.

use crate::arena::{PAGE_BYTES, Reservation, place_behind};
use crate::word::Word;
use traces::Segment;

/// Most addresses that return buffers take. A run that needs more reuses them in turn: by then they are as cold
/// as new ones, for this is many times what caches and TLBs reach.
const MOST_BYTES: u64 = 256 << 20;

/// The buffers that scans want.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffers {
    /// Bytes of each.
    pub bytes: u64,
    /// Buffers, one for each scan as a rule; none if nothing is scanned.
    pub number: u64,
}

impl Buffers {
    /// One for all scans.
    pub(crate) fn reused(self) -> Self {
        Self {
            number: self.number.min(1),
            ..self
        }
    }

    /// Bytes from the start of one buffer to the next: each starts at a page of its own.
    fn stride(self) -> u64 {
        self.bytes.next_multiple_of(PAGE_BYTES)
    }

    /// Their address range, if there are any.
    pub(crate) fn reservation(self) -> Option<Reservation> {
        (self.number > 0).then(|| Reservation {
            name: "return buffer".into(),
            object_bytes: self.stride(),
            objects: self.number.min((MOST_BYTES / self.stride()).max(1)),
        })
    }

    /// Bytes of the host's memory in which so many threads have theirs: for each, one stands for all.
    pub(crate) fn memory_bytes(self, threads: u32) -> u64 {
        let each = if self.number > 0 { self.bytes } else { 0 };
        each * u64::from(threads)
    }

    /// The segments of an index, and behind them those of the buffers of so many threads.
    pub(crate) fn behind(self, index: &[Segment], threads: u32) -> Vec<Segment> {
        let mut segments = index.to_vec();
        for _ in 0..threads {
            segments.extend(self.segment(&segments));
        }
        segments
    }

    /// Their segment: behind those of the index, which do not depend on the operation.
    pub(crate) fn segment(self, index: &[Segment]) -> Option<Segment> {
        Some(place_behind(index, &self.reservation()?))
    }
}

/// The buffers of a run, one after the other, and from the start again after the last.
pub(crate) struct ReturnBuffers<W> {
    /// Address of the first buffer.
    base: u64,
    stride_bytes: u64,
    size_bytes: u64,
    /// Words per buffer.
    room: usize,
    /// Memory of all buffers, or of one that stands for all; its first words may be skipped to align it.
    memory: Vec<W>,
    skipped: usize,
    each_its_own: bool,
}

impl<W: Word> ReturnBuffers<W> {
    /// Buffers of a simulated run: one piece of memory stands for all, only their addresses differ.
    pub(crate) fn simulated(buffers: Buffers, index: &[Segment]) -> Self {
        let segment = buffers.segment(index).unwrap_or(Segment {
            name: String::new(),
            base: 0,
            size_bytes: 0,
        });
        let room = buffers.bytes as usize / W::BYTES;
        Self {
            base: segment.base,
            stride_bytes: buffers.stride(),
            size_bytes: segment.size_bytes,
            room,
            memory: vec![W::from_u64(0); if segment.size_bytes > 0 { room } else { 0 }],
            skipped: 0,
            each_its_own: false,
        }
    }

    /// Buffers of a native run, each with memory of its own that has been touched. Their addresses are relative to
    /// `origin`, where the index's address 0 is.
    pub(crate) fn native(buffers: Buffers, index: &[Segment], origin: *const u8) -> Self {
        let simulated = Self::simulated(buffers, index);
        let slack = PAGE_BYTES as usize / W::BYTES;
        // Any value but 0: memory of zeros may not be backed by pages of its own yet.
        let memory = vec![W::MAX; simulated.size_bytes as usize / W::BYTES + slack];
        let skipped = memory.as_ptr().align_offset(PAGE_BYTES as usize);
        let first = memory[skipped..].as_ptr().addr();
        Self {
            base: first.wrapping_sub(origin.addr()) as u64,
            memory,
            skipped,
            each_its_own: true,
            ..simulated
        }
    }

    /// Address and memory of buffer `number`.
    #[inline]
    pub(crate) fn get(&mut self, number: u64) -> (u64, &mut [W]) {
        let offset = number * self.stride_bytes % self.size_bytes;
        let start = if self.each_its_own {
            self.skipped + offset as usize / W::BYTES
        } else {
            0
        };
        (
            self.base.wrapping_add(offset),
            &mut self.memory[start..start + self.room],
        )
    }
}
