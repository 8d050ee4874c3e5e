//! Handlers that are taken and free, and gaps between misses.

use super::*;
use crate::memory::{FixedMemory, Writes};
use crate::spec::Interval;

const LATENCY: u32 = 250;
/// A line that comes from memory, if it does.
const READ: (u64, Transfer) = (0, Transfer::Read);

fn fixed() -> Memory {
    Memory::Fixed(FixedMemory::new(
        LATENCY,
        Interval::of_cycles(15),
        Writes::Bus,
    ))
}

/// From when on a handler is free at or after each of the cycles.
fn starts<const N: usize>(mshrs: &Mshrs, times: [u64; N]) -> [u64; N] {
    times.map(|time| {
        mshrs
            .clone()
            .acquire(READ, Claim::ahead(time, 0), &mut fixed())
            .start
    })
}

#[test]
fn a_full_file_waits_for_the_first_completion() {
    let (mut mshrs, memory) = (Mshrs::new(2, 1), &mut fixed());
    for (time, until) in [(0, 250), (1, 100)] {
        let handler = mshrs.acquire(READ, Claim::ahead(time, 0), memory);
        assert_eq!(handler.start, time);
        mshrs.hold(handler, MissEnd::new(until, 3), None);
    }
    // One cycle early waits, and a register is free in the very cycle in which its miss completes.
    assert_eq!(starts(&mshrs, [99, 100]), [100, 100]);
    assert_eq!(mshrs.drained(memory), 250);
}

#[test]
fn a_register_that_is_taken_later_is_free_until_then() {
    let (mut mshrs, memory) = (Mshrs::new(1, 1), &mut fixed());
    let later = mshrs.acquire(READ, Claim::ahead(600, 0), memory);
    mshrs.hold(later, MissEnd::new(850, 3), None);
    assert_eq!(starts(&mshrs, [0, 350, 351, 600]), [0, 350, 850, 850]);
    assert!(
        mshrs
            .clone()
            .acquire_free(0, Claim::ahead(350, 0), memory)
            .is_some()
    );
    assert!(
        mshrs
            .clone()
            .acquire_free(0, Claim::ahead(351, 0), memory)
            .is_none()
    );
    // What is left behind a miss in the gap is free.
    let between = mshrs.acquire(READ, Claim::ahead(20, 0), memory);
    mshrs.hold(between, MissEnd::new(100, 3), None);
    assert_eq!(starts(&mshrs, [0, 100, 350, 351]), [100, 100, 350, 850]);
}

/// One register is free from cycle 100 on, and the other from cycle 300 to 600.
#[test]
fn a_register_that_is_free_for_good_is_taken_before_a_later_gap() {
    let (mut mshrs, memory) = (Mshrs::new(2, 1), &mut fixed());
    for (time, until) in [(0, 300), (0, 100), (600, 850)] {
        let handler = mshrs.acquire(READ, Claim::ahead(time, 0), memory);
        mshrs.hold(handler, MissEnd::new(until, 3), None);
    }
    assert_eq!(starts(&mshrs, [50, 100]), [100, 100]);
    let mut is_free = |time| {
        mshrs
            .clone()
            .acquire_free(0, Claim::ahead(time, 0), memory)
            .is_some()
    };
    assert_eq!([50, 99, 100].map(&mut is_free), [false, false, true]);
    let taken = mshrs.acquire(READ, Claim::ahead(100, 0), &mut fixed());
    mshrs.hold(taken, MissEnd::new(2000, 3), None);
    let mut is_free = |time| {
        mshrs
            .clone()
            .acquire_free(0, Claim::ahead(time, 0), memory)
            .is_some()
    };
    assert_eq!([200, 299, 300].map(&mut is_free), [false, false, true]);
}

#[test]
fn a_gap_that_is_just_long_enough_is_kept() {
    let (mut mshrs, memory) = (Mshrs::new(1, 1), &mut fixed());
    let later = mshrs.acquire(READ, Claim::ahead(u64::from(LATENCY), 0), memory);
    mshrs.hold(later, MissEnd::new(500, 3), None);
    assert_eq!(starts(&mshrs, [0, 1]), [0, 500]);
}

#[test]
fn a_miss_in_a_gap_that_takes_longer_is_waited_for_at_the_end() {
    let (mut mshrs, memory) = (Mshrs::new(1, 1), &mut fixed());
    let later = mshrs.acquire(READ, Claim::ahead(600, 0), memory);
    mshrs.hold(later, MissEnd::new(850, 3), None);
    let between = mshrs.acquire(READ, Claim::ahead(20, 0), memory);
    mshrs.hold(between, MissEnd::new(900, 3), None);
    assert_eq!(mshrs.drained(memory), 900);
    assert_eq!(starts(&mshrs, [20]), [850]);
}

#[test]
fn gaps_of_the_past_are_forgotten() {
    let (mut mshrs, memory) = (Mshrs::new(2, 1), &mut fixed());
    for now in (0..100_000).step_by(1000) {
        let handler = mshrs.acquire(READ, Claim::ahead(now + 500, now), memory);
        mshrs.hold(handler, MissEnd::new(now + 750, 3), None);
    }
    assert!(mshrs.gaps.len() <= 2, "{:?}", mshrs.gaps);
}
