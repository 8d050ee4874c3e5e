//! Pages of relations, of partitions and of joins' output: tuples from the front, slots from the end.
//!
//! A slot holds the place of its tuple. In a partition's page it holds the tuple's hash code, too, so that nobody hashes a key twice (thesis
//! section 4.7.1): two such slots lie together, first both hash codes, then both places, so that hash codes are aligned (section 5.4.4). If
//! tuples have lengths of their own, slots tell these as well, but for those of inspector joins. The header begins with the number of tuples.
//! If tuples have lengths of their own it says, too, where they end.

use super::lengths::Lengths;
use super::limits::WORD;

/// Bytes of a page's header.
pub(super) const HEADER_BYTES: u32 = 32;
/// Bytes of a place in a page, and of a length.
pub(super) const PLACE_BYTES: u32 = 2;
/// Words of a page's header, behind the number of tuples: who is still to be copied, where slots of several lengths begin, and where tuples
/// of several lengths end.
pub(super) const HOLDER: usize = 1;
pub(super) const SLOTS_FROM: usize = 2;
pub(super) const TUPLES_UNTIL: usize = 3;

/// What a slot holds besides the place of its tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotFormat {
    pub(super) code: bool,
    pub(super) length: bool,
}

impl SlotFormat {
    pub(super) fn bytes(self) -> u32 {
        PLACE_BYTES + u32::from(self.length) * PLACE_BYTES + u32::from(self.code) * WORD
    }

    /// Whether two slots lie together: one would leave the next one's hash code between two words.
    pub(super) fn is_paired(self) -> bool {
        self.code && !self.length
    }
}

/// Where everything lies in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageFormat {
    pub(super) page_bytes: u32,
    /// Of all tuples, or of the longest.
    pub(super) tuple_bytes: u32,
    /// Of the shortest tuple, if lengths differ.
    pub(super) shortest_bytes: Option<u32>,
    pub(super) slots: SlotFormat,
}

impl PageFormat {
    /// Of tuples of these lengths: of a relation that nobody has hashed.
    pub(super) fn new(page_bytes: u32, lengths: Lengths) -> Self {
        let shortest_bytes = lengths.shortest();
        Self {
            page_bytes,
            tuple_bytes: lengths.longest(),
            shortest_bytes,
            slots: SlotFormat {
                code: false,
                length: shortest_bytes.is_some(),
            },
        }
    }

    /// The same of a partition: slots hold hash codes.
    pub(super) fn with_codes(mut self) -> Self {
        self.slots.code = true;
        self
    }

    /// The same with slots that tell no lengths.
    pub(super) fn without_lengths(mut self) -> Self {
        self.slots.length = false;
        self
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

    /// Tuples that a page holds; if lengths differ, it holds as many at least.
    pub(super) fn tuples(self) -> u32 {
        let most = (self.page_bytes - HEADER_BYTES) / (self.tuple_bytes + self.slots.bytes());
        // The last slot of an odd number takes as much as two.
        let fits = most == 0 || self.tuple(most) <= self.slot(most - 1);
        most - u32::from(!fits)
    }

    /// Tuples of a length that go into a page behind `tuples` others, which end at a place.
    pub(super) fn more_tuples(self, tuples: u32, until: u32, bytes: u32) -> u32 {
        self.slot(tuples).checked_sub(until).map_or(0, |room| {
            (room + self.slots.bytes()) / (bytes + self.slots.bytes())
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
        let slots = if self.slots.is_paired() {
            (number / 2 + 1) * 2
        } else {
            number + 1
        };
        self.page_bytes - slots * self.slots.bytes()
    }

    /// Where the hash code is in a slot that has one, and the place of the tuple in any.
    pub(super) fn code_and_place(self, number: u32) -> (u32, u32) {
        let slot = self.slot(number);
        if self.slots.is_paired() {
            let second = number % 2;
            return (slot + second * WORD, slot + 2 * WORD + second * PLACE_BYTES);
        }
        (slot, slot + u32::from(self.slots.code) * WORD)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Slots that hold whatever they may.
    pub(in crate::join) const SLOTS: [SlotFormat; 4] = [
        SlotFormat {
            code: false,
            length: false,
        },
        SlotFormat {
            code: false,
            length: true,
        },
        SlotFormat {
            code: true,
            length: false,
        },
        SlotFormat {
            code: true,
            length: true,
        },
    ];

    fn of(tuple_bytes: u32, slots: SlotFormat) -> PageFormat {
        PageFormat {
            slots,
            ..PageFormat::new(8192, Lengths::Fixed(tuple_bytes))
        }
    }

    /// A place of 2 bytes, a hash code of 4 (section 5.4.4), and a length.
    #[test]
    fn slots_take_the_published_bytes() {
        assert_eq!(SLOTS.map(SlotFormat::bytes), [2, 4, 6, 8]);
    }

    #[test]
    fn slots_end_where_tuples_begin() {
        for slots in SLOTS {
            for tuple_bytes in (8..=1024).step_by(4) {
                let format = of(tuple_bytes, slots);
                let tuples = format.tuples();
                assert!(format.tuple(tuples) <= format.slot(tuples - 1));
                assert!(format.tuple(tuples + 1) > format.slot(tuples));
            }
        }
    }

    /// Two hash codes, then two places, from the end of the page down.
    #[test]
    fn paired_slots_hold_both_hash_codes_and_then_both_places() {
        let format = of(100, SLOTS[2]);
        let places = [0, 1, 2, 3].map(|number| format.code_and_place(number));
        assert_eq!(
            places,
            [(8180, 8188), (8184, 8190), (8168, 8176), (8172, 8178)]
        );
        assert_eq!(of(100, SLOTS[3]).code_and_place(1), (8176, 8180));
    }
}
