//! Loops over sorted arrays as programs compile them: binary search, and moving words one by one. Every tree has them.

use crate::place::Loaded;
use crate::tracer::{Dep, Trace};

// Plain instructions of each step, counted on the MIPS-like code that the step compiles to.

/// Setting the lower bound before the loop.
pub(crate) const BOUNDS: u32 = 1;
/// Comparing the bounds: the loop's condition.
pub(crate) const LOOP_TEST: u32 = 1;
/// Finding the middle (add, shift) and the address of its key (shift, add).
const MIDDLE: u32 = 4;
/// Moving one bound and jumping back.
const MOVE_BOUND: u32 = 2;
/// First test of a move loop (compare).
pub(crate) const FIRST_TEST: u32 = 1;
/// Bumping the word's address and comparing it with the last: with load, store and branch, 5 instructions a word.
pub(crate) const NEXT_WORD: u32 = 2;

/// Where a search is in the code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchSites<S> {
    /// The loop's condition.
    pub again: S,
    /// Which half goes on.
    pub half: S,
}

/// How many of the keys of a sorted array are not above the one looked for: a two-way loop over `from..to`, of which those before are not.
///
/// `bounds` is what the bounds wait for. `load` loads a key; its address waits for the array's only: which half it is in is known from
/// the branches. Comparing takes `compare` instructions; `above` says whether the key looked for is below one.
#[inline(always)]
pub(crate) fn upper_bound<K, T: Trace, S: Into<u16> + Copy>(
    trace: &mut T,
    sites: SearchSites<S>,
    (from, to): (usize, usize),
    mut bounds: Dep,
    compare: u32,
    mut load: impl FnMut(&mut T, usize) -> Loaded<K>,
    above: impl Fn(&K) -> bool,
) -> usize {
    let (mut low, mut high) = (from, to);
    loop {
        trace.work(LOOP_TEST);
        trace.branch(sites.again, low < high, bounds);
        if low >= high {
            return low;
        }
        bounds = Dep::NONE;
        let middle = (low + high) / 2;
        trace.work(MIDDLE);
        let found = load(trace, middle);
        let less = above(&found.value);
        trace.work(compare);
        trace.branch(sites.half, less, found.token.after(compare as u8));
        trace.work(MOVE_BOUND);
        if less {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
}

/// Where a loop that moves words is in the code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MoveSites<S> {
    /// Loads a word.
    pub load: S,
    /// Stores it.
    pub store: S,
    /// The loop's condition.
    pub again: S,
}

/// Whether so many bytes are moved from the last on: what goes forwards would overwrite some of them before they are read.
pub(crate) fn goes_backwards(from: u64, to: u64, bytes: u64) -> bool {
    (from + 1..from + bytes).contains(&to)
}

/// Says that `count` words of so many bytes go from one address to another, in the order that is right where they overlap: whoever calls
/// this moves the bytes.
#[inline]
pub(crate) fn moved<T: Trace, S: Into<u16> + Copy>(
    trace: &mut T,
    sites: MoveSites<S>,
    (from, to): (u64, u64),
    count: usize,
    word_bytes: u16,
) {
    let backwards = goes_backwards(from, to, count as u64 * u64::from(word_bytes));
    trace.work(FIRST_TEST);
    trace.branch(sites.again, count > 0, Dep::NONE);
    for number in 0..count {
        let word = if backwards {
            count - 1 - number
        } else {
            number
        };
        let offset = (word * usize::from(word_bytes)) as u64;
        let token = trace.load(sites.load, from + offset, word_bytes, 1, Dep::NONE);
        trace.store(sites.store, to + offset, word_bytes, 1, token.after(0));
        trace.work(NEXT_WORD);
        trace.branch(sites.again, number + 1 < count, Dep::NONE);
    }
}
