//! Which segment does an address belong to?

use traces::Segment;

/// Addresses of one segment, or of the space between two.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: u64,
    /// Of them; the last address of all is in no range that has all the others.
    bytes: u64,
    /// Number of the segment, as [`SegmentFinder::enter`] gives it.
    segment: usize,
}

impl Range {
    /// Holds no address.
    const NONE: Self = Self {
        first: 0,
        bytes: 0,
        segment: 0,
    };

    #[inline]
    fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.first) < self.bytes
    }
}

/// Finds the segments of a program's addresses, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct SegmentFinder {
    segments: Vec<Segment>,
    /// The two ranges touched last: programs alternate between two structures.
    recent: [Range; 2],
    current: usize,
}

impl SegmentFinder {
    /// Segments are ascending and do not overlap.
    pub(crate) fn new(segments: &[Segment]) -> Self {
        Self {
            segments: segments.to_vec(),
            recent: [Range::NONE; 2],
            current: 0,
        }
    }

    /// How many numbers [`SegmentFinder::enter`] gives and [`SegmentFinder::name`] takes.
    pub(crate) fn places(&self) -> usize {
        self.segments.len() + 2
    }

    /// Number of "no segment touched yet".
    pub(crate) fn untouched(&self) -> usize {
        self.segments.len()
    }

    /// Name of a number, as results show it.
    pub(crate) fn name(&self, number: usize) -> &str {
        match number.checked_sub(self.segments.len()) {
            None => &self.segments[number].name,
            Some(0) => "(none)",
            Some(_) => "(elsewhere)",
        }
    }

    /// Number of the segment of `address`, unless it is that of the address before.
    #[inline(always)]
    pub(crate) fn enter(&mut self, address: u64) -> Option<usize> {
        if self.recent[self.current % 2].holds(address) {
            return None;
        }
        self.current ^= 1;
        if !self.recent[self.current % 2].holds(address) {
            self.recent[self.current % 2] = self.find(address);
        }
        Some(self.recent[self.current % 2].segment)
    }

    /// The largest range around `address` that lies in one segment, or in none.
    #[inline(never)]
    fn find(&self, address: u64) -> Range {
        let after = self.segments.partition_point(|s| s.base <= address);
        let gap_end = self.segments.get(after).map_or(u64::MAX, |s| s.base - 1);
        let gap = |first| Range {
            first,
            bytes: (gap_end - first).saturating_add(1),
            segment: self.segments.len() + 1,
        };
        let Some(before) = after.checked_sub(1) else {
            return gap(0);
        };
        let Segment {
            base, size_bytes, ..
        } = self.segments[before];
        if address - base >= size_bytes {
            return gap(base + size_bytes);
        }
        Range {
            first: base,
            bytes: size_bytes,
            segment: before,
        }
    }
}
