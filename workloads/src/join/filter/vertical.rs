//! Vertical filters: the bits of all filters of a partition at one position lie together, so that one line tells what all of them say of it
//! (thesis section 5.4.3).

use super::filters::MASK;
use super::row::Row;
use super::sites::Site;
use crate::arena::{Arena, Far};
use crate::page::copy_words;
use crate::place::{Extent, Loaded, Place};
use crate::tracer::{Dep, Token, Trace};
use crate::word::Word;

/// Bytes of the rows of so many filters: a power of two, so that no row is in two lines, and whole words.
pub(in crate::join) fn row_bytes(filters: u32) -> u32 {
    let words = filters.div_ceil(u32::BITS).max(1);
    words.next_power_of_two() * u32::BYTES as u32
}

/// The filters of a partition.
#[derive(Debug)]
pub(in crate::join) struct Vertical {
    pub(super) memory: Arena<Far>,
    base: u64,
    pub(super) filters: u32,
    pub(super) row_bytes: u32,
}

impl Vertical {
    /// So many filters of so many bits, from an address on.
    pub(super) fn new(base: u64, filters: u32, bits: u32) -> Self {
        let row_bytes = row_bytes(filters);
        Self {
            memory: Arena::of(base, u64::from(bits) * u64::from(row_bytes)),
            base,
            filters,
            row_bytes,
        }
    }

    /// Address of a row.
    pub(super) fn address(&self, bit: u32) -> u64 {
        self.base + u64::from(bit) * u64::from(self.row_bytes)
    }

    /// Sets the bit of a filter in a row.
    pub(super) fn set<T: Trace>(&mut self, trace: &mut T, bit: u32, filter: u32, waits: Dep) {
        let row = Place::<u32>::new(0, self.address(bit));
        let place = row.element((filter / u32::BITS) as usize);
        let word = self.memory.load(trace, Site::RowRead, place, waits);
        trace.work(MASK);
        let (value, brought) = (word.value | 1 << (filter % u32::BITS), word.token.after(1));
        self.memory
            .store(trace, Site::RowChange, place, value, brought);
    }

    /// Prefetches the rows of a key's bits.
    pub(super) fn prefetch<T: Trace>(&self, trace: &mut T, bits: &[(u32, Dep)]) {
        for &(bit, waits) in bits {
            let address = self.address(bit);
            self.memory
                .prefetch(trace, Site::TestPrefetch, address, waits);
        }
    }

    /// The filters that have all bits of a key: those that may hold it.
    pub(super) fn test<T: Trace>(&self, trace: &mut T, bits: &[(u32, Dep)]) -> Loaded<Row> {
        let words = self.row_bytes / u32::BYTES as u32;
        let rows = bits.iter().map(|&(bit, waits)| {
            let row = self.load(trace, bit, waits);
            trace.work(words);
            row
        });
        let both = |one: Loaded<Row>, other: Loaded<Row>| other.map(|row| one.value.and(row));
        rows.reduce(both).unwrap_or(Loaded {
            value: Row::default(),
            token: Token::NONE,
        })
    }

    fn load<T: Trace>(&self, trace: &mut T, bit: u32, waits: Dep) -> Loaded<Row> {
        let place = Extent {
            segment: 0,
            address: self.address(bit),
            bytes: self.row_bytes as usize,
        };
        let words = copy_words(place.bytes);
        let row = self
            .memory
            .load_bytes(trace, Site::TestRead, place, words, waits);
        row.map(Row::of)
    }

    /// What a row holds.
    #[cfg(test)]
    pub(super) fn row(&self, bit: u32) -> Row {
        let place = Extent {
            segment: 0,
            address: self.address(bit),
            bytes: self.row_bytes as usize,
        };
        Row::of(self.memory.bytes(place))
    }
}
