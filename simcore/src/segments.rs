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
    /// Number of the range, in the order of addresses.
    number: usize,
}

impl Range {
    #[inline]
    fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.first) < self.bytes
    }
}

/// All addresses, cut where a segment begins or ends.
fn cut(segments: &[Segment]) -> Box<[Range]> {
    let mut ranges = Vec::with_capacity(2 * segments.len() + 1);
    let mut add = |first, bytes, segment| {
        let number = ranges.len();
        ranges.push(Range {
            first,
            bytes,
            segment,
            number,
        });
    };
    let elsewhere = segments.len() + 1;
    let mut end = 0;
    for (number, segment) in segments.iter().enumerate() {
        add(end, segment.base - end, elsewhere);
        add(segment.base, segment.size_bytes, number);
        end = segment.base + segment.size_bytes;
    }
    add(end, (u64::MAX - end).saturating_add(1), elsewhere);
    ranges.into_boxed_slice()
}

/// Finds the segments of a program's addresses, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct SegmentFinder {
    segments: Vec<Segment>,
    /// Ascending, without a gap; some are empty.
    ranges: Box<[Range]>,
    /// For each range which one came after it the last time: programs go through structures in the same order.
    successors: Box<[usize]>,
    /// The two ranges touched last: programs alternate between two structures.
    recent: [Range; 2],
    current: usize,
}

impl SegmentFinder {
    /// Segments are ascending and do not overlap.
    pub(crate) fn new(segments: &[Segment]) -> Self {
        let ranges = cut(segments);
        Self {
            segments: segments.to_vec(),
            successors: vec![0; ranges.len()].into_boxed_slice(),
            recent: [Range {
                bytes: 0,
                ..ranges[0]
            }; 2],
            ranges,
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
    fn find(&mut self, address: u64) -> Range {
        let successor = &mut self.successors[self.recent[(self.current ^ 1) % 2].number];
        if !self.ranges[*successor].holds(address) {
            let behind = self.ranges.partition_point(|range| range.first <= address);
            // The first range begins at address 0.
            *successor = behind.saturating_sub(1);
        }
        self.ranges[*successor]
    }
}
