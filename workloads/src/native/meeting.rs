//! Where the threads of a native run meet.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::yield_now;

/// How often who waits looks before it lets others have its processor, which nobody wants if each thread has one.
const LOOKS: u32 = 1000;

/// The barrier of the threads of one run. Unlike the standard library's, it lets everybody go when one of them stops, and who waits looks again
/// and again: threads that are woken go on tens of microseconds apart.
#[derive(Debug)]
pub(super) struct Meeting {
    threads: u32,
    state: Mutex<State>,
    /// How often those who wait were let go.
    releases: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    waiting: u32,
    ended: u32,
    stopped: bool,
    alone: bool,
}

impl Meeting {
    pub(super) fn of(threads: u32) -> Self {
        Self {
            threads,
            state: Mutex::default(),
            releases: AtomicU64::new(0),
        }
    }

    /// Whether there is nobody to meet.
    pub(super) fn is_alone(&self) -> bool {
        self.threads == 1
    }

    /// Waits until all threads are here; says whether they are. If not, nobody will come any more.
    pub(super) fn wait(&self) -> bool {
        let mut state = self.state();
        // Nobody is let go while this thread has the state.
        let before = self.releases.load(Ordering::Acquire);
        state.waiting += 1;
        self.look(&mut state);
        let stopped = state.stopped;
        drop(state);
        let mut looks = 0;
        while !stopped && self.releases.load(Ordering::Acquire) == before {
            if looks < LOOKS {
                looks += 1;
                spin_loop();
            } else {
                yield_now();
            }
        }
        !self.is_stopped()
    }

    /// Lets those go who wait.
    fn release(&self) {
        self.releases.fetch_add(1, Ordering::Release);
    }

    /// Nobody need wait for this thread any more: its run is over, or it panics.
    fn leave(&self) {
        let mut state = self.state();
        state.ended += 1;
        if std::thread::panicking() {
            state.stopped = true;
            self.release();
        }
        self.look(&mut state);
    }

    /// Sees whether all have met, or cannot any more.
    fn look(&self, state: &mut State) {
        if state.waiting == 0 || state.waiting + state.ended < self.threads {
            return;
        }
        if state.ended == 0 {
            state.waiting = 0;
        } else {
            state.alone |= !state.stopped;
            state.stopped = true;
        }
        self.release();
    }

    /// Has all threads stop at their next barrier, or when they look.
    pub(super) fn stop(&self) {
        self.state().stopped = true;
        self.release();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    /// Whether some came to a barrier after others had ended.
    pub(super) fn was_missed(&self) -> bool {
        self.state().alone
    }

    /// Leaves the meeting when it is dropped, be it by a panic.
    pub(super) fn join(&self) -> Member<'_> {
        Member(self)
    }

    /// A panic of another thread leaves the state as it was.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that others wait for.
pub(super) struct Member<'m>(&'m Meeting);

impl Drop for Member<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    /// Runs `body` for each of so many threads that meet.
    fn with(threads: u32, body: impl Fn(u32, &Meeting) + Sync) -> Meeting {
        let meeting = Meeting::of(threads);
        std::thread::scope(|scope| {
            for number in 0..threads {
                let (meeting, body) = (&meeting, &body);
                scope.spawn(move || {
                    let _member = meeting.join();
                    body(number, meeting);
                });
            }
        });
        meeting
    }

    #[test]
    fn nobody_goes_on_before_all_are_there() {
        let came = AtomicU32::new(0);
        let meeting = with(4, |_, meeting| {
            for round in 1..=100 {
                came.fetch_add(1, SeqCst);
                assert!(meeting.wait());
                assert_eq!(came.load(SeqCst), 4 * round);
                assert!(meeting.wait());
            }
        });
        assert!(!meeting.was_missed() && !meeting.is_stopped());
    }

    #[test]
    fn who_waits_for_nobody_is_let_go() {
        let meeting = with(3, |number, meeting| {
            if number < 2 {
                assert!(!meeting.wait());
            }
        });
        assert!(meeting.was_missed());
    }

    #[test]
    fn one_stops_all() {
        let meeting = with(3, |number, meeting| match number {
            0 => meeting.stop(),
            _ => assert!(!meeting.wait()),
        });
        assert!(meeting.is_stopped() && !meeting.was_missed());
    }

    #[test]
    fn a_panic_lets_the_others_go() {
        let meeting = Meeting::of(2);
        std::thread::scope(|scope| {
            let panics = scope.spawn(|| {
                let _member = meeting.join();
                panic!("on purpose");
            });
            let _member = meeting.join();
            assert!(!meeting.wait());
            assert!(panics.join().is_err());
        });
        assert!(!meeting.was_missed());
    }
}
