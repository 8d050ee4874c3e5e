//! Keys: strings of bytes, in the order of their bytes.

use crate::place::Loaded;
use crate::random::mixed;
use std::ops::Deref;

/// Bytes of the longest key.
pub(super) const LONGEST: usize = 128;

/// A key, held by value as on a program's stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    bytes: [u8; LONGEST],
    length: u8,
}

impl Text {
    /// No bytes: below every other key.
    pub(super) const EMPTY: Self = Self {
        bytes: [0; LONGEST],
        length: 0,
    };

    /// A copy of some bytes.
    ///
    /// # Panics
    /// If they are longer than the longest key.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut text = Self::EMPTY;
        text.push(bytes);
        text
    }

    /// Puts bytes behind its own.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let length = usize::from(self.length);
        self.bytes[length..length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len() as u8;
    }
}

impl Deref for Text {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl Loaded<Text> {
    /// Its bytes, which come with it.
    #[inline]
    pub(super) fn bytes(&self) -> Loaded<&[u8]> {
        Loaded {
            value: &self.value,
            token: self.token,
        }
    }
}

/// The keys of a workload, by number. Their order is that of the numbers.
///
/// A key is the bytes that all keys begin with; the number, a digit of so many bits in each byte, the highest first; and bytes at random
/// up to the key's length, which is drawn evenly. What is drawn follows from the number alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Texts {
    /// Bytes that all keys begin with.
    pub common: u32,
    /// Bits of the number in a byte.
    pub bits: u32,
    /// Bytes of the number.
    pub digits: u32,
    /// Bytes of the shortest key.
    pub shortest: u32,
    /// Bytes of the longest key.
    pub longest: u32,
}

/// What every byte is that all keys have in common.
const COMMON: [u8; LONGEST] = [b'/'; LONGEST];

impl Texts {
    /// Bytes that numbers up to `most` take, of so many bits each.
    pub(super) fn digits(most: u64, bits: u32) -> u32 {
        (u64::BITS - most.leading_zeros()).div_ceil(bits)
    }

    /// The key of a number.
    #[inline]
    pub(super) fn text(&self, number: u64) -> Text {
        let mut text = Text::of(&COMMON[..self.common as usize]);
        for digit in (0..self.digits).rev() {
            let shifted = number >> (digit * self.bits);
            text.push(&[(shifted & ((1 << self.bits) - 1)) as u8]);
        }
        let mut drawn = mixed(number);
        let length = self.shortest + (drawn % u64::from(self.longest - self.shortest + 1)) as u32;
        while (text.length as u32) < length {
            drawn = mixed(drawn);
            let rest = (length as usize - text.len()).min(8);
            text.push(&drawn.to_le_bytes()[..rest]);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_is_that_of_numbers() {
        for (bits, common) in [(1, 0), (3, 5), (8, 2)] {
            let digits = Texts::digits(9_999, bits);
            let texts = Texts {
                common,
                bits,
                digits,
                shortest: common + digits,
                longest: 40,
            };
            let all: Vec<Text> = (0..10_000).map(|number| texts.text(number)).collect();
            assert!(all.is_sorted_by(|left, right| **left < **right));
            let lengths: Vec<u32> = all.iter().map(|text| text.len() as u32).collect();
            assert_eq!(lengths.iter().min(), Some(&texts.shortest));
            assert_eq!(lengths.iter().max(), Some(&texts.longest));
        }
    }
}
