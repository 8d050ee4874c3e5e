//! Finding the bits that are set in a word, which the thesis calls the most costly part of converting and testing filters.

use super::sites::Site;
use crate::tracer::{Dep, Trace};
use traces::OpClass;

/// Isolating the lowest bit that is set (negate, and), its number by multiplication with a de Bruijn sequence (shift, table), clearing it
/// (subtract, and): an Itanium 2 counts bits in no fewer, and the simulated machine has no instruction for it.
const ISOLATE: u32 = 2;
const NUMBER: u32 = 2;
const REMOVE: u32 = 2;

/// Takes the lowest bit that is set out of a word, which waits for something, if there is one. Returns its number, and what that
/// waits for.
pub(in crate::join) fn take_one<T: Trace>(
    trace: &mut T,
    word: &mut u32,
    waits: Dep,
) -> Option<(u32, Dep)> {
    let is_one = *word != 0;
    trace.branch(Site::OnesLeft, is_one, waits.later(1));
    is_one.then(|| {
        let number = word.trailing_zeros();
        *word &= *word - 1;
        trace.work(ISOLATE);
        let hashed = trace.op(Site::One, OpClass::Multiply, waits.later(ISOLATE as u8));
        trace.work(NUMBER + REMOVE);
        (number, hashed.after(NUMBER as u8))
    })
}
