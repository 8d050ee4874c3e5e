//! The two pointer microbenchmarks with memory behind their lines.

use super::lines::Lines;
use crate::arena::{Arena, Word};
use crate::native::Native;
use crate::native::TIMED_PHASE;
use crate::tracer::{Dep, Trace};
use std::hint::black_box;
use traces::Segment;

/// Number of the segment that the lines are in, behind that of the pointers to them.
const LINES: usize = 1;

/// An arena with room for an array of `words` and the lines behind it.
fn arena(lines: &Lines, array: Segment) -> Arena {
    let segments = vec![array, lines.segment.clone()];
    let sizes = [0, LINES].map(|segment| segments[segment].size_bytes as usize);
    let mut arena = Arena::new(segments);
    for (segment, size_bytes) in sizes.into_iter().enumerate() {
        arena.allocate(segment, size_bytes);
    }
    arena
}

/// Reads the unlisted line of every page, and so its translation.
fn warm_tlb<W: Word>(lines: &Lines, arena: &Arena) {
    for &address in &lines.unlisted {
        black_box(arena.read::<W>(LINES, address));
    }
}

/// Follows the chain through all lines: once from empty caches if `laps` is 0; otherwise `laps` times after once that
/// is not timed.
pub(crate) fn chase<W: Word>(lines: &Lines, laps: u32, native: &mut Native<'_>) {
    let nothing = Segment {
        name: String::new(),
        base: 0,
        size_bytes: 0,
    };
    let mut arena = arena(lines, nothing);
    let addresses = &lines.addresses;
    for (index, &address) in addresses.iter().enumerate() {
        let next = addresses[(index + 1) % addresses.len()];
        arena.write(LINES, address, W::from_u64(next));
    }
    for &address in &lines.unlisted {
        arena.write(LINES, address, W::from_u64(0));
    }
    // Goes on from where it is given, so that laps cannot overlap.
    let visit = |from: u64| {
        let back =
            (0..addresses.len()).fold(from, |address, _| arena.read::<W>(LINES, address).to_u64());
        assert_eq!(back, from, "the chain is a circle");
        back
    };
    let mut address = addresses[0];
    if laps == 0 {
        native.flush();
        warm_tlb::<W>(lines, &arena);
    } else {
        address = visit(address);
    }
    native.mark(TIMED_PHASE);
    for _ in 0..laps.max(1) {
        address = visit(address);
    }
    black_box(address);
    native.end();
}

/// Visits all lines through the array of pointers in segment `array`, from empty caches, `distance` lines ahead.
pub(crate) fn visit_array<W: Word>(
    lines: &Lines,
    array: Segment,
    distance: usize,
    native: &mut Native<'_>,
) {
    let element = |index: usize| array.base + (index * W::BYTES) as u64;
    let count = lines.addresses.len();
    let mut arena = arena(lines, array.clone());
    for (index, &address) in lines.addresses.iter().enumerate() {
        arena.write(0, element(index), W::from_u64(address));
        arena.write(LINES, address, W::from_u64(index as u64));
    }
    for &address in &lines.unlisted {
        arena.write(LINES, address, W::from_u64(0));
    }
    native.settle(arena.origin());
    native.flush();
    for index in 0..count {
        black_box(arena.read::<W>(0, element(index)));
    }
    warm_tlb::<W>(lines, &arena);
    native.mark(TIMED_PHASE);
    for ahead in 0..distance {
        native.prefetch(
            0_u16,
            arena.read::<W>(0, element(ahead)).to_u64(),
            Dep::NONE,
        );
    }
    let mut sum = 0;
    for index in 0..count {
        if distance > 0 && index + distance < count {
            let ahead = arena.read::<W>(0, element(index + distance));
            native.prefetch(0_u16, ahead.to_u64(), Dep::NONE);
        }
        let address = arena.read::<W>(0, element(index)).to_u64();
        sum += arena.read::<W>(LINES, address).to_u64();
    }
    native.end();
    let count = count as u64;
    assert_eq!(sum, count * (count - 1) / 2, "every line was read once");
}
