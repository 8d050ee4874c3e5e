//! Word accesses that values and copies take.

use super::framed::Framed;
use super::{Loaded, Type};
use crate::tracer::{Dep, Token, Trace};
use std::ops::Range;

/// Bytes that one word access of a copy moves.
const COPY_WORD: usize = 4;

/// Word accesses of a copy of so many bytes, at least 1.
pub(crate) fn copy_words(bytes: usize) -> u16 {
    bytes.div_ceil(COPY_WORD).max(1) as u16
}

/// Word accesses that store a value of a fixed-length type: numbers take one.
pub(super) fn store_words(kind: Type) -> u16 {
    match kind {
        Type::Fixed(bytes) => copy_words(usize::from(bytes)),
        _ => 1,
    }
}

/// Reads a string word by word; an empty one needs no load.
pub(super) fn load_string<'f, T: Trace>(
    page: Framed<'f>,
    trace: &mut T,
    site: u16,
    place: Range<usize>,
    dep: Dep,
) -> Loaded<&'f [u8]> {
    if place.is_empty() {
        return Loaded {
            value: &[],
            token: Token::NONE,
        };
    }
    let words = copy_words(place.len());
    page.load_bytes(trace, site, place, words, dep)
}
