//! What serves one at a time, each as long as any other: the memory bus with its lines, and a divider.

use crate::spec::Interval;
use std::collections::VecDeque;

/// When something is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) time: u64,
    /// No later one is before this cycle.
    pub(crate) now: u64,
    pub(crate) order: Order,
    /// Those that yield and ask by this cycle go first.
    pub(crate) behind: u64,
}

/// Who goes first: who comes first in the program, or who asks first? A store asks when it has graduated, and the loads behind it long before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// It has its place at once.
    Kept,
    /// It has its place when simulation comes to its time: who asks before that goes first.
    Yielding,
    /// A miss that has yielded its handler takes its place on the bus with that. It is told how long that would take, behind another one to
    /// which the cycle `after` was promised; 0 if there is none.
    Promised { after: u64 },
}

impl Claim {
    /// One that keeps what it gets.
    pub(crate) fn ahead(time: u64, now: u64) -> Self {
        Self {
            time,
            now,
            order: Order::Kept,
            behind: time,
        }
    }
}

/// Its reservations, in parts of a cycle. Who asks does so at the start of a cycle, and is told the first cycle that does not begin before its
/// own interval: with intervals of 4.1 cycles three requests at once start in cycles 0, 5 and 9.
///
/// Requests come in program order, which is not the order of their times: a load that waits for its address asks for a later time than the
/// independent load after it. A counter of the next free cycle would make the second wait for the first; the calendar gives each request the
/// first gap at or after its own time. One that yields waits for its place until simulation has come to its time; what it is told is an
/// estimate by who has asked so far.
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    interval: u64,
    /// Start and end of each stretch of time that holds no gap of an interval, ascending. Few: shorter gaps can never be
    /// used, so the reservations around them are one stretch.
    busy: Vec<(u64, u64)>,
    /// Requests that yield, and have no place yet, by their times.
    yielding: VecDeque<Yielding>,
}

#[derive(Clone, Copy, Debug)]
struct Yielding {
    time: u64,
    /// When it was told that its interval starts.
    estimate: u64,
}

/// The part in which a cycle begins.
#[inline(always)]
fn parts(cycle: u64) -> u64 {
    cycle.saturating_mul(Interval::PARTS)
}

/// The first cycle that begins at a part or behind it.
#[inline(always)]
fn cycle(part: u64) -> u64 {
    part.div_ceil(Interval::PARTS)
}

impl Calendar {
    pub(crate) fn new(interval: Interval) -> Self {
        Self {
            interval: interval.parts(),
            busy: Vec::with_capacity(64),
            yielding: VecDeque::new(),
        }
    }

    /// Reserves the first free interval at or after the request's time and gives the cycle of its start, which is an estimate if it yields.
    #[inline]
    pub(crate) fn reserve(&mut self, claim: Claim) -> u64 {
        if self
            .yielding
            .front()
            .is_some_and(|first| first.time <= parts(claim.behind))
        {
            self.settle_until(parts(claim.behind));
        }
        self.forget_before(parts(claim.now));
        let time = parts(claim.time);
        cycle(match claim.order {
            Order::Kept => self.place(time),
            Order::Yielding => self.estimate(time),
            Order::Promised { after: 0 } => self.first_free(time).1,
            Order::Promised { after } => self.first_free(time.max(parts(after) + self.interval)).1,
        })
    }

    /// The first cycle in which not more than `most` requests wait, as far as one that comes in cycle `time` can tell.
    pub(crate) fn short_of(&self, most: u64, time: u64) -> u64 {
        let (_, free) = self.first_free(parts(time));
        cycle(free.saturating_sub(most * self.interval)).max(time)
    }

    /// Gives places to those that yielded and asked by a time.
    #[inline(never)]
    fn settle_until(&mut self, time: u64) {
        while let Some(&first) = self.yielding.front()
            && first.time <= time
        {
            self.place(first.time);
            self.yielding.pop_front();
        }
    }

    /// Keeps a request until it is known who comes before it, and gives when its interval would start as far as that is known.
    #[inline(never)]
    fn estimate(&mut self, time: u64) -> u64 {
        let behind = self.yielding.partition_point(|other| other.time <= time);
        let before = behind
            .checked_sub(1)
            .map(|last| self.yielding[last].estimate);
        let earliest = before.map_or(time, |start| time.max(start + self.interval));
        let (_, estimate) = self.first_free(earliest);
        self.yielding.insert(behind, Yielding { time, estimate });
        estimate
    }

    /// Stretches that end by `now` are of no use to any later request.
    fn forget_before(&mut self, now: u64) {
        let past = self.busy.iter().take_while(|&&(_, end)| end <= now).count();
        if past > 0 {
            self.busy.drain(..past);
        }
    }

    #[inline(always)]
    fn place(&mut self, earliest: u64) -> u64 {
        let (next, start) = self.first_free(earliest);
        self.mark(next, start, start + self.interval);
        start
    }

    /// The start of the first free interval at or after `earliest`, and the number of the stretch behind it.
    fn first_free(&self, earliest: u64) -> (usize, u64) {
        let interval = self.interval;
        let mut next = self.busy.len();
        while next > 0 && self.busy[next - 1].1 > earliest {
            next -= 1;
        }
        let mut start = earliest;
        while next < self.busy.len() && self.busy[next].0 < start + interval {
            start = start.max(self.busy[next].1);
            next += 1;
        }
        (next, start)
    }

    /// Marks a stretch busy that comes right before stretch `next`, and joins what it leaves no room between.
    fn mark(&mut self, next: usize, start: u64, end: u64) {
        let interval = self.interval;
        let joins_next = next < self.busy.len() && self.busy[next].0 - end < interval;
        let joins_previous = next > 0 && start - self.busy[next - 1].1 < interval;
        match (joins_previous, joins_next) {
            (true, true) => {
                self.busy[next - 1].1 = self.busy[next].1;
                self.busy.remove(next);
            }
            (true, false) => self.busy[next - 1].1 = end,
            (false, true) => self.busy[next].0 = start,
            (false, false) => self.busy.insert(next, (start, end)),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.busy.clear();
        self.yielding.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn requests_at_once_are_an_interval_apart() {
        let mut bus = Calendar::new(Interval::of_cycles(15));
        assert_eq!([0; 3].map(|t| bus.reserve(Claim::ahead(t, 0))), [0, 15, 30]);
    }

    #[test]
    fn an_idle_bus_starts_at_once_and_one_cycle_early_waits() {
        let mut bus = Calendar::new(Interval::of_cycles(15));
        bus.reserve(Claim::ahead(100, 0));
        assert_eq!(bus.reserve(Claim::ahead(115, 0)), 115);
        let mut bus = Calendar::new(Interval::of_cycles(15));
        bus.reserve(Claim::ahead(100, 0));
        assert_eq!(bus.reserve(Claim::ahead(114, 0)), 115);
    }

    #[test]
    fn an_earlier_request_takes_the_gap_before_a_later_one() {
        let mut bus = Calendar::new(Interval::of_cycles(15));
        bus.reserve(Claim::ahead(100, 0));
        assert_eq!(bus.reserve(Claim::ahead(85, 0)), 85);
        assert_eq!(
            bus.reserve(Claim::ahead(71, 0)),
            115,
            "a gap of 14 cycles is too short"
        );
        assert_eq!(bus.reserve(Claim::ahead(70, 0)), 70);
    }

    #[test]
    fn the_past_is_forgotten() {
        let mut bus = Calendar::new(Interval::of_cycles(15));
        for t in 0..1000 {
            bus.reserve(Claim::ahead(t * 40, t * 40));
        }
        assert_eq!(bus.busy, [(parts(39_960), parts(39_975))]);
    }

    /// A bus has a clock of its own. Each request starts in the first cycle that begins behind its own interval's start, and the next is an
    /// interval behind that start, and not behind the cycle.
    #[test]
    fn fractions_of_a_cycle_add_up() {
        let mut bus = Calendar::new(Interval::nearest(4.25));
        let starts = [0; 6].map(|t| bus.reserve(Claim::ahead(t, 0)));
        assert_eq!(starts, [0, 5, 9, 13, 17, 22]);
        let mut quick = Calendar::new(Interval::nearest(0.5));
        let starts = [0; 6].map(|t| quick.reserve(Claim::ahead(t, 0)));
        assert_eq!(starts, [0, 1, 1, 2, 2, 3], "two in a cycle");
    }

    #[test]
    fn a_queue_is_short_when_so_many_are_left() {
        let mut bus = Calendar::new(Interval::of_cycles(10));
        for _ in 0..8 {
            bus.reserve(Claim::ahead(100, 0));
        }
        assert_eq!(
            [0, 100, 119, 140, 200].map(|time| bus.short_of(2, time)),
            [0, 160, 160, 160, 200]
        );
        assert_eq!(bus.short_of(8, 100), 100);
    }

    /// The calendar as a list of all reservations, which forgets nothing.
    fn naive(starts: &mut Vec<u64>, interval: u64, earliest: u64) -> u64 {
        let free = |start: u64| {
            starts
                .iter()
                .all(|&taken| taken.abs_diff(start) >= interval)
        };
        let candidates = starts.iter().map(|&taken| taken + interval);
        let start = candidates
            .chain([parts(earliest)])
            .filter(|&start| start >= parts(earliest) && free(start))
            .min()
            .expect("after the last reservation there is room");
        starts.push(start);
        cycle(start)
    }

    proptest! {
        #[test]
        fn stretches_are_as_good_as_a_list(
            interval in prop_oneof![
                (1_u64..20).prop_map(Interval::of_cycles),
                (0.1_f64..20.).prop_map(Interval::nearest),
            ],
            requests in prop::collection::vec((0_u64..60, 0_u64..12), 1..100),
        ) {
            let mut bus = Calendar::new(interval);
            let (mut starts, mut now) = (Vec::new(), 0);
            for (ahead, advance) in requests {
                now += advance;
                let expected = naive(&mut starts, interval.parts(), now + ahead);
                prop_assert_eq!(bus.reserve(Claim::ahead(now + ahead, now)), expected);
            }
        }
    }
}
