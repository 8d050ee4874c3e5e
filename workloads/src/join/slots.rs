//! Slots of output pages: how a partition's page says what it holds, and whether there is room for one more.
//!
//! Slots lie at the end of a page, the first one last. Those of probe tuples of inspector joins have several lengths (thesis section 5.4.4).

use super::limits::WORD;
use super::pages::{HEADER_BYTES, PLACE_BYTES, PageFormat};

/// Bytes of the number of ids, and of an id.
const ID_BYTES: u32 = 1;

/// What the slots of a page are like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Slots {
    /// All of one length, as the page's format has it.
    #[default]
    Even,
    /// Hash code, place, and a list of ids of a byte each; from high addresses to low ones, and in whole words. The page's header says where
    /// they begin.
    Lists,
}

/// How full a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Filled {
    pub(super) tuples: u32,
    /// Where the tuples end.
    pub(super) tuples_until: u32,
    /// Where the slots begin.
    pub(super) slots_from: u32,
}

/// Where a slot lies in its page, and its tuple.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot {
    /// Its first byte, and its bytes.
    pub(super) from: u32,
    pub(super) bytes: u32,
    /// Where its hash code is, and its tuple's place.
    pub(super) code: u32,
    pub(super) place: u32,
    /// Where the tuple begins, and its bytes.
    pub(super) tuple: u32,
    pub(super) tuple_bytes: u32,
}

impl Slot {
    /// Where ids lie, the first of them last: right below their number.
    pub(super) fn id(self, number: u32) -> u32 {
        self.ids() - (number + 1) * ID_BYTES
    }

    /// Where the number of ids lies.
    pub(super) fn ids(self) -> u32 {
        self.place - ID_BYTES
    }
}

impl Slots {
    /// How full a page is that holds nothing.
    pub(super) fn none(format: PageFormat) -> Filled {
        Filled {
            tuples: 0,
            tuples_until: HEADER_BYTES,
            slots_from: format.page_bytes,
        }
    }

    /// Where the next tuple of so many bytes and its slot of so many ids go, and how full the page is then.
    pub(super) fn next(
        self,
        format: PageFormat,
        filled: Filled,
        (tuple_bytes, ids): (u32, u32),
    ) -> (Slot, Filled) {
        let (number, tuple) = (filled.tuples, filled.tuples_until);
        let slot = match self {
            Self::Even => {
                let (code, place) = format.code_and_place(number);
                let length = u32::from(format.slots.length) * PLACE_BYTES;
                Slot {
                    from: code,
                    bytes: place + PLACE_BYTES + length - code,
                    code,
                    place,
                    tuple,
                    tuple_bytes,
                }
            }
            Self::Lists => {
                let bytes = list_bytes(ids);
                let code = filled.slots_from - WORD;
                Slot {
                    from: filled.slots_from - bytes,
                    bytes,
                    code,
                    place: code - PLACE_BYTES,
                    tuple,
                    tuple_bytes,
                }
            }
        };
        // A pair takes its room with its first slot.
        let slots_from = match self {
            Self::Even => format.slot(number),
            Self::Lists => slot.from,
        };
        let then = Filled {
            tuples: number + 1,
            tuples_until: tuple + tuple_bytes,
            slots_from,
        };
        (slot, then)
    }

    /// Tuples that go into a page at least, of which each has so many ids at most.
    pub(super) fn tuples(self, format: PageFormat, ids: u32) -> u32 {
        match self {
            Self::Even => format.tuples(),
            Self::Lists => {
                (format.page_bytes - HEADER_BYTES) / (format.tuple_bytes + list_bytes(ids))
            }
        }
    }
}

impl Filled {
    /// Whether tuples and slots keep apart.
    pub(super) fn fits(self) -> bool {
        self.tuples_until <= self.slots_from
    }
}

/// Bytes of a slot with so many ids.
pub(super) fn list_bytes(ids: u32) -> u32 {
    (WORD + PLACE_BYTES + ID_BYTES + ids * ID_BYTES).next_multiple_of(WORD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::lengths::Lengths;
    use crate::join::pages::tests::SLOTS;

    /// Even slots that hold hash codes, and lists.
    fn all_slots(tuple_bytes: u32) -> [(PageFormat, Slots); 3] {
        let format = PageFormat::new(8192, Lengths::Fixed(tuple_bytes));
        let [_, _, paired, whole] = SLOTS.map(|slots| PageFormat { slots, ..format });
        [
            (whole, Slots::Even),
            (paired, Slots::Even),
            (paired, Slots::Lists),
        ]
    }

    /// Fills a page with tuples that have so many ids. Returns their slots.
    fn filled((format, slots): (PageFormat, Slots), ids: u32) -> Vec<Slot> {
        let mut filled = Slots::none(format);
        let mut all = Vec::new();
        loop {
            let (slot, then) = slots.next(format, filled, (format.tuple_bytes, ids));
            if !then.fits() {
                return all;
            }
            filled = then;
            all.push(slot);
        }
    }

    #[test]
    fn pages_are_as_full_as_they_can_be() {
        for (format, slots) in all_slots(100) {
            for ids in [1, 2, 9] {
                let all = filled((format, slots), ids);
                assert_eq!(all.len(), slots.tuples(format, ids) as usize, "{slots:?}");
            }
        }
        // 76 tuples of 106 bytes, and not a 77th, whose slot would begin a pair.
        let [_, (paired, slots), _] = all_slots(100);
        assert_eq!(slots.tuples(paired, 1), 76);
    }

    /// No byte is of two slots, and hash codes are aligned.
    #[test]
    fn slots_keep_apart() {
        for (format, slots) in all_slots(100) {
            let mut bytes = vec![false; format.page_bytes as usize];
            let mut take = |from: u32, count: u32| {
                for byte in &mut bytes[from as usize..][..count as usize] {
                    assert!(!std::mem::replace(byte, true), "{slots:?}: {from}");
                }
            };
            for slot in filled((format, slots), 3) {
                assert_eq!(slot.code % WORD, 0);
                take(slot.code, WORD);
                take(slot.place, PLACE_BYTES);
                if slots == Slots::Even && format.slots.length {
                    take(slot.place + PLACE_BYTES, PLACE_BYTES);
                }
                if slots == Slots::Lists {
                    take(slot.ids(), ID_BYTES);
                    (0..3).for_each(|number| take(slot.id(number), ID_BYTES));
                    assert!(slot.from <= slot.id(2));
                }
            }
        }
    }

    /// Tuples of whatever length end before the slots begin, and as many go into a page as is said.
    #[test]
    fn tuples_and_slots_keep_apart() {
        for tuple_bytes in (8..=1024).step_by(4) {
            for (format, slots) in all_slots(tuple_bytes) {
                let mut filled = Slots::none(format);
                let mut lowest = format.page_bytes;
                loop {
                    let (slot, then) = slots.next(format, filled, (tuple_bytes, 2));
                    if !then.fits() {
                        break;
                    }
                    (filled, lowest) = (then, lowest.min(slot.from));
                }
                assert_eq!(filled.tuples_until, format.tuple(filled.tuples));
                assert!(filled.tuples_until <= lowest, "{tuple_bytes}");
                assert_eq!(filled.tuples, slots.tuples(format, 2), "{tuple_bytes}");
            }
        }
    }

    /// Six bytes, and eight with one id (section 5.4.4).
    #[test]
    fn slots_take_the_published_bytes() {
        let [_, paired, _] = all_slots(100);
        let pair = &filled(paired, 1)[..2];
        assert_eq!((pair[0].code, pair[1].code), (8192 - 12, 8192 - 8));
        assert_eq!((pair[0].place, pair[1].place), (8192 - 4, 8192 - 2));
        let bytes = [1, 2, 5, 6].map(list_bytes);
        assert_eq!(bytes, [8, 12, 12, 16]);
    }
}
