use super::*;
use crate::relocated::Relocated;
use crate::tracer::{Dep, Token, Trace};
use std::ops::ControlFlow;
use std::sync::Mutex;
use traces::{Kind, Layout};

/// Each thread writes what it has, waits, and adds up what all have written; `rounds` times.
#[derive(Default)]
struct Sums {
    rounds: u64,
    /// Thread 0 waits so often more.
    lonely: u64,
    written: Mutex<Vec<u64>>,
}

impl Kernel for Sums {
    fn layout(&self) -> Layout {
        Layout::default()
    }

    fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
        let mut sum = 0;
        let mut before = Token::NONE;
        for round in 0..self.rounds {
            for _ in 0..u64::from(thread) * 700 {
                before = trace.load(thread as u16, 64, 4, 1, before.after(0));
            }
            self.written
                .lock()
                .expect("nobody waits with it")
                .push(round);
            trace.barrier();
            sum += self.written.lock().expect("nobody waits with it").len() as u64;
            trace.barrier();
        }
        (0..self.lonely)
            .filter(|_| thread == 0)
            .for_each(|_| trace.barrier());
        trace.load(thread as u16, 0, 4, 1, Dep::NONE);
        let mut outcome = Outcome::default();
        outcome.set("sum", sum);
        outcome
    }
}

fn sums(rounds: u64) -> Arc<Sums> {
    Arc::new(Sums {
        rounds,
        ..Sums::default()
    })
}

#[test]
fn what_is_written_before_a_barrier_is_read_behind_it() {
    let mut threads = begin(&sums(4), 3);
    let mut events: Vec<Event> = Vec::new();
    take_turns(&mut threads, None, |_, part| events.consume(part))
        .expect("all come to every barrier");
    let outcome = outcome(threads);
    // In each round all three see what three have added.
    assert_eq!(outcome.metrics["sum"], 3 * (3 + 6 + 9 + 12));
    let loads = events.iter().filter(|event| event.kind == Kind::Load);
    assert_eq!(loads.count(), 4 * (700 + 1400) + 3);
    assert_eq!(events.len(), 4 * (700 + 1400) + 3 + 3 * 2 * 4);
}

/// A dependence never reaches back over a barrier, where another thread's events lie.
#[test]
fn dependences_stay_between_barriers() {
    let mut events: Vec<Event> = Vec::new();
    take_turns(&mut begin(&sums(2), 3), None, |_, part| {
        events.consume(part)
    })
    .expect("all come to every barrier");
    for (place, event) in events.iter().enumerate() {
        let produced = place
            .checked_sub(event.dep as usize)
            .expect("within the trace");
        assert_eq!(events[produced].site, event.site, "event {place}");
    }
}

/// The next batch of a thread: how many events, and whether it ends at a barrier.
fn asked(thread: &mut Thread) -> (usize, bool) {
    let mut batch = Vec::new();
    thread.next_batch(&mut batch).expect("events");
    let last = batch.last().map(|last| last.kind);
    (batch.len(), last == Some(Kind::Barrier))
}

#[test]
fn threads_are_asked_in_any_order() {
    let kernel = sums(1);
    let mut threads = begin(&kernel, 3);
    // A full batch, and what is left before the barrier.
    assert_eq!(asked(&mut threads[2]), (1024, false));
    assert_eq!(asked(&mut threads[0]), (1, true));
    assert_eq!(kernel.written.lock().expect("nobody has it").len(), 1);
    assert_eq!(asked(&mut threads[2]), (1400 + 1 - 1024, true));
    assert_eq!(asked(&mut threads[1]), (701, true));
    assert_eq!(asked(&mut threads[1]), (1, true), "behind the barrier");
    // A thread that is dropped in the middle of its run leaves nothing behind.
    drop(threads);
    assert_eq!(Arc::strong_count(&kernel), 1);
}

/// A thread is at its barrier also where its structure lies in a larger address space.
#[test]
fn barriers_are_barriers_wherever_a_structure_lies() {
    struct Moved;
    impl Kernel for Moved {
        fn layout(&self) -> Layout {
            Layout::default()
        }

        fn run<T: Trace>(&self, _thread: u32, trace: &mut T) -> Outcome {
            let mut moved = Relocated::new(trace, 64, 1);
            moved.load(0_u16, 0, 4, 1, Dep::NONE);
            moved.barrier();
            moved.load(0_u16, 0, 4, 1, Dep::NONE);
            Outcome::default()
        }
    }
    let mut threads = begin(&Arc::new(Moved), 1);
    assert_eq!(asked(&mut threads[0]), (2, true));
    assert_eq!(asked(&mut threads[0]), (1, false));
}

#[test]
fn a_thread_that_ends_too_early_is_an_error() {
    let kernel = Arc::new(Sums {
        lonely: 1,
        ..Sums::default()
    });
    let mut events: Vec<Event> = Vec::new();
    let error = take_turns(&mut begin(&kernel, 2), None, |_, part| events.consume(part))
        .expect_err("one is alone");
    assert!(
        error
            .to_string()
            .starts_with("thread 0 waits at a barrier, but thread 1 has ended")
    );
}

#[test]
fn a_thread_can_be_stopped() {
    struct Endless;
    impl Kernel for Endless {
        fn layout(&self) -> Layout {
            Layout::default()
        }

        fn run<T: Trace>(&self, _thread: u32, _trace: &mut T) -> Outcome {
            loop {
                watch::step(1);
            }
        }
    }
    let _watch = watch::Watch::begin(Box::new(|_| ControlFlow::Break(())));
    let mut threads = begin(&Arc::new(Endless), 1);
    let error = threads[0]
        .next_batch(&mut Vec::new())
        .expect_err("it never ends");
    assert!(matches!(error, SinkError::Interrupted));
}

/// Each thread takes tickets from one roll, a batch or more of events for each, with barriers now and then.
struct Tickets {
    /// By thread: how many, and how many events each is worth.
    wanted: Vec<(u64, u64)>,
    /// Tickets between barriers; 0 for none.
    round: u64,
    roll: Mutex<u64>,
}

impl Kernel for Tickets {
    fn layout(&self) -> Layout {
        Layout::default()
    }

    fn renewed(&self) -> Option<Self> {
        Some(Self {
            wanted: self.wanted.clone(),
            roll: Mutex::default(),
            ..*self
        })
    }

    fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
        let (tickets, events) = self.wanted[thread as usize];
        for ticket in 0..tickets {
            if self.round > 0 && ticket % self.round == 0 {
                trace.barrier();
            }
            trace.wait_for_turn();
            let number = {
                let mut roll = self.roll.lock().expect("nobody waits with it");
                *roll += 1;
                *roll
            };
            for _ in 0..events {
                trace.load(thread as u16, number, 4, 1, Dep::NONE);
            }
        }
        Outcome::default()
    }
}

/// The tickets that each thread has got, if they are asked for batches in an order of their own.
fn tickets(
    wanted: &[(u64, u64)],
    round: u64,
    mut order: impl Iterator<Item = usize>,
) -> Vec<Vec<u64>> {
    let kernel = Arc::new(Tickets {
        wanted: wanted.to_vec(),
        round,
        roll: Mutex::default(),
    });
    let mut threads = begin(&kernel, wanted.len() as u32);
    let mut got = vec![Vec::new(); wanted.len()];
    let mut state = vec![Place::Runs; wanted.len()];
    while state.contains(&Place::Runs) {
        let thread = order.next().expect("without end") % wanted.len();
        if state[thread] != Place::Runs {
            continue;
        }
        let mut batch = Vec::new();
        threads[thread].next_batch(&mut batch).expect("events");
        let last = batch.last().map(|last| last.kind);
        let loads = batch.iter().filter(|event| event.kind == Kind::Load);
        got[thread].extend(loads.map(|load| load.address));
        state[thread] = match last {
            None => Place::Ended,
            Some(Kind::Barrier) => Place::Waits,
            Some(_) => Place::Runs,
        };
        if !state.contains(&Place::Runs) {
            let waiting = state.iter_mut().filter(|state| **state == Place::Waits);
            waiting.for_each(|state| *state = Place::Runs);
        }
    }
    got.iter_mut().for_each(Vec::dedup);
    got
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Runs,
    Waits,
    Ended,
}

#[test]
fn turns_come_in_one_order_whoever_is_asked() {
    // Three threads, of which one is done early and one says a lot.
    let wanted = [(4, 3), (2, 5000), (5, 1)];
    let expected = [vec![1, 4, 7, 9], vec![2, 5], vec![3, 6, 8, 10, 11]];
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 2, 1]] {
        let mixed = order.into_iter().chain([0, 1, 2]).cycle();
        assert_eq!(tickets(&wanted, 0, mixed), expected, "{order:?}");
    }
    // One after the other, as far as each goes.
    let alone = (0..3)
        .flat_map(|thread| std::iter::repeat_n(thread, 100))
        .cycle();
    assert_eq!(tickets(&wanted, 0, alone), expected);
}

/// Behind a barrier the first turn is that of the first thread, though another has had fewer.
#[test]
fn turns_begin_anew_behind_a_barrier() {
    let wanted = [(2, 1), (2, 2000), (2, 1)];
    let expected = [vec![1, 4], vec![2, 5], vec![3, 6]];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        assert_eq!(tickets(&wanted, 1, order.into_iter().cycle()), expected);
    }
}

/// A run begins with new data, and what is not asked for any more is dropped.
#[test]
fn every_run_has_a_roll_of_its_own() {
    let kernel = Arc::new(Tickets {
        wanted: vec![(3, 1); 2],
        round: 0,
        roll: Mutex::default(),
    });
    let first = |threads: &mut [Thread]| {
        let mut batch = Vec::new();
        threads[1].next_batch(&mut batch).expect("events");
        batch.first().expect("an event").address
    };
    let mut threads = begin(&kernel, 2);
    assert_eq!(first(&mut threads), 2);
    let mut others = begin(&kernel, 2);
    assert_eq!(first(&mut others), 2);
    drop(threads);
    assert_eq!(Arc::strong_count(&kernel), 1);
}
