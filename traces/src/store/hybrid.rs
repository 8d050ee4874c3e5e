//! Parquet's hybrid of run lengths and bit-packing, in which the pages of a dictionary column hold their codes.
//!
//! Source: Parquet format specification, `Encodings.md`, "Run Length Encoding / Bit-Packing Hybrid".

use bytes::Bytes;
use multiversion::multiversion;
use parquet::errors::{ParquetError, Result};

/// Codes packed together; a packed run is a whole number of such groups.
const GROUP: usize = 8;
/// Half of such a group.
const HALF: usize = GROUP / 2;
/// The widest code.
const WIDTH_MAX: u32 = u32::BITS;

/// The codes of one page that are yet to be read.
#[derive(Debug)]
pub(super) struct Hybrid {
    bytes: Bytes,
    /// Bits of a code.
    width: u32,
    /// Where the next run begins.
    next: usize,
    run: Run,
}

/// The run being read.
#[derive(Clone, Copy, Debug)]
enum Run {
    /// `left` times the same code.
    Repeated { code: u64, left: usize },
    /// `left` codes, the first of which is number `skip` of the group at byte `at`.
    Packed { at: usize, skip: usize, left: usize },
}

impl Hybrid {
    /// The codes in `page`, which begins with their width.
    pub(super) fn new(page: Bytes) -> Result<Self> {
        let width = u32::from(*page.first().ok_or_else(early)?);
        if width > WIDTH_MAX {
            return Err(ParquetError::General(format!("codes of {width} bits")));
        }
        let run = Run::Repeated { code: 0, left: 0 };
        Ok(Self {
            bytes: page,
            width,
            next: 1,
            run,
        })
    }

    /// Bits of a code.
    pub(super) fn width(&self) -> u32 {
        self.width
    }

    /// Joins the next codes, moved up by `shift` bits, to `keys` with a bitwise or.
    pub(super) fn join(&mut self, mut keys: &mut [u64], shift: u32) -> Result<()> {
        if self.width == 0 {
            return Ok(());
        }
        while !keys.is_empty() {
            let (Run::Repeated { left, .. } | Run::Packed { left, .. }) = self.run;
            if left == 0 {
                self.next_run()?;
                continue;
            }
            let (now, later) = keys.split_at_mut(left.min(keys.len()));
            self.run = match self.run {
                Run::Repeated { code, .. } => {
                    let code_in_place = code << shift;
                    if code != 0 {
                        now.iter_mut().for_each(|key| *key |= code_in_place);
                    }
                    let left = left - now.len();
                    Run::Repeated { code, left }
                }
                Run::Packed { at, skip, .. } => {
                    unpack(&self.bytes[at..], self.width, skip, now, shift);
                    let taken = skip + now.len();
                    Run::Packed {
                        at: at + taken / GROUP * self.width as usize,
                        skip: taken % GROUP,
                        left: left - now.len(),
                    }
                }
            };
            keys = later;
        }
        Ok(())
    }

    fn next_run(&mut self) -> Result<()> {
        let header = self.varint()?;
        let count = usize::try_from(header >> 1).map_err(|_| early())?;
        let begin = self.next;
        let groups_of_bytes = if header & 1 == 1 {
            count.saturating_mul(self.width as usize)
        } else {
            self.width.div_ceil(u8::BITS) as usize
        };
        let end = begin.saturating_add(groups_of_bytes);
        let bytes = self.bytes.get(begin..end).ok_or_else(early)?;
        self.run = if header & 1 == 1 {
            Run::Packed {
                at: begin,
                skip: 0,
                left: count.saturating_mul(GROUP),
            }
        } else {
            Run::Repeated {
                code: word(bytes),
                left: count,
            }
        };
        self.next = end;
        Ok(())
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = *self.bytes.get(self.next).ok_or_else(early)?;
            self.next += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ParquetError::General("a run without an end".to_owned()))
    }
}

fn early() -> ParquetError {
    ParquetError::EOF("a page ends within its codes".to_owned())
}

/// Joins codes of `width` bits, from number `skip` of the first group in `packed` on, to `keys`.
///
/// The widest vector registers are chosen when it runs, as a portable build knows none of them.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+bmi1+bmi2",
    "x86_64+avx2+bmi1+bmi2"
))]
fn unpack(packed: &[u8], width: u32, skip: usize, keys: &mut [u64], shift: u32) {
    if width <= u8::BITS {
        unpack_groups(packed, width, skip, keys, |group, skip, keys| {
            // All of the group lies in one word: its codes come out side by side, in vector registers.
            let (word, mask) = (word(group), (1 << width) - 1);
            for (key, number) in keys.iter_mut().zip(skip..) {
                *key |= (word >> (number * width) & mask) << shift;
            }
        });
    } else if width <= u16::BITS {
        // Two words hold the two halves of the group. An odd width leaves the second half in the middle of a byte.
        let (second, bits) = (width as usize / 2, width % 2 * u8::BITS / 2);
        unpack_groups(packed, width, skip, keys, |group, skip, keys| {
            let halves = [word(group), word(&group[second..]) >> bits];
            let mask = (1 << width) - 1;
            for (key, number) in keys.iter_mut().zip(skip..) {
                let word = halves[number as usize / HALF % 2];
                *key |= (word >> (number % HALF as u32 * width) & mask) << shift;
            }
        });
    } else {
        unpack_groups(packed, width, skip, keys, |group, skip, keys| {
            let mask = (1 << width) - 1;
            for (key, number) in keys.iter_mut().zip(skip..) {
                let bit = number * width;
                let word = word(&group[(bit / u8::BITS) as usize..]);
                *key |= (word >> (bit % u8::BITS) & mask) << shift;
            }
        });
    }
}

/// Calls `join` with each group, the number of its first code and the keys, [`GROUP`] or fewer, that they belong to.
#[inline(always)]
fn unpack_groups(
    packed: &[u8],
    width: u32,
    skip: usize,
    keys: &mut [u64],
    join: impl Fn(&[u8], u32, &mut [u64]),
) {
    let (head, rest) = keys.split_at_mut(((GROUP - skip) % GROUP).min(keys.len()));
    let mut at = 0;
    if !head.is_empty() {
        join(packed, skip as u32, head);
        at += width as usize;
    }
    let (groups, tail) = rest.as_chunks_mut::<GROUP>();
    for keys in groups {
        join(&packed[at..], 0, keys);
        at += width as usize;
    }
    if !tail.is_empty() {
        join(&packed[at..], 0, tail);
    }
}

/// The first eight bytes as a little-endian number; zeros stand for those that are not there.
#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    if let Some(word) = bytes.first_chunk() {
        return u64::from_le_bytes(*word);
    }
    (bytes.iter().rev()).fold(0, |word, byte| word << u8::BITS | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(page: &[u8], parts: &[usize]) -> Result<Vec<u64>> {
        let mut hybrid = Hybrid::new(Bytes::copy_from_slice(page))?;
        let mut codes = Vec::new();
        for part in parts {
            let mut keys = vec![1; *part];
            hybrid.join(&mut keys, 1)?;
            codes.extend(keys.iter().map(|key| key >> 1));
        }
        Ok(codes)
    }

    #[test]
    fn the_specifications_example_is_read_however_it_is_divided() {
        // Three bits: the numbers 0 to 7, packed as the specification shows, then nine times 5.
        let page = [3, 0x03, 0b1000_1000, 0b1100_0110, 0b1111_1010, 9 << 1, 5];
        let expected: Vec<u64> = (0..8).chain([5; 9]).collect();
        for parts in [&[17][..], &[1, 16], &[3, 2, 3, 9], &[7, 3, 7], &[8, 9]] {
            assert_eq!(read(&page, parts).unwrap(), expected, "{parts:?}");
        }
    }

    #[test]
    fn wide_codes_cross_bytes() {
        // Twelve bits: 0x321, 0x654 and six zeros, then 0xabc twice.
        let mut page = vec![12, 0x03, 0x21, 0x43, 0x65];
        page.extend([0; 9]);
        page.extend([2 << 1, 0xbc, 0x0a]);
        let expected = [0x321, 0x654, 0, 0, 0, 0, 0, 0, 0xabc, 0xabc];
        assert_eq!(read(&page, &[1, 9]).unwrap(), expected);
    }

    /// A page of one packed run, bit by bit.
    fn packed(width: u32, codes: &[u64]) -> Vec<u8> {
        let groups = codes.len() / GROUP;
        let mut page = vec![width as u8, (groups << 1 | 1) as u8];
        let begin = page.len();
        page.resize(begin + groups * width as usize, 0);
        for (number, code) in codes.iter().enumerate() {
            for bit in (0..width).filter(|bit| code >> bit & 1 == 1) {
                let place = number * width as usize + bit as usize;
                page[begin + place / 8] |= 1 << (place % 8);
            }
        }
        page
    }

    proptest! {
        #[test]
        fn codes_of_all_widths_come_back(
            width in 1_u32..=WIDTH_MAX,
            codes in prop::collection::vec(any::<u32>(), 5 * GROUP),
            first in 0_usize..2 * GROUP,
        ) {
            let written: Vec<u64> = codes.iter().map(|code| u64::from(*code) & ((1 << width) - 1)).collect();
            let parts = [first, 1, written.len() - first - 1];
            prop_assert_eq!(read(&packed(width, &written), &parts).unwrap(), written);
        }
    }

    #[test]
    fn a_code_of_no_bits_is_zero() {
        assert_eq!(read(&[0], &[3]).unwrap(), [0, 0, 0]);
    }

    #[test]
    fn pages_that_end_early_are_refused() {
        for page in [&[][..], &[3], &[3, 0x03, 0, 0], &[3, 0x80], &[33]] {
            assert!(read(page, &[8]).is_err(), "{page:?}");
        }
        assert!(read(&[3, 2 << 1, 5], &[3]).is_err());
    }
}
