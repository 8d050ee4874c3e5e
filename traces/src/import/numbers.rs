//! Numbers and words out of bytes of text.

use crate::import::error::{Fault, shown};

/// The words of a line, parted by blanks and tabs.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| matches!(byte, b' ' | b'\t'))
        .filter(|word| !word.is_empty())
}

/// A hexadecimal number, with or without `0x`.
#[inline]
pub(super) fn hexadecimal(word: &[u8]) -> Result<u64, Fault> {
    let digits = match word {
        [b'0', b'x' | b'X', digits @ ..] => digits,
        digits => digits,
    };
    let mut value: u64 = 0;
    for &digit in digits {
        let Some(digit) = (digit as char).to_digit(16).filter(|_| value >> 60 == 0) else {
            return Err(wrong(word, "a 64-bit hexadecimal number"));
        };
        value = value << 4 | u64::from(digit);
    }
    match digits {
        [] => Err(wrong(word, "a hexadecimal number")),
        _ => Ok(value),
    }
}

/// A decimal number.
#[inline]
pub(super) fn decimal(word: &[u8]) -> Result<u64, Fault> {
    if word.is_empty() {
        return Err(wrong(word, "a decimal number"));
    }
    word.iter()
        .try_fold(0_u64, |value, &digit| {
            let digit = (digit as char).to_digit(10)?;
            value.checked_mul(10)?.checked_add(u64::from(digit))
        })
        .ok_or_else(|| wrong(word, "a 64-bit decimal number"))
}

/// A number that is decimal, or hexadecimal with `0x`.
pub(super) fn number(word: &[u8]) -> Result<u64, Fault> {
    match word {
        [b'0', b'x' | b'X', ..] => hexadecimal(word),
        _ => decimal(word),
    }
}

#[cold]
fn wrong(word: &[u8], expected: &str) -> Fault {
    Fault::new(format!("`{}` is not {expected}", shown(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_64_bits_and_no_more() {
        assert_eq!(hexadecimal(b"0xffffffffffffffff").unwrap(), u64::MAX);
        assert_eq!(hexadecimal(b"000000000000000000Fe").unwrap(), 0xfe);
        assert!(hexadecimal(b"10000000000000000").is_err());
        assert_eq!(decimal(b"18446744073709551615").unwrap(), u64::MAX);
        assert!(decimal(b"18446744073709551616").is_err());
        assert_eq!(number(b"0X10").unwrap() + number(b"10").unwrap(), 26);
        for nothing in [&b""[..], b"0x", b"g", b"-1"] {
            assert!(number(nothing).is_err() && hexadecimal(nothing).is_err());
        }
    }
}
