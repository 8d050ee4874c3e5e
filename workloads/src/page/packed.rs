//! The minipage of a nullable attribute of fixed length (PAX section 3.2 and appendix A): nulls take no space.

use std::ops::Range;

/// The values that are there upwards, in the order of their records; for each record a bit, downwards from the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedMinipage {
    /// Offset in the page.
    pub(super) start: usize,
    pub(super) bytes: usize,
    pub(super) value_bytes: usize,
}

impl PackedMinipage {
    /// Bytes of the bits of so many records: whole 2-byte words.
    pub(super) fn bits_bytes(records: usize) -> usize {
        records.div_ceil(8).next_multiple_of(2)
    }

    /// Where the value is that has so many before it.
    #[inline]
    pub(super) fn value(&self, before: usize) -> Range<usize> {
        let start = self.start + before * self.value_bytes;
        start..start + self.value_bytes
    }

    /// Byte and bit that say whether a record has a value.
    #[inline]
    fn presence(&self, record: usize) -> (usize, u8) {
        (self.start + self.bytes - 1 - record / 8, 1 << (record % 8))
    }

    /// The bytes that have the bits from that of record `first` to that of `last`.
    #[inline]
    pub(super) fn bits(&self, first: usize, last: usize) -> Range<usize> {
        self.presence(last).0..self.presence(first).0 + 1
    }

    #[inline]
    pub(super) fn is_present(&self, page: &[u8], record: usize) -> bool {
        let (byte, bit) = self.presence(record);
        page[byte] & bit != 0
    }

    fn set_present(&self, page: &mut [u8], record: usize, present: bool) {
        let (byte, bit) = self.presence(record);
        page[byte] = page[byte] & !bit | if present { bit } else { 0 };
    }

    /// Values of the `records`.
    #[inline]
    pub(super) fn values(&self, page: &[u8], mut records: Range<usize>) -> usize {
        let mut values = 0;
        while !records.is_empty() {
            let end = records.end.min((records.start / 8 + 1) * 8);
            let mask = u8::MAX << (records.start % 8) & u8::MAX >> (7 - (end - 1) % 8);
            let byte = page[self.presence(records.start).0];
            values += (byte & mask).count_ones() as usize;
            records.start = end;
        }
        values
    }

    /// Bytes of the values of the first `records`.
    pub(super) fn used(&self, page: &[u8], records: usize) -> usize {
        self.values(page, 0..records) * self.value_bytes
    }

    /// Whether `records` with values of `bytes` in all have room.
    pub(super) fn fits(&self, records: usize, bytes: usize) -> bool {
        bytes + Self::bits_bytes(records) <= self.bytes
    }

    /// Makes room for a record without a value in front of `record`, of `records`.
    pub(super) fn open_gap(&self, page: &mut [u8], record: usize, records: usize) {
        for later in (record..records).rev() {
            let present = self.is_present(page, later);
            self.set_present(page, later + 1, present);
        }
        self.set_present(page, record, false);
    }

    /// Removes `record`, of `records`, and its value.
    pub(super) fn close_gap(&self, page: &mut [u8], record: usize, records: usize) {
        self.replace(page, record, records, None);
        for later in record + 1..records {
            let present = self.is_present(page, later);
            self.set_present(page, later - 1, present);
        }
    }

    /// Changes the value of `record`, of `records`, for which there is room: those behind it move if there was none, or is none.
    pub(super) fn replace(
        &self,
        page: &mut [u8],
        record: usize,
        records: usize,
        value: Option<&[u8]>,
    ) {
        let before = self.values(page, 0..record);
        let had = usize::from(self.is_present(page, record));
        let has = usize::from(value.is_some());
        let end = self.start + self.used(page, records);
        let behind = self.value(before + had).start..end;
        page.copy_within(behind, self.value(before + has).start);
        if let Some(value) = value {
            page[self.value(before)].copy_from_slice(value);
        }
        self.set_present(page, record, has == 1);
    }

    /// Copies the values of `records` from the page `from`, where they are in the minipage `other`.
    pub(super) fn copy(&self, page: &mut [u8], other: &Self, from: &[u8], records: usize) {
        let bytes = other.used(from, records);
        page[self.start..self.start + bytes]
            .copy_from_slice(&from[other.start..other.start + bytes]);
        for record in 0..records {
            self.set_present(page, record, other.is_present(from, record));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MINIPAGE: PackedMinipage = PackedMinipage {
        start: 3,
        bytes: 40 * 2 + 6,
        value_bytes: 2,
    };

    fn read(page: &[u8], records: usize) -> Vec<Option<[u8; 2]>> {
        let value = |record: usize| {
            let before = MINIPAGE.values(page, 0..record);
            let place = MINIPAGE.value(before);
            MINIPAGE
                .is_present(page, record)
                .then(|| [page[place.start], page[place.start + 1]])
        };
        (0..records).map(value).collect()
    }

    proptest! {
        /// Whatever is put in, changed and taken out: a list of values that may be missing.
        #[test]
        fn a_packed_minipage_is_a_list(
            steps in prop::collection::vec((0..4_u8, any::<usize>(), any::<Option<[u8; 2]>>()), 0..120),
        ) {
            let mut page = [0; 3 + 40 * 2 + 6 + 3];
            let mut list: Vec<Option<[u8; 2]>> = Vec::new();
            for (step, place, value) in steps {
                let records = list.len();
                let bytes = value.as_ref().map(|bytes| &bytes[..]);
                match step {
                    0 | 1 if records < 40 => {
                        let place = place % (records + 1);
                        MINIPAGE.open_gap(&mut page, place, records);
                        MINIPAGE.replace(&mut page, place, records + 1, bytes);
                        list.insert(place, value);
                    }
                    2 if records > 0 => {
                        MINIPAGE.replace(&mut page, place % records, records, bytes);
                        list[place % records] = value;
                    }
                    3 if records > 0 => {
                        MINIPAGE.close_gap(&mut page, place % records, records);
                        list.remove(place % records);
                    }
                    _ => {}
                }
                prop_assert_eq!(&read(&page, list.len()), &list);
                let there = list.iter().flatten().count();
                prop_assert_eq!(MINIPAGE.used(&page, list.len()), 2 * there);
            }
            prop_assert_eq!((&page[..3], &page[page.len() - 3..]), (&[0; 3][..], &[0; 3][..]));
        }
    }

    /// Eight records with three values take 6 bytes and a word of bits.
    #[test]
    fn nulls_take_a_bit() {
        let mut page = [0; 92];
        for record in 0..8 {
            let value = (record % 3 == 0).then_some([record as u8, 7]);
            MINIPAGE.open_gap(&mut page, record, record);
            MINIPAGE.replace(
                &mut page,
                record,
                record + 1,
                value.as_ref().map(|v| &v[..]),
            );
        }
        assert_eq!(page[3..9], [0, 7, 3, 7, 6, 7]);
        assert_eq!((page[88], page[87]), (0b0100_1001, 0));
        assert_eq!(MINIPAGE.bits(0, 8), 87..89);
        assert!(MINIPAGE.fits(40, 80) && !MINIPAGE.fits(40, 82) && !MINIPAGE.fits(49, 80));
    }
}
