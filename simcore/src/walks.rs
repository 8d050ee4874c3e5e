//! When one walker is at work.

use std::collections::VecDeque;
use std::ops::Range;

/// The walks that a later access may still meet, ascending, with those that follow each other at once as one.
///
/// Events are simulated in the order of the program, which is not the order of their times: a walk may be known that begins
/// long after the next one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walks {
    under_way: VecDeque<Range<u64>>,
    /// When the last of all ends.
    end: u64,
}

impl Walks {
    /// The first cycle at or after `ready` in which no walk is under way.
    #[inline(always)]
    pub(crate) fn after(&self, ready: u64) -> u64 {
        if ready >= self.end {
            return ready;
        }
        self.between(ready)
    }

    #[inline(never)]
    fn between(&self, ready: u64) -> u64 {
        let behind = self.under_way.partition_point(|walk| walk.end <= ready);
        match self.under_way.get(behind) {
            Some(walk) if walk.start <= ready => walk.end,
            _ => ready,
        }
    }

    /// The first cycle at or after `ready` from which on no walk is under way for `cycles`.
    pub(crate) fn room(&self, ready: u64, cycles: u64) -> u64 {
        let mut start = self.after(ready);
        for walk in &self.under_way {
            if start < walk.end && start + cycles > walk.start {
                start = walk.end;
            }
        }
        start
    }

    /// The end of the last walk that has ended by cycle `time`, as far as that is remembered.
    pub(crate) fn idle_since(&self, time: u64) -> u64 {
        let behind = self.under_way.partition_point(|walk| walk.end <= time);
        let before = behind
            .checked_sub(1)
            .and_then(|last| self.under_way.get(last));
        before.map_or(0, |walk| walk.end)
    }

    /// A walk is under way. No later access comes before cycle `now`.
    pub(crate) fn add(&mut self, walk: Range<u64>, now: u64) {
        while self.under_way.front().is_some_and(|walk| walk.end <= now) {
            self.under_way.pop_front();
        }
        if walk.is_empty() {
            return;
        }
        self.end = self.end.max(walk.end);
        let first = self
            .under_way
            .partition_point(|before| before.end < walk.start);
        let last = self
            .under_way
            .partition_point(|before| before.start <= walk.end);
        let joined = self.under_way.range(first..last);
        let start = joined.clone().map(|walk| walk.start).min();
        let end = joined.map(|walk| walk.end).max();
        let joined = start.map_or(walk.start, |start| start.min(walk.start))
            ..end.map_or(walk.end, |end| end.max(walk.end));
        if first == last {
            self.under_way.insert(first, joined);
        } else {
            self.under_way[first] = joined;
            self.under_way.drain(first + 1..last);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.under_way.clear();
        self.end = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn who_comes_before_during_and_after_walks() {
        let mut walks = Walks::default();
        walks.add(100..130, 0);
        walks.add(10..40, 0);
        assert_eq!(
            [9, 10, 39, 40, 99, 100, 130].map(|ready| walks.after(ready)),
            [9, 40, 40, 40, 99, 130, 130]
        );
        assert_eq!(
            [39, 70, 71].map(|ready| walks.room(ready, 30)),
            [40, 70, 130]
        );
    }

    #[test]
    fn the_past_is_forgotten() {
        let mut walks = Walks::default();
        for start in (0..1000).map(|walk| walk * 40) {
            walks.add(start..start + 30, start);
        }
        assert_eq!(walks.under_way.len(), 1, "the latest walk");
    }

    proptest! {
        #[test]
        fn joined_walks_are_as_good_as_a_list(requests in prop::collection::vec((0_u64..60, 0_u64..12, 0_u64..9), 1..100)) {
            let (mut walks, mut list, mut now) = (Walks::default(), Vec::<Range<u64>>::new(), 0);
            for (ahead, advance, cycles) in requests {
                now += advance;
                let is_free = |time: u64| list.iter().all(|walk| !walk.contains(&time));
                let ready = now + ahead;
                let after = (ready..).find(|&time| is_free(time)).expect("walks end");
                prop_assert_eq!(walks.after(ready), after);
                let fits = |start: u64| is_free(start) && (start..start + cycles).all(is_free);
                let start = (ready..).find(|&start| fits(start)).expect("walks end");
                prop_assert_eq!(walks.room(ready, cycles), start);
                walks.add(start..start + cycles, now);
                list.push(start..start + cycles);
            }
        }
    }
}
