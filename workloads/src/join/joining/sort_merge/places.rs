//! Where a thread's entries to be sorted lie, and what it remembers of one key.

use super::inputs::DividedSide;
use crate::arena::Reservation;
use crate::join::joining::spec::JoinWorkload;
use crate::join::limits::WORD;

/// Bytes of an entry: a key and a pointer.
pub(super) const ENTRY_BYTES: u64 = 2 * WORD as u64;
/// Arrays of entries: of either side, and one more to merge into.
pub(super) const ARRAYS: u64 = 3;

/// Addresses of a thread, and how much there is.
#[derive(Clone, Copy, Debug)]
pub(in crate::join::joining) struct SortPlaces {
    pub(super) entries: u64,
    /// Bytes of each array of entries.
    pub(super) array_bytes: u64,
    pub(super) group: u64,
    pub(super) group_bytes: u64,
}

/// The sizes of all threads' arrays: those of the largest of a thread's partitions.
#[derive(Clone, Debug)]
pub(in crate::join::joining) struct SortSizes {
    line_bytes: u64,
    /// By thread: lines of an array of entries.
    arrays: Vec<u64>,
    /// Lines for the build tuples of one key.
    group: u64,
}

impl SortSizes {
    pub(in crate::join::joining) fn new(
        workload: &JoinWorkload,
        divided: &[[DividedSide; 2]],
    ) -> Self {
        let line_bytes = u64::from(workload.line_bytes);
        let lines = |bytes: u64| bytes.div_ceil(line_bytes);
        let of_thread = |thread| {
            let own = workload.partitions_of(thread);
            let own = &divided[own.start as usize..own.end as usize];
            let entries = own.iter().flatten().map(DividedSide::out_of_order).max();
            lines(entries.unwrap_or(0) * ENTRY_BYTES)
        };
        Self {
            line_bytes,
            arrays: (0..workload.threads).map(of_thread).collect(),
            group: lines(u64::from(workload.duplicates) * u64::from(WORD)),
        }
    }

    /// Segments of the entries, and of what is remembered.
    pub(in crate::join::joining) fn reservations(&self) -> [Reservation; 2] {
        let arrays: u64 = self.arrays.iter().sum();
        [
            Reservation::of("sorted entries", self.line_bytes, ARRAYS * arrays),
            Reservation::of(
                "tuples of a key",
                self.line_bytes,
                self.group * self.arrays.len() as u64,
            ),
        ]
    }

    /// Where those of each thread lie, from the beginnings of the segments on.
    pub(in crate::join::joining) fn places(
        &self,
        [mut entries, mut group]: [u64; 2],
    ) -> Vec<SortPlaces> {
        let places = self.arrays.iter().map(|&lines| {
            let here = SortPlaces {
                entries,
                array_bytes: lines * self.line_bytes,
                group,
                group_bytes: self.group * self.line_bytes,
            };
            entries += ARRAYS * here.array_bytes;
            group += here.group_bytes;
            here
        });
        places.collect()
    }
}
