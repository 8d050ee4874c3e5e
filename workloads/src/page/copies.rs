//! Word accesses that values and copies take.

use super::Type;

/// Bytes that one word access of a copy moves.
pub(crate) const COPY_WORD: usize = 4;

/// Word accesses of a copy of so many bytes, at least 1.
pub(crate) fn copy_words(bytes: usize) -> u16 {
    bytes.div_ceil(COPY_WORD).max(1) as u16
}

/// Word accesses that store a value of a fixed-length type: numbers take one.
pub(crate) fn store_words(kind: Type) -> u16 {
    match kind {
        Type::Fixed(bytes) => copy_words(usize::from(bytes)),
        _ => 1,
    }
}
