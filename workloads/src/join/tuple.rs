//! Tuples, and who makes them.

use super::limits::WORD;
use std::fmt::Debug;

/// A tuple. Behind its key are its number and zeros, if all tuples have one length; else its length, its number and what follows from these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tuple {
    pub(super) code: u32,
    pub(super) key: u32,
    pub(super) number: u32,
    pub(super) bytes: u32,
}

/// Words of a tuple whose length is its own: that is in one, and its number in another.
pub(super) const LENGTH: usize = 1;
pub(super) const NUMBER: usize = 2;

impl Tuple {
    /// The words of a tuple whose length is its own. No two that it has to do with are alike, be they of one tuple or of two.
    pub(super) fn words(self) -> impl Iterator<Item = u32> {
        let mixed = self.key ^ self.number.wrapping_mul(0x9E37_79B9);
        (0..(self.bytes / WORD) as usize).map(move |place| match place {
            0 => self.key,
            LENGTH => self.bytes,
            NUMBER => self.number,
            _ => mixed.wrapping_add(place as u32),
        })
    }
}

/// Tuples that are computed from their numbers, so that nobody has to keep them.
pub(super) trait Source: Debug {
    /// How many there are.
    fn count(&self) -> u64;

    /// Bytes of tuple number `number`.
    fn bytes(&self, number: u64) -> u32;

    /// Tuple number `number`.
    fn at(&self, number: u64) -> Tuple;
}
