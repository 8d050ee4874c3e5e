//! A line as a cache holds it.

use crate::clock;

/// No line: larger than any line number, because lines are at least two bytes.
const EMPTY: u64 = u64::MAX;

/// Bits of `state`: one for dirty, three for the level that serves the fill, one for lines of non-temporal prefetches, six for the
/// place among [`Journeys`](crate::journeys::Journeys), the cycle from which the data can be used, and on top one
/// for a line that a prefetch of the program's brought and no load or store has come for, and one for a line that a hardware
/// prefetcher brought and nobody has used.
const DIRTY: u64 = 1;
const SOURCE_SHIFT: u32 = 1;
const STREAMS: u64 = 1 << 4;
const JOURNEY_SHIFT: u32 = 5;
const JOURNEY_BITS: u32 = 6;
const READY_SHIFT: u32 = JOURNEY_SHIFT + JOURNEY_BITS;
const TOP_BITS: u32 = 2;
const EXPECTED: u64 = 1 << 62;
const UNUSED: u64 = 1 << 63;
/// Numbers of requests under way follow the last cycle of a run.
const _: () = assert!(clock::END.ilog2() < u64::BITS - TOP_BITS - READY_SHIFT);

/// Places among [`Journeys`](crate::journeys::Journeys) that a line can name.
pub(crate) const JOURNEYS: usize = 1 << JOURNEY_BITS;

/// A line held by a cache. While `ready` is in the future the line is still on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: u64,
    state: u64,
}

impl Line {
    /// No line.
    pub(crate) const NONE: Self = Self {
        number: EMPTY,
        state: 0,
    };

    pub(crate) fn new(number: u64, ready: u64, source: usize) -> Self {
        Self {
            number,
            state: (ready << READY_SHIFT) | ((source as u64) << SOURCE_SHIFT),
        }
    }

    pub(crate) fn is_none(self) -> bool {
        self.number == EMPTY
    }

    /// Whether the data can be used at `cycle` and no prefetch waits to hear of the line's first use.
    #[inline(always)]
    pub(crate) fn is_settled(self, cycle: u64) -> bool {
        // A line that was prefetched and not used looks like one that comes at the end of time.
        self.state >> READY_SHIFT <= cycle
    }

    /// Cycle from which the line's data can be used.
    pub(crate) fn ready(self) -> u64 {
        // The host shifts quicker than it makes the mask.
        self.state << TOP_BITS >> (TOP_BITS + READY_SHIFT)
    }

    /// Sets the cycle from which the line's data can be used, when it becomes known.
    pub(crate) fn set_ready(&mut self, ready: u64) {
        let others = self.state & (EXPECTED | UNUSED | ((1 << READY_SHIFT) - 1));
        self.state = (ready << READY_SHIFT) | others;
    }

    /// Where it is told when the line was asked for; 0 if nobody needs to know.
    pub(crate) fn journey(self) -> usize {
        (self.state >> JOURNEY_SHIFT) as usize % JOURNEYS
    }

    /// Sets where it is told when the line was asked for. There are [`JOURNEYS`] such places.
    pub(crate) fn set_journey(&mut self, journey: usize) {
        self.state &= !((JOURNEYS as u64 - 1) << JOURNEY_SHIFT);
        self.state |= (journey as u64) << JOURNEY_SHIFT;
    }

    /// Level that serves, or served, the fill.
    pub(crate) fn source(self) -> usize {
        ((self.state >> SOURCE_SHIFT) & 7) as usize
    }

    pub(crate) fn is_dirty(self) -> bool {
        self.state & DIRTY != 0
    }

    /// Marks the line as different from what the levels below hold.
    #[inline]
    pub(crate) fn make_dirty(&mut self) {
        self.state |= DIRTY;
    }

    /// Marks the line as what the levels below hold.
    pub(crate) fn make_clean(&mut self) {
        self.state &= !DIRTY;
    }

    /// Whether a non-temporal prefetch brought the line: it stays out of the levels behind the first.
    pub(crate) fn streams(self) -> bool {
        self.state & STREAMS != 0
    }

    /// Marks the line as brought by a non-temporal prefetch.
    pub(crate) fn make_streaming(&mut self) {
        self.state |= STREAMS;
    }

    /// Whether a hardware prefetcher brought the line and nobody has used it.
    pub(crate) fn is_unused(self) -> bool {
        self.state & UNUSED != 0
    }

    /// Marks the line as brought by a hardware prefetcher.
    pub(crate) fn make_unused(&mut self) {
        self.state |= UNUSED;
    }

    /// Whether a prefetch of the program's brought the line and no load or store has come for it.
    pub(crate) fn is_expected(self) -> bool {
        self.state & EXPECTED != 0
    }

    /// Marks the line as brought by a prefetch of the program's.
    pub(crate) fn make_expected(&mut self) {
        self.state |= EXPECTED;
    }

    /// A load or a store comes for the line: says whether that is the first since a prefetch of the program's brought it.
    #[inline]
    pub(crate) fn make_awaited(&mut self) -> bool {
        let first = self.is_expected();
        self.state &= !EXPECTED;
        first
    }

    /// Whether the data can be used at `cycle` and a prefetch of the program's is all that waits to hear of the line's first use, which
    /// this is if it is a load or a store.
    #[inline(never)]
    pub(crate) fn settles_expected(&mut self, cycle: u64, is_use: bool) -> bool {
        let mut used = *self;
        used.make_awaited();
        let settles = used.is_settled(cycle);
        if settles && is_use {
            *self = used;
        }
        settles
    }

    /// Marks the line as used and says whether that is its first use since a hardware prefetcher brought it.
    pub(crate) fn make_used(&mut self) -> bool {
        let first = self.is_unused();
        self.state &= !UNUSED;
        first
    }
}
