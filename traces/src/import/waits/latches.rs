//! Latches that stand for what is no lock of the program: at addresses where no program has anything.

use super::Step;
use crate::event::Kind;
use crate::store::MOST_THREADS;

/// Addresses from here on are no program's.
const FIRST: u64 = 1 << 63;
/// Those of signals.
const SIGNALS: u64 = 3 << 62;
/// Signals of a thread have so many of them.
const SIGNALS_OF_THREAD: u64 = 1 << 40;
/// Latches that a thread has at a barrier, in turn.
const ROUNDS: u64 = 3;

/// That of a thread's beginning.
pub(super) fn beginning(thread: usize) -> u64 {
    u64::MAX - 2 * thread as u64
}

/// That of a thread's end.
pub(super) fn end(thread: usize) -> u64 {
    beginning(thread) - 1
}

/// That which a thread holds until it has come to a barrier so often, and once more.
pub(super) fn arrival(barrier: u64, thread: usize, round: u64) -> u64 {
    FIRST + (barrier * u64::from(MOST_THREADS) + thread as u64) * ROUNDS + round % ROUNDS
}

/// That of a signal that is waited for, before which the thread has given so many others.
pub(super) fn signal(thread: usize, before: u64) -> u64 {
    SIGNALS + thread as u64 * SIGNALS_OF_THREAD + before
}

/// Waits until a latch has been released.
pub(super) fn wait_for(latch: u64) -> [Step; 2] {
    [(Kind::ShareLatch, latch), (Kind::Unlatch, latch)]
}
