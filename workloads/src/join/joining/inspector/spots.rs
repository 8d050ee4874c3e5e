//! Where the probe tuples that have passed lie, and their slots.

use crate::join::joining::spec::JoinWorkload;
use crate::join::limits::WORD;
use crate::join::pages::HEADER_BYTES;

/// Bytes of a slot without sub-partitions.
pub(super) const FIXED_BYTES: u32 = 7;
/// Those that one load brings: of a slot with one sub-partition, all.
pub(super) const FIRST_BYTES: u32 = 8;

/// Cycles from the number of a slot's sub-partitions to where the next slot ends: one that rounds it, and one that goes on by it.
pub(super) const NEXT_SLOT: u8 = 2;

/// Bytes of a slot of so many sub-partitions.
pub(super) fn slot_bytes(sub_partitions: usize) -> u32 {
    (FIXED_BYTES + sub_partitions as u32).next_multiple_of(WORD)
}

/// Where a tuple and its slot lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) page: u64,
    /// Which of the page's tuples it is.
    pub(super) number: u32,
    /// In the page: where the tuple begins and ends, and where its slot does.
    pub(super) tuple: u32,
    pub(super) tuple_end: u32,
    pub(super) slot: u32,
    pub(super) slot_end: u32,
}

/// What of a page is free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    page: u64,
    tuples: u32,
    from: u32,
    until: u32,
}

impl Room {
    /// All of a page.
    pub(super) fn of_page(workload: &JoinWorkload, page: u64) -> Self {
        Self {
            page,
            tuples: 0,
            from: HEADER_BYTES,
            until: workload.page_bytes,
        }
    }

    /// Takes what a tuple of so many bytes and sub-partitions needs, on the next page if this one is full.
    pub(super) fn take(
        &mut self,
        workload: &JoinWorkload,
        tuple_bytes: u32,
        sub_partitions: usize,
    ) -> Spot {
        let slot_bytes = slot_bytes(sub_partitions);
        if self.from + tuple_bytes + slot_bytes > self.until {
            *self = Self::of_page(workload, self.page + 1);
        }
        let spot = Spot {
            page: self.page,
            number: self.tuples,
            tuple: self.from,
            tuple_end: self.from + tuple_bytes,
            slot: self.until - slot_bytes,
            slot_end: self.until,
        };
        self.tuples += 1;
        self.from = spot.tuple_end;
        self.until = spot.slot;
        spot
    }
}
