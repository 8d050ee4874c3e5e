//! What non-temporal stores write past the caches.

use crate::spec::MachineSpec;
use crate::write_combining::{WriteCombining, beside};

/// The write-combining buffers, and what has gone to memory because of them.
#[derive(Clone, Debug)]
pub(super) struct PastCaches {
    combining: WriteCombining,
    /// By how many bits numbers of lines of the last cache are shorter than those of the first.
    longer: u32,
    stores: u64,
    lines: u64,
    /// Dirty lines that left the caches as stores began to write them.
    pub(super) write_backs: u64,
}

impl PastCaches {
    pub(super) fn new(spec: &MachineSpec) -> Self {
        let first = spec.caches[0].line_bytes;
        let last = spec.caches.last().map_or(first, |cache| cache.line_bytes);
        Self {
            combining: WriteCombining::new(spec.mshrs(), first),
            longer: (last / first).ilog2(),
            stores: 0,
            lines: 0,
            write_backs: 0,
        }
    }

    /// Writes a store's bytes of a line, and says whether it begins that line, which then leaves the caches.
    pub(super) fn write(&mut self, line: u64, bytes: u64) -> bool {
        let combined = self.combining.write(line, bytes);
        self.stores += 1;
        self.lines += u64::from(combined.displaced.is_some()) + u64::from(combined.is_full);
        combined.begins
    }

    /// Whether a buffer has some of a line.
    pub(super) fn is_combining(&self) -> bool {
        !self.combining.is_empty()
    }

    /// Sends what buffers have of a line of the last cache, a part of which is about to be fetched.
    #[inline(always)]
    pub(super) fn send_if_begun(&mut self, line: u64) {
        while !self.combining.is_empty() && self.combining.take(beside(line, self.longer)).is_some()
        {
            self.lines += 1;
        }
    }

    /// Sends what the buffers have.
    pub(super) fn send_all(&mut self) {
        while self.combining.take_oldest().is_some() {
            self.lines += 1;
        }
    }

    /// Lines, or parts of lines, that went to memory; nothing without such stores.
    pub(super) fn lines(&self) -> Option<u64> {
        (self.stores > 0).then_some(self.lines)
    }

    /// Counts from here on; buffers keep what they have.
    pub(super) fn measure(&mut self) {
        (self.lines, self.write_backs) = (0, 0);
    }

    /// Forgets what the buffers have.
    pub(super) fn clear(&mut self) {
        self.combining.clear();
    }
}
