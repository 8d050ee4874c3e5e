//! A row of vertical filters: the bits of all filters of a partition at one position.

use super::filters::words;

/// Filters of a partition: their ids are bytes, and so is the number of ids in a slot.
pub(in crate::join) const MOST_FILTERS: u32 = 255;
const WORDS: usize = 8;

/// A bit for each filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::join) struct Row([u32; WORDS]);

impl Row {
    /// That in bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut row = Self::default();
        for (to, word) in row.0.iter_mut().zip(words(bytes)) {
            *to = word;
        }
        row
    }

    /// Sets the bit of a filter.
    pub(super) fn set(&mut self, filter: u32) {
        self.0[(filter / u32::BITS) as usize] |= 1 << (filter % u32::BITS);
    }

    /// The filters in which both have a bit.
    #[must_use]
    pub(super) fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// Its first words.
    pub(in crate::join) fn words(self, count: usize) -> impl Iterator<Item = u32> {
        self.0.into_iter().take(count)
    }

    pub(in crate::join) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Filters that have a bit.
    pub(in crate::join) fn count(self) -> u32 {
        self.0.into_iter().map(u32::count_ones).sum()
    }

    /// Their ids.
    pub(in crate::join) fn ids(self) -> impl Iterator<Item = u8> {
        (0..=u8::MAX)
            .filter(move |&id| self.0[usize::from(id) / 32] >> (id % 32) & 1 == 1)
            .take(self.count() as usize)
    }
}
