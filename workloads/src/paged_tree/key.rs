//! Keys of 4, 8 and 20 bytes.

use crate::word::Word;

/// A key of an index in pages.
pub trait Key: Word {
    /// Word accesses of a whole key.
    const WORDS: u16;
    /// Bytes of a key that decide its order, unless they are equal: what a binary search loads.
    const ORDER_BYTES: u16;
    /// Plain instructions of comparing those of two keys.
    const COMPARE: u32;
}

impl Key for u32 {
    const WORDS: u16 = 1;
    const ORDER_BYTES: u16 = 4;
    const COMPARE: u32 = 1;
}

impl Key for u64 {
    const WORDS: u16 = 1;
    const ORDER_BYTES: u16 = 8;
    const COMPARE: u32 = 1;
}

/// A key of 20 bytes, which is compared word by word until two words differ: the number in its first word, which no two keys of an index
/// have in common, and zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Long(u32);

impl Word for Long {
    const BYTES: usize = 20;
    const MAX: Self = Self(u32::MAX);

    #[inline]
    fn from_u64(value: u64) -> Self {
        Self(u32::from_u64(value))
    }

    #[inline]
    fn to_u64(self) -> u64 {
        self.0.into()
    }

    #[inline]
    fn read(bytes: &[u8], offset: usize) -> Self {
        Self(u32::read(bytes, offset))
    }

    #[inline]
    fn write(self, bytes: &mut [u8], offset: usize) {
        bytes[offset..offset + Self::BYTES].fill(0);
        self.0.write(bytes, offset);
    }
}

impl Key for Long {
    const WORDS: u16 = 5;
    const ORDER_BYTES: u16 = 4;
    /// Equal or not, and which is less.
    const COMPARE: u32 = 2;
}
