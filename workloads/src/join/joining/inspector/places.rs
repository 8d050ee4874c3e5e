//! Where the arrays of pointers lie: each thread has room for those of one partition.

use super::filters::Passed;
use crate::arena::Reservation;
use crate::join::joining::spec::JoinWorkload;
use crate::join::limits::WORD;

/// Bytes of an entry, a pointer and a hash code, and of where an array ends.
pub(super) const ENTRY_BYTES: u64 = 2 * WORD as u64;
pub(super) const END_BYTES: u64 = WORD as u64;

/// Names of the segments.
const ENDS: &str = "array ends";
const ENTRIES: &str = "pointer arrays";

/// Lines of an array of so many entries; no line is of two arrays.
pub(super) fn lines(entries: u64, line_bytes: u64) -> u64 {
    (entries * ENTRY_BYTES).div_ceil(line_bytes)
}

/// Where a thread's table of ends and its arrays begin, and the most that there is in them.
#[derive(Clone, Copy, Debug)]
pub(in crate::join::joining) struct ArrayPlaces {
    pub(super) ends: u64,
    pub(super) entries: u64,
    pub(super) sub_partitions: u64,
    pub(super) lines: u64,
}

/// The sizes of all threads' arrays.
#[derive(Clone, Debug)]
pub(in crate::join::joining) struct ArraySizes {
    line_bytes: u64,
    /// By thread: sub-partitions, and lines of their arrays.
    most: Vec<(u64, u64)>,
}

impl ArraySizes {
    /// For what has passed of each partition.
    pub(in crate::join::joining) fn new(workload: &JoinWorkload, passed: &[Passed]) -> Self {
        let line_bytes = u64::from(workload.line_bytes);
        let of_thread = |thread| {
            let own = workload.partitions_of(thread);
            let own = &passed[own.start as usize..own.end as usize];
            let sub_partitions = own.iter().map(|one| one.tuples.len() as u64);
            let all = |one: &Passed| {
                let tuples = one.tuples.iter();
                tuples.map(|&tuples| lines(tuples, line_bytes)).sum()
            };
            (
                sub_partitions.max().unwrap_or(0),
                own.iter().map(all).max().unwrap_or(0),
            )
        };
        Self {
            line_bytes,
            most: (0..workload.threads).map(of_thread).collect(),
        }
    }

    /// Segments for the ends and the arrays, which begin with a line.
    pub(in crate::join::joining) fn reservations(&self) -> [Reservation; 2] {
        let sum = |of: fn(&(u64, u64)) -> u64| self.most.iter().map(of).sum();
        let ends = self.most.iter().map(|&(ends, _)| self.lines_of_ends(ends));
        [
            Reservation::of(ENDS, self.line_bytes, ends.sum()),
            Reservation::of(ENTRIES, self.line_bytes, sum(|&(_, lines)| lines)),
        ]
    }

    fn lines_of_ends(&self, ends: u64) -> u64 {
        (ends * END_BYTES).div_ceil(self.line_bytes)
    }

    /// Where those of each thread lie, from the beginnings of the segments on.
    pub(in crate::join::joining) fn places(&self, [ends, entries]: [u64; 2]) -> Vec<ArrayPlaces> {
        let mut next = (ends, entries);
        let places = self.most.iter().map(|&(sub_partitions, lines)| {
            let here = ArrayPlaces {
                ends: next.0,
                entries: next.1,
                sub_partitions,
                lines,
            };
            next.0 += self.lines_of_ends(sub_partitions) * self.line_bytes;
            next.1 += lines * self.line_bytes;
            here
        });
        places.collect()
    }
}
