//! Latches: which cores hold one, and who waits for it.

use std::collections::{HashMap, VecDeque};
use traces::Kind;

/// A program and a latch of its own.
pub(super) type Latch = (usize, (u64, u32));

/// As many latches as may be remembered before those are forgotten that are free for everybody.
const REMEMBERED: usize = 1 << 12;

/// What a core wants of a latch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// To hold it with nobody else.
    Alone,
    /// To hold it beside others who share it.
    Shared,
    /// That nobody holds it alone; it holds nothing itself.
    Nothing,
}

impl Hold {
    /// What such an event wants; none if it wants no latch.
    pub(super) fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Latch => Some(Self::Alone),
            Kind::ShareLatch => Some(Self::Shared),
            Kind::AwaitLatch => Some(Self::Nothing),
            _ => None,
        }
    }
}

/// A cycle in which a core has released a latch.
type Release = (u64, usize);

/// What is known of a latch that has been taken.
#[derive(Debug, Default)]
struct State {
    /// Cores that hold it, one of them if it is held `alone`.
    holders: Vec<usize>,
    alone: bool,
    /// When it was last released by who had held it alone.
    released: Option<Release>,
    /// The number of the latest change that somebody has held it alone for; 0 for none.
    change: u64,
    /// When those released it last who have shared it since then, each core once.
    released_shared: Vec<Release>,
    /// Cores that wait for it, in the order in which they came.
    waiting: VecDeque<(usize, Hold)>,
}

impl State {
    /// Whether a core gets what it wants now, with nobody before it.
    fn grants(&self, core: usize, hold: Hold) -> bool {
        match hold {
            Hold::Alone => self.holders.iter().all(|&holder| holder == core),
            Hold::Shared | Hold::Nothing => !self.alone || self.holders == [core],
        }
    }

    /// The cycle from which a core has what it wants, which holds the latch then. It need not wait for what it released itself.
    fn give(&mut self, core: usize, hold: Hold, changes: &mut u64) -> u64 {
        if hold == Hold::Alone {
            *changes += 1;
            self.change = *changes;
        }
        // Who shares it may come to hold it alone, and who holds it alone does so even if it shares it then.
        self.alone |= hold == Hold::Alone;
        if hold != Hold::Nothing && !self.holders.contains(&core) {
            self.holders.push(core);
        }
        let shared: &[Release] = match hold {
            Hold::Alone => &self.released_shared,
            Hold::Shared | Hold::Nothing => &[],
        };
        let all = self.released.iter().chain(shared);
        let by_others = all.filter(|&&(_, by)| by != core);
        by_others.map(|&(cycle, _)| cycle).max().unwrap_or(0)
    }

    /// Notes that a core which held it has released it in a cycle.
    fn note(&mut self, core: usize, cycle: u64) {
        self.holders.retain(|&holder| holder != core);
        if std::mem::take(&mut self.alone) {
            self.released = Some((cycle, core));
            self.released_shared.clear();
        } else {
            self.released_shared.retain(|&(_, by)| by != core);
            self.released_shared.push((cycle, core));
        }
    }

    /// Whether it is free from a cycle on, for everybody.
    fn is_free(&self, cycle: u64) -> bool {
        let mut releases = self.released.iter().chain(&self.released_shared);
        self.holders.is_empty() && releases.all(|&(released, _)| released <= cycle)
    }
}

/// Latches that are held, or have been.
#[derive(Debug)]
pub(super) struct Latches {
    states: HashMap<Latch, State>,
    /// How often some have been taken to be held alone.
    changes: u64,
    forget_at: usize,
}

impl Latches {
    /// None has been taken.
    pub(super) fn new() -> Self {
        Self {
            states: HashMap::new(),
            changes: 0,
            forget_at: REMEMBERED,
        }
    }

    /// A core gets what it wants of a latch, and the cycle from which that is so; or waits for others, who hold the latch or came first. Who
    /// wants nothing of it waits for nobody who waits, nor does who holds it: they wait for that one.
    pub(super) fn take(&mut self, latch: Latch, core: usize, hold: Hold) -> Option<u64> {
        let state = self.states.entry(latch).or_default();
        let holds = state.holders.contains(&core);
        let is_first = holds || hold == Hold::Nothing || state.waiting.is_empty();
        if is_first && state.grants(core, hold) {
            return Some(state.give(core, hold, &mut self.changes));
        }
        if holds {
            state.waiting.push_front((core, hold));
        } else {
            state.waiting.push_back((core, hold));
        }
        None
    }

    /// How often latches have been taken to be held alone: what somebody who awaits one notes, and compares afterwards.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether somebody has held a latch alone since so many changes, or does so.
    pub(super) fn changed_since(&self, latch: Latch, changes: u64) -> bool {
        let state = self.states.get(&latch);
        state.is_some_and(|state| state.change > changes)
    }

    /// Whether a core holds a latch.
    pub(super) fn is_held_by(&self, latch: Latch, core: usize) -> bool {
        let state = self.states.get(&latch);
        state.is_some_and(|state| state.holders.contains(&core))
    }

    /// A core releases a latch in a cycle: those who wait longest get what they want, as far as they can have it together, and are given with
    /// the cycle from which they have it. A latch that the core does not hold stays as it is.
    pub(super) fn release(&mut self, latch: Latch, core: usize, cycle: u64) -> Vec<(usize, u64)> {
        let mut go_on = Vec::new();
        let Some(state) = self.states.get_mut(&latch) else {
            return go_on;
        };
        if !state.holders.contains(&core) {
            return go_on;
        }
        state.note(core, cycle);
        while let Some(&(next, hold)) = state.waiting.front() {
            if !state.grants(next, hold) {
                break;
            }
            state.waiting.pop_front();
            go_on.push((next, state.give(next, hold, &mut self.changes)));
        }
        go_on
    }

    /// Forgets latches that were free before a cycle from which on cores take some, if there are many; but none that somebody may still ask
    /// [`Latches::changed_since`] about, who has noted `oldest` changes or more.
    pub(super) fn forget(&mut self, cycle: u64, oldest: impl FnOnce() -> Option<u64>) {
        if self.states.len() < self.forget_at {
            return;
        }
        let oldest = oldest().unwrap_or(u64::MAX);
        self.states
            .retain(|_, state| !state.is_free(cycle) || state.change > oldest);
        self.forget_at = (2 * self.states.len()).max(REMEMBERED);
    }

    /// A core that waits for a latch, and one that holds it.
    pub(super) fn waiting(&self) -> Option<(usize, usize)> {
        let waits = |state: &State| Some((state.waiting.front()?.0, *state.holders.first()?));
        self.states.values().filter_map(waits).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latch(number: usize) -> Latch {
        (0, (number as u64, 0))
    }

    /// So many latches, each of which core 0 has held alone, and has released in the cycle of its number.
    fn used(latches: usize) -> Latches {
        let mut all = Latches::new();
        for number in 0..latches {
            assert_eq!(all.take(latch(number), 0, Hold::Alone), Some(0));
            assert_eq!(all.release(latch(number), 0, number as u64), []);
        }
        all
    }

    /// From when on core 1 may hold it alone.
    fn free(latches: &mut Latches, number: usize) -> Option<u64> {
        latches.take(latch(number), 1, Hold::Alone)
    }

    #[test]
    fn few_latches_are_all_remembered() {
        let mut latches = used(REMEMBERED - 1);
        latches.forget(u64::MAX, || unreachable!("nobody looks for what may go"));
        assert_eq!(free(&mut latches, 7), Some(7));
        assert_eq!(latches.states.len(), REMEMBERED - 1);
    }

    #[test]
    fn of_many_latches_those_are_forgotten_that_are_free() {
        let mut latches = used(REMEMBERED);
        latches.forget(100, || None);
        assert_eq!(latches.states.len(), REMEMBERED - 101);
        assert_eq!(free(&mut latches, 100), Some(0));
        assert_eq!(free(&mut latches, 101), Some(101));
        // So many are left that it takes twice as many before any is looked at again.
        latches.forget(u64::MAX, || unreachable!("nobody looks for what may go"));
        for number in REMEMBERED..2 * REMEMBERED {
            latches.take(latch(number), 0, Hold::Alone);
        }
        latches.forget(u64::MAX, || None);
        // Those of the loop are held, and both that core 1 has taken.
        assert_eq!(latches.states.len(), REMEMBERED + 2);
    }

    #[test]
    fn a_latch_that_is_held_or_will_have_been_is_remembered() {
        let mut latches = used(REMEMBERED);
        for core in [0, 1] {
            assert!(latches.take(latch(5), core, Hold::Shared).is_some());
        }
        assert!(latches.take(latch(6), 0, Hold::Shared).is_some());
        latches.release(latch(6), 0, 9000);
        latches.release(latch(5), 0, 10);
        latches.forget(8000, || None);
        assert_eq!(latches.states.len(), 2);
        assert_eq!(latches.take(latch(5), 2, Hold::Alone), None);
        assert_eq!(free(&mut latches, 6), Some(9000));
    }

    /// The change of latch `n` is the change `n + 1`.
    #[test]
    fn what_a_reader_may_ask_about_is_remembered() {
        let mut latches = used(REMEMBERED);
        latches.forget(u64::MAX, || Some(4000));
        assert_eq!(latches.states.len(), REMEMBERED - 4000);
        assert!(latches.changed_since(latch(4000), 4000));
        assert!(!latches.changed_since(latch(3999), 4000));
    }

    #[test]
    fn only_who_holds_it_alone_changes_what_a_latch_guards() {
        let mut latches = Latches::new();
        for (hold, changes) in [(Hold::Shared, 0), (Hold::Nothing, 0), (Hold::Alone, 1)] {
            assert_eq!(latches.take(latch(1), 0, hold), Some(0));
            latches.release(latch(1), 0, 0);
            assert_eq!(latches.changes(), changes);
            assert_eq!(latches.changed_since(latch(1), 0), changes > 0);
        }
    }

    #[test]
    fn who_shares_a_latch_may_come_to_hold_it_alone() {
        let mut latches = Latches::new();
        for (core, hold, given) in [
            (0, Hold::Shared, Some(0)),
            (1, Hold::Shared, Some(0)),
            // Another shares it still, and one waits for both.
            (2, Hold::Alone, None),
            (0, Hold::Alone, None),
        ] {
            assert_eq!(latches.take(latch(1), core, hold), given, "{core} {hold:?}");
        }
        assert_eq!(latches.release(latch(1), 1, 20), [(0, 20)]);
        assert_eq!(latches.take(latch(1), 1, Hold::Shared), None);
        assert_eq!(latches.release(latch(1), 0, 50), [(2, 50)]);
        assert_eq!(latches.release(latch(1), 2, 60), [(1, 60)]);
    }

    /// Whoever waits does so for who holds the latch, and would wait for ever if that one waited, too.
    #[test]
    fn who_holds_a_latch_gets_it_again_before_those_who_wait() {
        for (held, again) in [
            (Hold::Alone, Hold::Alone),
            (Hold::Alone, Hold::Shared),
            (Hold::Shared, Hold::Shared),
            (Hold::Shared, Hold::Alone),
        ] {
            let mut latches = Latches::new();
            assert_eq!(latches.take(latch(1), 0, held), Some(0));
            assert_eq!(latches.take(latch(1), 1, Hold::Alone), None);
            assert_eq!(
                latches.take(latch(1), 0, again),
                Some(0),
                "{held:?} {again:?}"
            );
            assert_eq!(latches.release(latch(1), 0, 30), [(1, 30)]);
        }
    }

    #[test]
    fn who_holds_a_latch_alone_may_share_it_with_itself() {
        let mut latches = Latches::new();
        for hold in [Hold::Alone, Hold::Shared, Hold::Nothing] {
            assert_eq!(latches.take(latch(1), 0, hold), Some(0), "{hold:?}");
        }
        assert_eq!(latches.take(latch(1), 1, Hold::Shared), None);
    }
}
