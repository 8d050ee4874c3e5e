//! Typed places: a simulated address is where the value lies, so that one place says what a load reads and what its event names.

use crate::tracer::Token;
use crate::word::Word;
use std::marker::PhantomData;

/// Where a word of type `W` lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<W> {
    /// Number of the segment that the address is in: tests hold every access to it.
    pub(crate) segment: usize,
    pub(crate) address: u64,
    word: PhantomData<W>,
}

impl<W: Word> Place<W> {
    /// The word at `address`, which is in `segment`.
    #[inline]
    #[must_use]
    pub fn new(segment: usize, address: u64) -> Self {
        Self {
            segment,
            address,
            word: PhantomData,
        }
    }

    /// The word so many words further on, as in an array.
    #[inline]
    #[must_use]
    pub fn element(self, index: usize) -> Self {
        Self::new(self.segment, self.address + (index * W::BYTES) as u64)
    }
}

/// Where so many bytes lie that are loaded and stored as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// As [`Place::segment`].
    pub(crate) segment: usize,
    pub(crate) address: u64,
    pub(crate) bytes: usize,
}

/// A value and the event that brought it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loaded<V> {
    /// The value.
    pub value: V,
    /// Its load.
    pub token: Token,
}

impl<V> Loaded<V> {
    /// A value that was not loaded: it is in a register.
    #[inline]
    pub fn constant(value: V) -> Self {
        Self {
            value,
            token: Token::NONE,
        }
    }

    /// Another value made of this one.
    #[inline]
    pub fn map<W>(self, make: impl FnOnce(V) -> W) -> Loaded<W> {
        Loaded {
            value: make(self.value),
            token: self.token,
        }
    }
}
