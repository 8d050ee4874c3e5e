//! Relations on storage: where their pages lie, how far ahead a scan asks for them, and where new pages go.

use crate::bounds::Between;
use crate::tracer::Trace;
use std::ops::Range;

/// Bytes of an extent: relations are striped over disks in units of as many (thesis section 4.7.2).
const EXTENT_BYTES: u64 = 256 << 10;

/// Pages asked for ahead; none: relations are in memory.
pub(super) const PAGES_ASKED_AHEAD: Between<u32> = Between {
    least: 0,
    most: 1 << 20,
};

/// Where the pages of a relation lie, one behind the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    pub(super) first: u64,
    /// Pages that are asked for before the one that is read.
    pub(super) ahead: u64,
}

/// How far a scan has come with asking for the pages of its relation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked(u64);

impl Asked {
    /// Nothing yet.
    pub(super) fn nothing() -> Self {
        Self(0)
    }

    /// Reads page `page` of a relation of `pages` pages into its frame, and asks for those behind it. The first page of all is asked for before
    /// those: disks serve who comes first.
    pub(super) fn read<T: Trace>(
        &mut self,
        trace: &mut T,
        from: Stored,
        (page, frame): (u64, Range<u64>),
        pages: u64,
    ) {
        let until = (page + 1 + from.ahead).min(pages);
        if until > page + 1 {
            (self.0.max(page)..until).for_each(|next| trace.page_prefetch(from.first + next));
        }
        self.0 = until;
        trace.page_read(from.first + page, frame);
    }
}

/// Where partitions go: each takes an extent, and another one when that is full. Extents follow each other.
#[derive(Clone, Debug)]
pub(super) struct Extents {
    pages: u64,
    next: u64,
    /// By partition: the place of its next page, and the end of its extent.
    open: Vec<(u64, u64)>,
}

impl Extents {
    /// Extents from page `first` on.
    pub(super) fn new(first: u64, page_bytes: u32, partitions: u32) -> Self {
        Self {
            pages: EXTENT_BYTES / u64::from(page_bytes),
            next: first,
            open: vec![(0, 0); partitions as usize],
        }
    }

    /// Pages from the first to the end of the last extent, if partitions fill so many pages at most.
    pub(super) fn most(page_bytes: u32, partitions: u32, pages: u64) -> u64 {
        pages + u64::from(partitions) * (EXTENT_BYTES / u64::from(page_bytes))
    }

    /// Where the next page of a partition goes.
    pub(super) fn place(&mut self, partition: u32) -> u64 {
        let (place, end) = &mut self.open[partition as usize];
        if place == end {
            (*place, *end) = (self.next, self.next + self.pages);
            self.next = *end;
        }
        *place += 1;
        *place - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_fills_its_extent_before_it_takes_another_one() {
        let mut extents = Extents::new(100, 32 << 10, 2);
        let mut places = |partition: u32, pages: usize| -> Vec<u64> {
            (0..pages).map(|_| extents.place(partition)).collect()
        };
        assert_eq!(places(1, 3), [100, 101, 102]);
        assert_eq!(places(0, 9), [108, 109, 110, 111, 112, 113, 114, 115, 116]);
        assert_eq!(places(1, 6), [103, 104, 105, 106, 107, 124]);
    }
}
