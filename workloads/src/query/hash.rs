//! Hashes of join attributes.

use super::sites::Site;
use crate::page::Loaded;
use crate::tracer::{Token, Trace};
use traces::OpClass;

/// 2^64 divided by the golden ratio, for multiplicative hashing (Knuth, The Art of Computer Programming 3, section 6.4).
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The hash of a key: its partition is made of the upper bits, its bucket of those below.
#[derive(Clone, Copy, Debug)]
pub struct Hash {
    pub(super) bits: u64,
    pub(super) token: Token,
}

impl Hash {
    /// Hashes a key.
    #[inline]
    pub fn of<T: Trace>(trace: &mut T, key: Loaded<i64>) -> Self {
        let token = trace.op(Site::Hash, OpClass::Multiply, key.token.after(0));
        Self {
            bits: (key.value as u64).wrapping_mul(GOLDEN),
            token,
        }
    }

    /// The partition among 2^`bits`.
    #[inline]
    #[must_use]
    pub fn partition(self, bits: u32) -> usize {
        (self.bits >> (u64::BITS - bits)) as usize
    }
}
