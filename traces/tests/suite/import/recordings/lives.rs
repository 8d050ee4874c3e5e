//! Threads that begin others and wait for their ends.

use super::*;

/// The latches of a thread's beginning and end.
fn life(thread: u64) -> (u64, u64) {
    (u64::MAX - 2 * thread, u64::MAX - 2 * thread - 1)
}

#[test]
fn a_thread_begins_when_another_begins_it_and_is_waited_for() {
    let mut first = begun_as(100);
    add_load(&mut first, 0x500, 0);
    add_thread(&mut first, BEGIN, 200);
    add_taken(&mut first, LATCH, A);
    add_thread(&mut first, AWAIT, 200);
    add_load(&mut first, 0x508, 0);
    let mut second = begun_as(200);
    add_load(&mut second, 0x600, 0);
    let (threads, report) = threads_of(&[first, second]);
    let (beginning, end) = life(1);
    let mut expected = vec![
        (Kind::Latch, beginning),
        (Kind::Barrier, 0),
        (Kind::Load, 0x500),
        (Kind::Unlatch, beginning),
        (Kind::Latch, A),
        (Kind::Exchange, A),
        // The other may want what this one holds.
        (Kind::Unlatch, A),
    ];
    expected.extend(waits(end));
    expected.extend([(Kind::Latch, A), (Kind::Load, 0x508), (Kind::Unlatch, A)]);
    assert_eq!(threads[0], expected);
    let mut expected = vec![(Kind::Latch, end), (Kind::Barrier, 0), (Kind::Mark, 1)];
    expected.extend(waits(beginning));
    expected.extend([(Kind::Mark, 0), (Kind::Load, 0x600), (Kind::Unlatch, end)]);
    assert_eq!(threads[1], expected);
    assert_eq!(report.layout.phases, ["imported", "not begun"]);
}

#[test]
fn threads_that_are_called_alike_are_begun_in_their_order() {
    let mut first = begun_as(100);
    for place in [0x500, 0x508] {
        add_thread(&mut first, BEGIN, 200);
        add_load(&mut first, place, 0);
        add_thread(&mut first, AWAIT, 200);
    }
    let (threads, _) = threads_of(&[first, begun_as(200), begun_as(200)]);
    let ((one, one_ends), (other, other_ends)) = (life(1), life(2));
    let mut expected = vec![(Kind::Latch, one), (Kind::Latch, other), (Kind::Barrier, 0)];
    expected.extend([(Kind::Unlatch, one), (Kind::Load, 0x500)]);
    expected.extend(waits(one_ends));
    expected.extend([(Kind::Unlatch, other), (Kind::Load, 0x508)]);
    expected.extend(waits(other_ends));
    assert_eq!(threads[0], expected);
}

#[test]
fn a_thread_that_is_left_out_begins_others_nevertheless() {
    let mut first = begun_as(100);
    add_message(&mut first, "off");
    add_thread(&mut first, BEGIN, 200);
    add_message(&mut first, "on");
    add_load(&mut first, 0x500, 0);
    // Of this one there is no recording.
    add_thread(&mut first, BEGIN, 300);
    add_thread(&mut first, AWAIT, 300);
    let (threads, report) = threads_of(&[first.clone(), begun_as(200)]);
    let missing = "1 of the threads that the program begins have no file here";
    assert!(
        report.warnings[0].starts_with(missing),
        "{:?}",
        report.warnings
    );
    let (_, all) = threads_of(&[first, begun_as(200), begun_as(300)]);
    assert_eq!(all.warnings, [""; 0]);
    let (beginning, _) = life(1);
    let expected = [
        (Kind::Latch, beginning),
        (Kind::Barrier, 0),
        (Kind::Unlatch, beginning),
        (Kind::Load, 0x500),
    ];
    assert_eq!(threads[0], expected);
}

#[test]
fn all_have_begun_when_a_thread_waits_for_all() {
    let mut first = begun_as(100);
    add_message(&mut first, "barrier");
    add_thread(&mut first, BEGIN, 200);
    add_load(&mut first, 0x500, 0);
    let mut second = begun_as(200);
    add_message(&mut second, "barrier");
    let (threads, _) = threads_of(&[first, second]);
    let (beginning, _) = life(1);
    let expected = [
        (Kind::Latch, beginning),
        (Kind::Barrier, 0),
        (Kind::Unlatch, beginning),
        (Kind::Barrier, 0),
        (Kind::Load, 0x500),
    ];
    assert_eq!(threads[0], expected);
}

#[test]
fn who_is_said_to_begin_himself_or_never_to_begin_begins_at_once() {
    let mut first = begun_as(100);
    add_thread(&mut first, BEGIN, 100);
    add_load(&mut first, 0x500, 0);
    add_thread(&mut first, AWAIT, 100);
    let (threads, _) = threads_of(&[first, begun_as(200)]);
    assert_eq!(threads, [vec![(Kind::Load, 0x500)], vec![]]);
}
