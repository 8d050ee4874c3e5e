//! Pages of relations, of partitions and of joins' output: tuples from the front, slots from the end.
//!
//! A slot of a partition's page holds the tuple's hash code beside its place and length, so that nobody hashes a key twice (thesis
//! section 4.7.1); other slots hold place and length only. Inspector joins do without the length: two slots lie together, first both
//! hash codes, then both places, so that hash codes are aligned (section 5.4.4). The header begins with the number of tuples. If tuples have
//! lengths of their own it says, too, where they end.

use super::lengths::Lengths;
use super::limits::WORD;

/// Bytes of a page's header.
pub(super) const HEADER_BYTES: u32 = 32;
/// Bytes of a slot with and without a hash code.
pub(super) const HASHED_SLOT: u32 = 8;
pub(super) const PLAIN_SLOT: u32 = 4;
/// Bytes of a slot of a hash code and a place, two of which lie together.
pub(super) const PAIRED_SLOT: u32 = 6;
/// Words of a page's header, behind the number of tuples: who is still to be copied, where slots of several lengths begin, and where tuples
/// of several lengths end.
pub(super) const HOLDER: usize = 1;
pub(super) const SLOTS_FROM: usize = 2;
pub(super) const TUPLES_UNTIL: usize = 3;

/// Where everything lies in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageFormat {
    pub(super) page_bytes: u32,
    /// Of all tuples, or of the longest.
    pub(super) tuple_bytes: u32,
    /// Of the shortest tuple, if lengths differ.
    pub(super) shortest_bytes: Option<u32>,
    pub(super) slot_bytes: u32,
}

impl PageFormat {
    /// Of tuples of these lengths.
    pub(super) fn new(page_bytes: u32, lengths: Lengths, slot_bytes: u32) -> Self {
        Self {
            page_bytes,
            tuple_bytes: lengths.longest(),
            shortest_bytes: lengths.shortest(),
            slot_bytes,
        }
    }

    /// The same of tuples of one length.
    pub(super) fn of_length(self, bytes: u32) -> Self {
        Self {
            tuple_bytes: bytes,
            shortest_bytes: None,
            ..self
        }
    }

    /// Whether tuples have lengths of their own.
    pub(super) fn varies(self) -> bool {
        self.shortest_bytes.is_some()
    }

    /// Whether slots hold hash codes.
    pub(super) fn holds_codes(self) -> bool {
        self.slot_bytes != PLAIN_SLOT
    }

    /// Whether two slots lie together.
    pub(super) fn pairs_slots(self) -> bool {
        self.slot_bytes == PAIRED_SLOT
    }

    /// Tuples that a page holds; if lengths differ, it holds as many at least.
    pub(super) fn tuples(self) -> u32 {
        let most = (self.page_bytes - HEADER_BYTES) / (self.tuple_bytes + self.slot_bytes);
        // The last slot of an odd number takes as much as two.
        let fits = most == 0 || self.tuple(most) <= self.slot(most - 1);
        most - u32::from(!fits)
    }

    /// Tuples of a length that go into a page behind `tuples` others, which end at a place.
    pub(super) fn more_tuples(self, tuples: u32, until: u32, bytes: u32) -> u32 {
        self.slot(tuples).checked_sub(until).map_or(0, |room| {
            (room + self.slot_bytes) / (bytes + self.slot_bytes)
        })
    }

    /// Pages that so many tuples take, at most if lengths differ.
    pub(super) fn pages(self, tuples: u64) -> u64 {
        tuples.div_ceil(self.tuples().into())
    }

    /// Where tuple number `number` of a page lies in it, if all have one length.
    pub(super) fn tuple(self, number: u32) -> u32 {
        HEADER_BYTES + number * self.tuple_bytes
    }

    /// Where its slot lies, or both of a pair.
    pub(super) fn slot(self, number: u32) -> u32 {
        let slots = if self.pairs_slots() {
            (number / 2 + 1) * 2
        } else {
            number + 1
        };
        self.page_bytes - slots * self.slot_bytes
    }

    /// Where the hash code is in a slot that has one, and the place of the tuple in any.
    pub(super) fn code_and_place(self, number: u32) -> (u32, u32) {
        let slot = self.slot(number);
        if self.pairs_slots() {
            let second = number % 2;
            return (slot + second * WORD, slot + 2 * WORD + second * WORD / 2);
        }
        (slot, slot + self.slot_bytes - WORD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tuple_bytes: u32, slot_bytes: u32) -> PageFormat {
        PageFormat::new(8192, Lengths::Fixed(tuple_bytes), slot_bytes)
    }

    #[test]
    fn slots_end_where_tuples_begin() {
        for slot_bytes in [PLAIN_SLOT, HASHED_SLOT, PAIRED_SLOT] {
            for tuple_bytes in (8..=1024).step_by(4) {
                let format = of(tuple_bytes, slot_bytes);
                let tuples = format.tuples();
                assert!(format.tuple(tuples) <= format.slot(tuples - 1));
                assert!(format.tuple(tuples + 1) > format.slot(tuples));
            }
        }
    }

    /// Two hash codes, then two places, from the end of the page down.
    #[test]
    fn paired_slots_hold_both_hash_codes_and_then_both_places() {
        let format = of(100, PAIRED_SLOT);
        let places = [0, 1, 2, 3].map(|number| format.code_and_place(number));
        assert_eq!(
            places,
            [(8180, 8188), (8184, 8190), (8168, 8176), (8172, 8178)]
        );
        assert_eq!(of(100, HASHED_SLOT).code_and_place(1), (8176, 8180));
    }
}
