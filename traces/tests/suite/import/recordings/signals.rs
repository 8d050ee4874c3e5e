//! Conditions that threads signal and wait for.

use super::*;

/// The latch of a thread's signal, before which so many others were waited for.
fn signal(thread: u64, before: u64) -> u64 {
    (3 << 62) + (thread << 40) + before
}

#[test]
fn who_is_woken_waits_for_the_signal_before() {
    let mut first = begun();
    add_load(&mut first, 0x500, 0);
    for when in [0, 2, 5, 9] {
        add_condition(&mut first, SIGNAL, when);
    }
    let mut other = begun();
    add_taken(&mut other, LATCH, A);
    for when in [3, 6] {
        // Its own signal wakes somebody else.
        add_condition(&mut other, SIGNAL, when - 1);
        add_condition(&mut other, WAKE, when);
    }
    let (threads, _) = threads_of(&[first, other]);
    let wanted = [signal(0, 0), signal(0, 1)];
    assert_eq!(
        threads[0],
        [
            (Kind::Latch, wanted[0]),
            (Kind::Latch, wanted[1]),
            (Kind::Barrier, 0),
            (Kind::Load, 0x500),
            (Kind::Unlatch, wanted[0]),
            (Kind::Unlatch, wanted[1]),
        ]
    );
    let mut expected = vec![(Kind::Barrier, 0), (Kind::Latch, A), (Kind::Exchange, A)];
    for latch in wanted {
        // The other may want what this one holds.
        expected.push((Kind::Unlatch, A));
        expected.extend(waits(latch));
        expected.push((Kind::Latch, A));
    }
    expected.push((Kind::Unlatch, A));
    assert_eq!(threads[1], expected);
}

#[test]
fn who_is_woken_by_nobody_goes_on() {
    let mut first = begun();
    add_load(&mut first, 0x500, 0);
    add_condition(&mut first, SIGNAL, 8);
    let mut other = begun();
    add_condition(&mut other, WAKE, 3);
    let (threads, _) = threads_of(&[first, other]);
    assert_eq!(threads, [vec![(Kind::Load, 0x500)], vec![]]);
}

#[test]
fn a_signal_that_a_broken_recording_lacks_is_not_waited_for() {
    let mut first = begun();
    add_load(&mut first, 0x500, 0);
    add_condition(&mut first, SIGNAL, 1);
    let mut other = begun();
    add_condition(&mut other, WAKE, 2);
    add_condition(&mut other, WAKE, 4);
    let (threads, _) = threads_of(&[first, other]);
    let mut expected = vec![(Kind::Barrier, 0)];
    // Both times it is the first, which was given when the thread goes on.
    expected.extend(waits(signal(0, 0)));
    assert_eq!(threads[1], expected);
}
