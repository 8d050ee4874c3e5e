//! All that threads wait for, together: a program that came to its end does so in any replay.

use super::*;
use proptest::prelude::*;

const THREADS: usize = 3;
const LOCKS: u64 = 3;

/// What a thread tries, if it can, in a run of the program.
#[derive(Clone, Debug)]
enum Deed {
    Take(u64),
    Release(u64),
    Signal,
    Wake,
    /// Two threads or all come to a barrier: that of all, of two, or one that is of others each time.
    Meet(u64),
    /// The first begins another.
    Begin(usize),
}

fn deed() -> impl Strategy<Value = (usize, Deed)> {
    let lock = || 0..LOCKS;
    let deed = prop_oneof![
        4 => lock().prop_map(Deed::Take),
        3 => lock().prop_map(Deed::Release),
        2 => Just(Deed::Signal),
        2 => Just(Deed::Wake),
        1 => (0..3_u64).prop_map(Deed::Meet),
        3 => (1..THREADS).prop_map(Deed::Begin),
    ];
    (0..THREADS, deed)
}

/// A run, and what it records.
struct Run {
    recordings: Vec<Vec<u8>>,
    holders: [Option<usize>; LOCKS as usize],
    begun: [bool; THREADS],
    /// Who has signalled, and how many records of the condition there are.
    signalled: Vec<usize>,
    now: u64,
    /// Whether barriers have times.
    has_times: bool,
}

impl Run {
    fn new(has_times: bool) -> Self {
        Self {
            recordings: (0..THREADS as u64)
                .map(|thread| begun_as(100 + thread))
                .collect(),
            holders: [None; LOCKS as usize],
            begun: [true, false, false],
            signalled: Vec::new(),
            now: 1,
            has_times,
        }
    }

    fn does(&mut self, thread: usize, deed: &Deed) {
        let own = &mut self.recordings[thread];
        match *deed {
            _ if !self.begun[thread] => {}
            Deed::Take(lock) if self.holders[lock as usize].is_none() => {
                self.holders[lock as usize] = Some(thread);
                add_taken(own, LATCH, A + 64 * lock);
            }
            Deed::Release(lock) if self.holders[lock as usize] == Some(thread) => {
                self.holders[lock as usize] = None;
                add_released(own, A + 64 * lock);
            }
            Deed::Signal => {
                self.signalled.push(thread);
                add_condition(own, SIGNAL, self.now);
                self.now += 1;
            }
            Deed::Wake if self.signalled.iter().any(|&other| other != thread) => {
                add_condition(own, WAKE, self.now);
                self.now += 1;
            }
            Deed::Meet(barrier) if self.begun == [true; THREADS] => {
                let mut absent = [THREADS, 0, thread][barrier as usize];
                if self.has_times {
                    absent = absent.min(thread);
                } else if barrier == 2 {
                    absent = THREADS;
                }
                for (kind, when) in [(MEET, self.now), (MET, self.now + THREADS as u64)] {
                    let others = self.recordings.iter_mut().enumerate();
                    for (number, bytes) in others.filter(|&(number, _)| number != absent) {
                        let when = if self.has_times {
                            when + number as u64
                        } else {
                            0
                        };
                        if kind == MEET || self.has_times {
                            add(bytes, 0x21000 + 0x1000 * barrier, when, kind << 56 | 0x403);
                        }
                    }
                }
                self.now += 2 * THREADS as u64;
            }
            Deed::Begin(other) if thread == 0 && !self.begun[other] => {
                self.begun[other] = true;
                add_thread(own, BEGIN, 100 + other as u64);
            }
            _ => {}
        }
    }

    /// All release what they hold, and the first waits for those that it has begun.
    fn end(mut self) -> Vec<Vec<u8>> {
        for thread in 0..THREADS {
            (0..LOCKS).for_each(|lock| self.does(thread, &Deed::Release(lock)));
        }
        for other in (1..THREADS).filter(|&other| self.begun[other]) {
            add_thread(&mut self.recordings[0], AWAIT, 100 + other as u64);
        }
        add_load(&mut self.recordings[0], 0x5000, 0);
        self.recordings
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn what_came_to_its_end_does_so_in_any_order(
        deeds in prop::collection::vec(deed(), 0..80),
        choices in prop::collection::vec(0_usize..12, 1..50),
        has_times in any::<bool>(),
    ) {
        let mut run = Run::new(has_times);
        for (thread, deed) in &deeds {
            run.does(*thread, deed);
        }
        let (threads, _) = threads_of(&run.end());
        prop_assert!(all_end(&threads, &choices), "{threads:?}");
    }
}
