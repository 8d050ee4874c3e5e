//! The hash functions of filters: where the bits of a key are.

use super::sites::Site;
use crate::tracer::{Dep, Trace};
use traces::OpClass;

/// Hash functions, d in the thesis, which considers filters with three only.
pub(super) const HASHES: usize = 3;
/// One for each: primes that mix bits well (those of the hash function xxHash32).
const MULTIPLIERS: [u32; HASHES] = [0x9E37_79B1, 0x85EB_CA77, 0xC2B2_AE3D];
/// Moving two results to registers and shifting one.
const PLAIN: u32 = 2;

/// The bits of a key with a hash code in a filter of so many bits.
pub(super) fn bits_of(code: u32, bits: u32) -> [u32; HASHES] {
    let high = |code: u32| ((u64::from(code) * u64::from(bits)) >> u32::BITS) as u32;
    MULTIPLIERS.map(|multiplier| high(code.wrapping_mul(multiplier)))
}

/// The same, computed: each with what it waits for.
pub(in crate::join) fn positions<T: Trace>(
    trace: &mut T,
    code: u32,
    bits: u32,
    hashed: Dep,
) -> [(u32, Dep); HASHES] {
    bits_of(code, bits).map(|bit| {
        let mixed = trace.op(Site::Position, OpClass::Multiply, hashed);
        let scaled = trace.op(Site::Position, OpClass::Multiply, mixed.after(0));
        trace.work(PLAIN);
        (bit, scaled.after(PLAIN as u8))
    })
}
