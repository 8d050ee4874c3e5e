//! Miss status holding registers: how many misses may be outstanding.

use crate::calendar::Claim;
use crate::memory::{Memory, is_pending};
use std::collections::VecDeque;

/// The outstanding misses.
///
/// Requests come in the order of the program, which is not the order of their times: a register may be taken for a later cycle, and is
/// free until then. Such gaps are for requests that find no register free for good, if a line from an idle memory comes in time.
/// Nobody knows how long a miss will take when it begins, so that one that takes longer is outstanding together with the next.
/// A request that yields takes a register when simulation has come to its time; what it is told before is an estimate.
#[derive(Clone, Debug)]
pub(crate) struct Mshrs {
    /// When the last miss of each register completes, ascending.
    registers: Box<[u64]>,
    /// In the order of their ends.
    gaps: VecDeque<Gap>,
    /// When misses in gaps complete.
    in_gaps: Vec<u64>,
    /// Misses that yield, and have no register yet, by when they ask.
    yielding: VecDeque<Yielding>,
}

#[derive(Clone, Copy, Debug)]
struct Yielding {
    asked: u64,
    /// As in [`Asked`].
    shortest: u64,
    /// By the estimate that it was given.
    start: u64,
    until: u64,
}

/// Cycles in which a register is free before its next miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gap {
    start: u64,
    end: u64,
}

/// A miss handler that a miss takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handler {
    /// From this cycle on.
    pub(crate) start: u64,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Register(usize),
    /// Before another miss, which begins in this cycle.
    GapBefore(u64),
    /// One that is not chosen yet: when it was asked for, and for how long at least.
    Later((u64, u64)),
}

impl Handler {
    /// One where time stands still, and none is waited for.
    pub(crate) fn at_once(start: u64) -> Self {
        Self {
            start,
            place: Place::Register(0),
        }
    }
}

impl Handler {
    fn later(start: u64, asked: Asked) -> Self {
        Self {
            start,
            place: Place::Later((asked.time, asked.shortest)),
        }
    }
}

/// Who asks for a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Asked {
    time: u64,
    now: u64,
    /// Cycles that the line takes at least if it comes from memory.
    shortest: u64,
}

impl Mshrs {
    pub(crate) fn new(registers: u32) -> Self {
        Self {
            registers: vec![0; registers as usize].into_boxed_slice(),
            gaps: VecDeque::new(),
            in_gaps: Vec::new(),
            yielding: VecDeque::new(),
        }
    }

    /// A handler for the line at `address` from the first cycle at or after the request's on in which one is free. `memory` knows, or finds
    /// out, when misses end whose time is pending.
    #[inline]
    pub(crate) fn acquire(&mut self, address: u64, claim: Claim, memory: &mut Memory) -> Handler {
        let asked = Asked {
            time: claim.time,
            now: claim.now,
            shortest: memory.latency_of(address),
        };
        self.settle(claim, memory);
        if claim.yields {
            self.estimate(asked, memory)
        } else {
            self.take(asked, memory)
        }
    }

    #[inline(always)]
    fn take(&mut self, asked: Asked, memory: &mut Memory) -> Handler {
        match self.free(asked.time).checked_sub(1) {
            Some(latest) => self.take_register(latest, asked),
            None => self.search(asked, memory),
        }
    }

    /// Gives registers to those that yielded and ask before everybody that comes from `request` on.
    #[inline(always)]
    fn settle(&mut self, claim: Claim, memory: &mut Memory) {
        while self
            .yielding
            .front()
            .is_some_and(|first| first.asked <= claim.behind)
        {
            self.settle_first(claim.now, memory);
        }
    }

    #[inline(never)]
    fn settle_first(&mut self, now: u64, memory: &mut Memory) {
        let Some(first) = self.yielding.pop_front() else {
            return;
        };
        let asked = Asked {
            time: first.asked,
            now: now.min(first.asked),
            shortest: first.shortest,
        };
        let handler = self.take(asked, memory);
        let until = memory.known(first.until);
        // Memory knows of no estimate, and says when what it has under way is there.
        let moved = if is_pending(until) {
            until
        } else {
            handler.start + (until - first.start)
        };
        self.hold(handler, moved);
    }

    /// A handler from when on one is free if nobody comes who asks earlier.
    #[inline(never)]
    fn estimate(&mut self, asked: Asked, memory: &mut Memory) -> Handler {
        loop {
            if self.yielding.len() < self.free(asked.time) {
                return Handler::later(asked.time, asked);
            }
            let pending = self.learn(memory);
            let start = self.estimated_start(asked.time);
            if !is_pending(start) {
                return Handler::later(start, asked);
            }
            if !pending || !memory.advance(start) {
                return self.take(asked, memory);
            }
        }
    }

    /// When the first of all handlers is free at or after `time`, if misses that yield have some, too.
    fn estimated_start(&self, time: u64) -> u64 {
        let free = self.free(time);
        let ends = self.yielding.iter().map(|other| other.until);
        let mut taken: Vec<u64> = ends.filter(|&until| until > time).collect();
        let Some(behind) = taken.len().checked_sub(free) else {
            return time;
        };
        taken.extend(&self.registers[free..]);
        *taken.select_nth_unstable(behind).1
    }

    /// How many registers are free at `time` for good. The last of them is the one to take: the others have been free for longer, and stay so
    /// for those who come earlier.
    #[inline]
    fn free(&self, time: u64) -> usize {
        // Few are taken, mostly, so that this is faster than a binary search.
        let last = self.registers.iter().rposition(|&until| until <= time);
        last.map_or(0, |last| last + 1)
    }

    /// The cycle, at or after `time`, in which a handler is free, but for gaps; at once, if it is not known yet.
    #[inline(always)]
    pub(crate) fn free_at(&self, time: u64) -> u64 {
        let until = self.registers[0];
        if is_pending(until) {
            time
        } else {
            until.max(time)
        }
    }

    /// A handler for the line at `address` that is free when it is asked for, if there is one. Up to `claim.now` `memory` finds out when
    /// misses end whose time is pending.
    pub(crate) fn acquire_free(
        &mut self,
        address: u64,
        claim: Claim,
        memory: &mut Memory,
    ) -> Option<Handler> {
        let Claim {
            time, now, yields, ..
        } = claim;
        let asked = Asked {
            time,
            now,
            shortest: memory.latency_of(address),
        };
        self.settle(claim, memory);
        if yields {
            self.learn(memory);
            let is_free = self.estimated_start(time) == time;
            return is_free.then(|| Handler::later(time, asked));
        }
        loop {
            let pending = self.learn(memory);
            if let Some(latest) = self.free(time).checked_sub(1) {
                return Some(self.take_register(latest, asked));
            }
            if let Some((start, gap)) = self.first_gap(asked)
                && start == time
            {
                return Some(self.take_gap(gap, asked));
            }
            if !pending || !memory.advance(now) {
                return None;
            }
        }
    }

    /// The same as [`Mshrs::take`], where no register is known to be free for good.
    #[inline(never)]
    fn search(&mut self, asked: Asked, memory: &mut Memory) -> Handler {
        loop {
            let pending = self.learn(memory);
            if let Some(latest) = self.free(asked.time).checked_sub(1) {
                return self.take_register(latest, asked);
            }
            let until = self.registers[0];
            if let Some((start, gap)) = self.first_gap(asked)
                && start < until
            {
                return self.take_gap(gap, asked);
            }
            // A pending miss may complete before the first of those that are known.
            if !pending || !memory.advance(until) {
                return self.take_register(0, asked);
            }
        }
    }

    /// The gap that a request can use first, and when; of several the one that ends first.
    fn first_gap(&self, asked: Asked) -> Option<(u64, usize)> {
        let starts = self.gaps.iter().enumerate().filter_map(|(number, gap)| {
            let start = gap.start.max(asked.time);
            (start + asked.shortest <= gap.end).then_some((start, number))
        });
        starts.min()
    }

    #[inline]
    fn take_register(&mut self, register: usize, asked: Asked) -> Handler {
        let until = self.registers[register];
        let start = until.max(asked.time);
        if start - asked.now >= asked.shortest {
            self.leave_gap(until, start, asked);
        }
        Handler {
            start,
            place: Place::Register(register),
        }
    }

    fn take_gap(&mut self, number: usize, asked: Asked) -> Handler {
        let gap = self.gaps.remove(number).expect("a gap that was found");
        let start = gap.start.max(asked.time);
        self.leave_gap(gap.start, start, asked);
        Handler {
            start,
            place: Place::GapBefore(gap.end),
        }
    }

    /// A register is free from cycle `start` on and taken from cycle `end` on. What would not be enough for the request is not kept.
    fn leave_gap(&mut self, start: u64, end: u64, asked: Asked) {
        while self.gaps.front().is_some_and(|gap| gap.end <= asked.now) {
            self.gaps.pop_front();
        }
        let start = start.max(asked.now);
        if start + asked.shortest <= end {
            self.keep_gap(Gap { start, end });
        }
    }

    fn keep_gap(&mut self, gap: Gap) {
        let behind = self.gaps.partition_point(|other| other.end <= gap.end);
        self.gaps.insert(behind, gap);
    }

    /// Puts cycles in the place of pending times that are known by now. Whether some are still pending in registers.
    fn learn(&mut self, memory: &Memory) -> bool {
        let mut pending = false;
        let known = self.registers.partition_point(|&until| !is_pending(until));
        for until in &mut self.registers[known..] {
            *until = memory.known(*until);
            pending |= is_pending(*until);
        }
        if known < self.registers.len() {
            self.registers.sort_unstable();
        }
        for until in &mut self.in_gaps {
            *until = memory.known(*until);
        }
        for other in &mut self.yielding {
            other.until = memory.known(other.until);
        }
        pending
    }

    /// Holds the handler until its miss completes.
    #[inline]
    pub(crate) fn hold(&mut self, handler: Handler, until: u64) {
        match handler.place {
            Place::Register(register) => self.hold_register(register, until),
            Place::GapBefore(next) => self.hold_before(next, handler.start, until),
            Place::Later(asked) => self.hold_later(asked, handler.start, until),
        }
    }

    /// Those that complete before move up.
    #[inline]
    fn hold_register(&mut self, mut place: usize, until: u64) {
        while let Some(&next) = self.registers.get(place + 1)
            && next < until
        {
            self.registers[place] = next;
            place += 1;
        }
        self.registers[place] = until;
    }

    #[inline(never)]
    fn hold_later(&mut self, (asked, shortest): (u64, u64), start: u64, until: u64) {
        let held = Yielding {
            asked,
            shortest,
            start,
            until,
        };
        let behind = self.yielding.partition_point(|other| other.asked <= asked);
        self.yielding.insert(behind, held);
    }

    fn hold_before(&mut self, next: u64, start: u64, until: u64) {
        self.in_gaps.retain(|&until| until > start);
        self.in_gaps.push(until);
        if until < next {
            self.keep_gap(Gap {
                start: until,
                end: next,
            });
        }
    }

    /// Nothing is asked for any more: `memory` keeps when outstanding misses end, until [`Mshrs::drained`] asks.
    pub(crate) fn keep(&mut self, memory: &mut Memory) {
        self.learn(memory);
        self.ends()
            .filter(|&until| is_pending(until))
            .for_each(|until| memory.keep(until));
    }

    /// The cycle in which the last outstanding miss completes. `memory` has been drained.
    pub(crate) fn drained(&mut self, memory: &Memory) -> u64 {
        self.learn(memory);
        self.ends().max().unwrap_or(0)
    }

    /// When misses complete.
    fn ends(&self) -> impl Iterator<Item = u64> {
        let yielding = self.yielding.iter().map(|other| other.until);
        self.registers
            .iter()
            .chain(&self.in_gaps)
            .copied()
            .chain(yielding)
    }

    pub(crate) fn clear(&mut self) {
        self.registers.fill(0);
        self.gaps.clear();
        self.in_gaps.clear();
        self.yielding.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::FixedMemory;

    const LATENCY: u32 = 250;

    fn fixed() -> Memory {
        Memory::Fixed(FixedMemory::new(LATENCY, 15, true))
    }

    /// From when on a handler is free at or after each of the cycles.
    fn starts<const N: usize>(mshrs: &Mshrs, times: [u64; N]) -> [u64; N] {
        times.map(|time| {
            mshrs
                .clone()
                .acquire(0, Claim::ahead(time, 0), &mut fixed())
                .start
        })
    }

    #[test]
    fn a_full_file_waits_for_the_first_completion() {
        let (mut mshrs, memory) = (Mshrs::new(2), &mut fixed());
        for (time, until) in [(0, 250), (1, 100)] {
            let handler = mshrs.acquire(0, Claim::ahead(time, 0), memory);
            assert_eq!(handler.start, time);
            mshrs.hold(handler, until);
        }
        // One cycle early waits, and a register is free in the very cycle in which its miss completes.
        assert_eq!(starts(&mshrs, [99, 100]), [100, 100]);
        assert_eq!(mshrs.drained(memory), 250);
    }

    #[test]
    fn a_register_that_is_taken_later_is_free_until_then() {
        let (mut mshrs, memory) = (Mshrs::new(1), &mut fixed());
        let later = mshrs.acquire(0, Claim::ahead(600, 0), memory);
        mshrs.hold(later, 850);
        assert_eq!(starts(&mshrs, [0, 350, 351, 600]), [0, 350, 850, 850]);
        assert!(
            mshrs
                .clone()
                .acquire_free(0, Claim::ahead(350, 0), memory)
                .is_some()
        );
        assert!(
            mshrs
                .clone()
                .acquire_free(0, Claim::ahead(351, 0), memory)
                .is_none()
        );
        // What is left behind a miss in the gap is free.
        let between = mshrs.acquire(0, Claim::ahead(20, 0), memory);
        mshrs.hold(between, 100);
        assert_eq!(starts(&mshrs, [0, 100, 350, 351]), [100, 100, 350, 850]);
    }

    /// One register is free from cycle 100 on, and the other from cycle 300 to 600.
    #[test]
    fn a_register_that_is_free_for_good_is_taken_before_a_later_gap() {
        let (mut mshrs, memory) = (Mshrs::new(2), &mut fixed());
        for (time, until) in [(0, 300), (0, 100), (600, 850)] {
            let handler = mshrs.acquire(0, Claim::ahead(time, 0), memory);
            mshrs.hold(handler, until);
        }
        assert_eq!(starts(&mshrs, [50, 100]), [100, 100]);
        let mut is_free = |time| {
            mshrs
                .clone()
                .acquire_free(0, Claim::ahead(time, 0), memory)
                .is_some()
        };
        assert_eq!([50, 99, 100].map(&mut is_free), [false, false, true]);
        let taken = mshrs.acquire(0, Claim::ahead(100, 0), &mut fixed());
        mshrs.hold(taken, 2000);
        let mut is_free = |time| {
            mshrs
                .clone()
                .acquire_free(0, Claim::ahead(time, 0), memory)
                .is_some()
        };
        assert_eq!([200, 299, 300].map(&mut is_free), [false, false, true]);
    }

    #[test]
    fn a_gap_that_is_just_long_enough_is_kept() {
        let (mut mshrs, memory) = (Mshrs::new(1), &mut fixed());
        let later = mshrs.acquire(0, Claim::ahead(u64::from(LATENCY), 0), memory);
        mshrs.hold(later, 500);
        assert_eq!(starts(&mshrs, [0, 1]), [0, 500]);
    }

    #[test]
    fn a_miss_in_a_gap_that_takes_longer_is_waited_for_at_the_end() {
        let (mut mshrs, memory) = (Mshrs::new(1), &mut fixed());
        let later = mshrs.acquire(0, Claim::ahead(600, 0), memory);
        mshrs.hold(later, 850);
        let between = mshrs.acquire(0, Claim::ahead(20, 0), memory);
        mshrs.hold(between, 900);
        assert_eq!(mshrs.drained(memory), 900);
        assert_eq!(starts(&mshrs, [20]), [850]);
    }

    #[test]
    fn gaps_of_the_past_are_forgotten() {
        let (mut mshrs, memory) = (Mshrs::new(2), &mut fixed());
        for now in (0..100_000).step_by(1000) {
            let handler = mshrs.acquire(0, Claim::ahead(now + 500, now), memory);
            mshrs.hold(handler, now + 750);
        }
        assert!(mshrs.gaps.len() <= 2, "{:?}", mshrs.gaps);
    }
}
