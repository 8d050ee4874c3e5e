//! Work that leaves no events (building a tree, filling pages, drawing keys): whoever waits for it hears how far it is, and may
//! stop it at any step.
//!
//! A stop unwinds the stack up to [`stoppable`]: kernels and builders are deep, and none of them has anything to put in order.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Steps between two reports: some thousandths of a second.
const INTERVAL: u64 = 1 << 16;

/// Bytes that are copied between two reports.
pub(crate) const BYTES_PER_LOOK: usize = 64 << 20;

/// Takes the steps done so far, and says whether to go on.
pub type Heard = Box<dyn FnMut(u64) -> ControlFlow<()>>;

thread_local! {
    static HEARD: RefCell<Option<Heard>> = const { RefCell::new(None) };
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static NEXT: Cell<u64> = const { Cell::new(INTERVAL) };
}

/// Whoever hears of this thread's work; until it is dropped.
pub struct Watch {
    before: Option<Heard>,
    steps_before: u64,
}

impl Watch {
    /// Has `heard` called now and then, with the steps that this thread does from now on.
    #[must_use]
    pub fn begin(heard: Heard) -> Self {
        NEXT.set(INTERVAL);
        Self {
            before: HEARD.replace(Some(heard)),
            steps_before: STEPS.replace(0),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        HEARD.set(self.before.take());
        STEPS.set(self.steps_before);
        NEXT.set(self.steps_before + INTERVAL);
    }
}

/// The work was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Does work that may be stopped.
///
/// # Errors
/// It was.
pub fn stoppable<T>(work: impl FnOnce() -> T) -> Result<T, Stopped> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|thrown| {
        if thrown.is::<Stopped>() {
            Stopped
        } else {
            resume_unwind(thrown)
        }
    })
}

/// Ends the work of the nearest [`stoppable`].
#[cold]
pub(crate) fn stop() -> ! {
    resume_unwind(Box::new(Stopped))
}

/// Does work that somebody watches who stops it as soon as it looks; else what it comes to.
#[cfg(test)]
pub(crate) fn stopped<T>(work: impl FnOnce() -> T) -> Result<T, Stopped> {
    let _watch = Watch::begin(Box::new(|_| ControlFlow::Break(())));
    stoppable(work)
}

/// So many more steps are done: about as many as [`crate::Work::building`] foresees.
#[inline]
pub(crate) fn step(steps: u64) {
    let done = STEPS.get() + steps;
    STEPS.set(done);
    if done >= NEXT.get() {
        NEXT.set(done + INTERVAL);
        look();
    }
}

/// Work goes on that nobody counts.
#[cold]
#[inline(never)]
pub(crate) fn look() {
    // Taken out while it hears: it may begin to watch in its turn.
    let Some(mut heard) = HEARD.take() else {
        return;
    };
    let flow = heard(STEPS.get());
    HEARD.set(Some(heard));
    if flow.is_break() {
        stop();
    }
}

/// Calls [`look`] every so often in a long loop; `number` counts its rounds.
#[inline]
pub(crate) fn look_at(number: u64) {
    if number.is_multiple_of(INTERVAL) {
        look();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn work_is_heard_of_and_stopped() {
        let last = Rc::new(Cell::new(0));
        let told = Rc::clone(&last);
        let _watch = Watch::begin(Box::new(move |steps| {
            told.set(steps);
            if steps < 10 * INTERVAL {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        }));
        let endless = || -> u64 {
            loop {
                step(100);
            }
        };
        assert_eq!(stoppable(endless), Err(Stopped));
        assert!((10 * INTERVAL..11 * INTERVAL).contains(&last.get()));
        assert_eq!(stoppable(|| 7), Ok(7));
    }

    #[test]
    fn a_panic_stays_a_panic() {
        let panicked = catch_unwind(|| stoppable(|| panic!("a defect")));
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"a defect"));
    }

    #[test]
    fn nobody_need_listen() {
        assert_eq!(stoppable(|| (0..3 * INTERVAL).for_each(step)), Ok(()));
    }
}
