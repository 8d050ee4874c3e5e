//! Barriers of all threads, and of some.

use super::*;

/// The latch of a thread at a barrier, the first of the program, for the next time.
fn meeting(thread: u64, round: u64) -> u64 {
    (1 << 63) + thread * 3 + round % 3
}

/// A thread that loads something, and comes to a barrier so often.
fn meets(times: u64) -> Vec<u8> {
    let mut bytes = begun();
    add_load(&mut bytes, 0x500, 0);
    for _ in 0..times {
        add(&mut bytes, A, 0, MEET << 56 | 0x403);
    }
    bytes
}

const LOADED: (Kind, u64) = (Kind::Load, 0x500);
const MET: (Kind, u64) = (Kind::Barrier, 0);

#[test]
fn threads_wait_for_those_that_come_to_their_barrier() {
    let (threads, report) = threads_of(&[meets(0), meets(2), meets(2)]);
    assert_eq!(report.warnings, [""; 0]);
    assert_eq!(threads[0], [MET, LOADED]);
    for (own, other) in [(1, 2), (2, 1)] {
        let mut expected = vec![(Kind::Latch, meeting(own, 0)), MET, LOADED];
        for round in 0..2 {
            expected.push((Kind::Latch, meeting(own, round + 1)));
            expected.push((Kind::Unlatch, meeting(own, round)));
            expected.extend(waits(meeting(other, round)));
        }
        expected.push((Kind::Unlatch, meeting(own, 2)));
        assert_eq!(threads[own as usize], expected);
    }
    let (threads, _) = threads_of(&[meets(2), meets(2)]);
    assert_eq!(threads, [[LOADED, MET, MET]; 2], "all threads");
    let (threads, report) = threads_of(&[meets(2), meets(1)]);
    assert_eq!(threads, [[LOADED]; 2]);
    assert!(
        report.warnings[0].contains("nobody waits at 1 barriers, that at 0x11000 among them"),
        "{:?}",
        report.warnings
    );
}

#[test]
fn who_never_says_barrier_is_not_waited_for() {
    let mut bytes = begun();
    add_message(&mut bytes, "barrier");
    let (threads, _) = threads_of(&[meets(0), bytes.clone(), bytes]);
    assert_eq!(threads[0], [MET, LOADED], "before all begin");
    let mut expected = vec![(Kind::Latch, meeting(1, 0)), MET];
    expected.extend([(Kind::Latch, meeting(1, 1)), (Kind::Unlatch, meeting(1, 0))]);
    expected.extend(waits(meeting(2, 0)));
    expected.push((Kind::Unlatch, meeting(1, 1)));
    assert_eq!(threads[1], expected);
}

#[test]
fn at_a_barrier_a_thread_holds_no_lock() {
    let mut first = begun();
    add_taken(&mut first, LATCH, A);
    add(&mut first, B, 0, MEET << 56);
    let mut other = begun();
    add(&mut other, B, 0, MEET << 56);
    let (threads, _) = threads_of(&[first, other]);
    let expected = [
        (Kind::Latch, A),
        (Kind::Exchange, A),
        (Kind::Unlatch, A),
        (Kind::Barrier, 0),
        (Kind::Latch, A),
        (Kind::Unlatch, A),
    ];
    assert_eq!(threads[0], expected);
}
