//! Barriers whose recordings say when a thread came to them, and when it went on.
//!
//! A barrier is for those that meet there, whoever that is: the memory of one may be used for another, of other threads. Nobody goes on before
//! all have come. So who had come when the first one went on was in his round. To come is a signal to the others of the round, and each waits for
//! theirs; where all threads are in a round, it is an event of all.

use super::signals::Signal;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a thread says of a barrier that it has come to.
#[derive(Debug)]
struct Arrival {
    barrier: u64,
    /// When it came, in the time of all threads.
    came: u64,
    /// When it went on; nothing if the recording does not say so.
    left: Option<u64>,
    /// The signals that it has given before.
    own: u64,
}

/// What a thread's recording says, in its order.
#[derive(Debug, Default)]
pub(super) struct Told(Vec<Arrival>);

/// Who meets.
#[derive(Clone, Debug)]
pub(super) enum Round {
    /// Nobody else.
    Alone,
    /// All threads.
    All,
    /// These threads, each with its signal.
    Some(Rc<[Signal]>),
}

/// The rounds of a thread.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    told: Told,
    known: Known,
}

/// Rounds of a thread when all recordings have been read, in its order.
#[derive(Debug, Default)]
pub(super) struct Known(Vec<Round>);

impl Rounds {
    /// Those of a thread of which something is known.
    pub(super) fn of(known: Known) -> Self {
        Self {
            told: Told::default(),
            known,
        }
    }

    /// The thread comes to a barrier, and has given so many signals before.
    pub(super) fn come(&mut self, barrier: u64, came: u64, own: u64) -> Round {
        let number = self.told.0.len();
        self.told.0.push(Arrival {
            barrier,
            came,
            left: None,
            own,
        });
        self.known.0.get(number).cloned().unwrap_or(Round::Alone)
    }

    /// It goes on from where it has come last.
    pub(super) fn go_on(&mut self, left: u64) {
        if let Some(last) = self.told.0.last_mut() {
            last.left.get_or_insert(left);
        }
    }

    pub(super) fn into_told(self) -> Told {
        self.told
    }
}

impl Known {
    /// Finds out who has met whom.
    pub(super) fn of_all(told: &[Told]) -> Vec<Self> {
        let mut barriers: BTreeMap<u64, Vec<(usize, usize)>> = BTreeMap::new();
        for (thread, told) in told.iter().enumerate() {
            for (number, arrival) in told.0.iter().enumerate() {
                let arrivals = barriers.entry(arrival.barrier).or_default();
                arrivals.push((thread, number));
            }
        }
        let mut known: Vec<Vec<Round>> = Vec::with_capacity(told.len());
        for told in told {
            known.push(vec![Round::Alone; told.0.len()]);
        }
        for arrivals in barriers.into_values() {
            for members in rounds(told, arrivals) {
                let round = if members.len() == told.len() {
                    Round::All
                } else {
                    let signals = members.iter();
                    let signals = signals.map(|&(thread, at)| (thread, told[thread].0[at].own));
                    Round::Some(signals.collect())
                };
                for (thread, at) in members {
                    known[thread][at] = round.clone();
                }
            }
        }
        known.into_iter().map(Self).collect()
    }

    /// Signals that others wait for.
    pub(super) fn signals(&self) -> impl Iterator<Item = Signal> {
        let some = self.0.iter().filter_map(|round| match round {
            Round::Some(signals) => Some(signals),
            _ => None,
        });
        some.flat_map(|signals| signals.iter().copied())
    }
}

/// The rounds of two threads or more at a barrier to which threads have come, each told by its number and that of its arrival.
fn rounds(told: &[Told], arrivals: Vec<(usize, usize)>) -> Vec<Vec<(usize, usize)>> {
    let arrival = |&(thread, at): &(usize, usize)| &told[thread].0[at];
    let mut by_coming = arrivals;
    by_coming.sort_by_key(|place| arrival(place).came);
    let mut by_leaving = by_coming.clone();
    by_leaving.sort_by_key(|place| arrival(place).left);
    let mut coming = by_coming.into_iter().peekable();
    let (mut rounds, mut last) = (Vec::new(), 0);
    for first in by_leaving {
        let Arrival { came, left, .. } = *arrival(&first);
        // Whoever had come when the first of a round went on was in that.
        let Some(left) = left.filter(|_| came >= last) else {
            continue;
        };
        last = left;
        let mut members: Vec<(usize, usize)> = Vec::new();
        while let Some(place) = coming.next_if(|place| arrival(place).came < left) {
            if members.iter().all(|&(thread, _)| thread != place.0) {
                members.push(place);
            }
        }
        if members.len() > 1 {
            rounds.push(members);
        }
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARRIER: u64 = 7;

    /// A thread that comes and goes on at these times.
    fn thread(times: &[(u64, u64)]) -> Told {
        let mut rounds = Rounds::default();
        for (own, &(came, left)) in (0..).zip(times) {
            rounds.come(BARRIER, came, own);
            if left > 0 {
                rounds.go_on(left);
            }
        }
        rounds.into_told()
    }

    /// The threads that meet a thread, each time.
    fn met(known: &Known) -> Vec<Vec<usize>> {
        let rounds = known.0.iter().map(|round| match round {
            Round::Alone => Vec::new(),
            Round::All => vec![usize::MAX],
            Round::Some(signals) => signals.iter().map(|&(thread, _)| thread).collect(),
        });
        rounds.collect()
    }

    #[test]
    fn a_barrier_used_again_is_of_those_that_come_then() {
        let told = [
            thread(&[(1, 4)]),
            thread(&[(2, 3), (11, 14)]),
            thread(&[(12, 13)]),
        ];
        let known = Known::of_all(&told);
        assert_eq!(met(&known[0]), [[0, 1]]);
        assert_eq!(met(&known[1]), [[0, 1], [1, 2]]);
        assert_eq!(met(&known[2]), [[1, 2]]);
    }

    #[test]
    fn who_leaves_late_is_of_the_round_that_he_came_to() {
        // The first goes on when the second has come again.
        let told = [thread(&[(1, 6), (8, 9)]), thread(&[(2, 3), (4, 10)])];
        let known = Known::of_all(&told);
        assert_eq!(met(&known[0]), [[usize::MAX], [usize::MAX]]);
        assert_eq!(met(&known[1]), met(&known[0]));
    }

    #[test]
    fn a_program_may_end_while_threads_go_on() {
        let told = [thread(&[(1, 0)]), thread(&[(2, 3)]), thread(&[(5, 0)])];
        let known = Known::of_all(&told);
        assert_eq!(met(&known[0]), [[0, 1]]);
        assert_eq!(met(&known[2]), [[0; 0]]);
    }
}
