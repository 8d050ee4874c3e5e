//! Pages of relations, of partitions and of joins' output: tuples from the front, slots from the end.
//!
//! A slot of a partition's page holds the tuple's hash code beside its place and length, so that nobody hashes a key twice (thesis
//! section 4.7.1); other slots hold place and length only. The header begins with the number of tuples.

use crate::word::Word;

/// Bytes of a word: a key, a hash code, a pointer.
pub(super) const WORD: u32 = u32::BYTES as u32;
/// Bytes of a page's header.
pub(super) const HEADER_BYTES: u32 = 32;
/// Bytes of a slot with and without a hash code.
pub(super) const HASHED_SLOT: u32 = 8;
pub(super) const PLAIN_SLOT: u32 = 4;

/// Where everything lies in a page of tuples of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageFormat {
    pub(super) page_bytes: u32,
    pub(super) tuple_bytes: u32,
    pub(super) slot_bytes: u32,
}

impl PageFormat {
    /// Whether slots hold hash codes.
    pub(super) fn holds_codes(self) -> bool {
        self.slot_bytes == HASHED_SLOT
    }

    /// Tuples that a page holds.
    pub(super) fn tuples(self) -> u32 {
        (self.page_bytes - HEADER_BYTES) / (self.tuple_bytes + self.slot_bytes)
    }

    /// Pages that so many tuples take.
    pub(super) fn pages(self, tuples: u64) -> u64 {
        tuples.div_ceil(self.tuples().into())
    }

    /// Where tuple number `number` of a page lies in it.
    pub(super) fn tuple(self, number: u32) -> u32 {
        HEADER_BYTES + number * self.tuple_bytes
    }

    /// Where its slot lies.
    pub(super) fn slot(self, number: u32) -> u32 {
        self.page_bytes - (number + 1) * self.slot_bytes
    }
}
