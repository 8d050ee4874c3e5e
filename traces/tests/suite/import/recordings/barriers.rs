//! Barriers of all threads, and of some: also where recordings have no times, as those of the first version.

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
const ALL_MEET: (Kind, u64) = (Kind::Barrier, 0);

#[test]
fn threads_wait_for_those_that_come_to_their_barrier() {
    let (threads, report) = threads_of(&[meets(0), meets(2), meets(2)]);
    assert_eq!(report.warnings, [""; 0]);
    assert_eq!(threads[0], [ALL_MEET, LOADED]);
    for (own, other) in [(1, 2), (2, 1)] {
        let mut expected = vec![(Kind::Latch, meeting(own, 0)), ALL_MEET, LOADED];
        for round in 0..2 {
            expected.push((Kind::Latch, meeting(own, round + 1)));
            expected.push((Kind::Unlatch, meeting(own, round)));
            expected.extend(waits(meeting(other, round)));
        }
        expected.push((Kind::Unlatch, meeting(own, 2)));
        assert_eq!(threads[own as usize], expected);
    }
    let (threads, _) = threads_of(&[meets(2), meets(2)]);
    assert_eq!(threads, [[LOADED, ALL_MEET, ALL_MEET]; 2], "all threads");
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
    assert_eq!(threads[0], [ALL_MEET, LOADED], "before all begin");
    let mut expected = vec![(Kind::Latch, meeting(1, 0)), ALL_MEET];
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

/// A thread that comes to the barrier at A and goes on at these times, with a load behind each.
fn meets_at(times: &[(u64, u64)]) -> Vec<u8> {
    let mut bytes = begun();
    for &(came, left) in times {
        add(&mut bytes, A, came, MEET << 56 | 0x403);
        add(&mut bytes, A, left, MET << 56 | 0x403);
        add_load(&mut bytes, 0x500, 0);
    }
    bytes
}

#[test]
fn a_barrier_that_is_used_again_is_of_those_that_come_then() {
    let recordings = [
        meets_at(&[(1, 4), (11, 14)]),
        meets_at(&[(2, 3)]),
        meets_at(&[(12, 13)]),
    ];
    let (threads, report) = threads_of(&recordings);
    assert_eq!(report.warnings, [""; 0]);
    for choices in [[0], [1], [2]] {
        assert!(all_end(&threads, &choices), "{threads:?}");
    }
    let waits = |thread: usize| {
        let events = threads[thread].iter();
        events.filter(|event| event.0 == Kind::ShareLatch).count()
    };
    assert_eq!([waits(0), waits(1), waits(2)], [2, 1, 1]);
    let (threads, _) = threads_of(&[meets_at(&[(1, 4), (5, 8)]), meets_at(&[(2, 3), (6, 7)])]);
    assert_eq!(
        threads,
        [[ALL_MEET, LOADED, ALL_MEET, LOADED]; 2],
        "all threads"
    );
}

#[test]
fn barriers_that_are_said_unequally_often_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let says = |name: &str, times: usize| {
        let mut bytes = begun();
        (0..times).for_each(|_| add_message(&mut bytes, "barrier"));
        add_load(&mut bytes, 0x500, 0);
        file(&folder, name, &ended(bytes, 0))
    };
    let files = [says("a", 2), says("b", 3), says("c", 0)];
    let refused = import_threads(&[&files[0], &files[1], &files[2]])
        .unwrap_err()
        .to_string();
    for (name, times) in [("a", 2), ("b", 3)] {
        let path = folder.path().join(name);
        assert!(
            refused.contains(&format!("{}: {times} times", path.display())),
            "{refused}"
        );
    }
    assert!(import_threads(&[&files[0], &files[2]]).is_ok());
}
