//! Miss status holding registers: how many misses may be outstanding.

use crate::clock;
use crate::memory::{Memory, is_pending};
use std::collections::VecDeque;

/// Low bits of a register that hold its number; the others hold the cycle in which its last miss completes. One minimum then
/// finds both the first completion and the register.
const NUMBER_BITS: u32 = 12;
/// Numbers of requests under way follow the last cycle of a run.
const _: () = assert!(clock::END.ilog2() < u64::BITS - NUMBER_BITS);

/// The outstanding misses.
///
/// Requests come in the order of the program, which is not the order of their times: a register may be taken for a later cycle, and is
/// free until then. Such gaps are for requests that find no register free for good, if a line from an idle memory comes in time.
/// Nobody knows how long a miss will take when it begins, so that one that takes longer is outstanding together with the next.
#[derive(Clone, Debug)]
pub(crate) struct Mshrs {
    registers: Box<[u64]>,
    /// Register to try first: misses complete roughly in the order of their requests.
    oldest: usize,
    /// In the order of their ends.
    gaps: VecDeque<Gap>,
    /// When misses in gaps complete.
    in_gaps: Vec<u64>,
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

/// Who asks for a handler.
#[derive(Clone, Copy, Debug)]
struct Request {
    time: u64,
    /// No later request is before this cycle.
    now: u64,
    /// Cycles that the line takes at least if it comes from memory.
    shortest: u64,
}

impl Mshrs {
    pub(crate) fn new(registers: u32) -> Self {
        Self {
            registers: (0..u64::from(registers)).collect(),
            oldest: 0,
            gaps: VecDeque::new(),
            in_gaps: Vec::new(),
        }
    }

    /// A handler for the line at `address` from the first cycle at or after `time` on in which one is free. `memory` knows, or finds out,
    /// when misses end whose time is pending. No later request is before `now`.
    #[inline]
    pub(crate) fn acquire(
        &mut self,
        address: u64,
        time: u64,
        now: u64,
        memory: &mut Memory,
    ) -> Handler {
        let shortest = memory.latency_of(address);
        let register = self.oldest;
        let until = self.registers[register] >> NUMBER_BITS;
        let request = Request {
            time,
            now,
            shortest,
        };
        if until > time {
            return self.search(request, memory);
        }
        self.oldest = if register + 1 == self.registers.len() {
            0
        } else {
            register + 1
        };
        if time - now >= shortest {
            self.leave_gap(until, time, request);
        }
        Handler {
            start: time,
            place: Place::Register(register),
        }
    }

    /// The cycle, at or after `time`, in which a handler is free, but for gaps; at once, if it is not known yet.
    #[inline(always)]
    pub(crate) fn free_at(&self, time: u64) -> u64 {
        if self.registers[self.oldest] >> NUMBER_BITS <= time {
            return time;
        }
        self.first_free(time)
    }

    #[inline(never)]
    fn first_free(&self, time: u64) -> u64 {
        let (until, _) = self.first();
        if is_pending(until) {
            time
        } else {
            until.max(time)
        }
    }

    /// A handler for the line at `address` that is free at `time`, if there is one. No later call has a time before `now`: up to then
    /// `memory` finds out when misses end whose time is pending.
    pub(crate) fn free(
        &mut self,
        address: u64,
        time: u64,
        now: u64,
        memory: &mut Memory,
    ) -> Option<Handler> {
        let request = Request {
            time,
            now,
            shortest: memory.latency_of(address),
        };
        loop {
            let pending = self.learn(memory);
            let (until, register) = self.first();
            if until <= time {
                return Some(self.take_register(register, until, request));
            }
            if let Some((start, gap)) = self.first_gap(request)
                && start == time
            {
                return Some(self.take_gap(gap, request));
            }
            if !pending || !memory.advance(now) {
                return None;
            }
        }
    }

    /// The same as [`Mshrs::acquire`], where the register to try first is taken.
    #[inline(never)]
    fn search(&mut self, request: Request, memory: &mut Memory) -> Handler {
        loop {
            let pending = self.learn(memory);
            let (until, register) = self.first();
            if until <= request.time {
                return self.take_register(register, until, request);
            }
            if let Some((start, gap)) = self.first_gap(request)
                && start < until
            {
                return self.take_gap(gap, request);
            }
            // A pending miss may complete before the first of those that are known.
            if !pending || !memory.advance(until) {
                return self.take_register(register, until, request);
            }
        }
    }

    /// The register whose last miss completes first, and when.
    fn first(&self) -> (u64, usize) {
        let first = self.registers.iter().copied().min().unwrap_or(0);
        let register = first & ((1 << NUMBER_BITS) - 1);
        (first >> NUMBER_BITS, register as usize)
    }

    /// The gap that a request can use first, and when; of several the one that ends first.
    fn first_gap(&self, request: Request) -> Option<(u64, usize)> {
        let starts = self.gaps.iter().enumerate().filter_map(|(number, gap)| {
            let start = gap.start.max(request.time);
            (start + request.shortest <= gap.end).then_some((start, number))
        });
        starts.min()
    }

    fn take_register(&mut self, register: usize, until: u64, request: Request) -> Handler {
        let start = until.max(request.time);
        self.leave_gap(until, start, request);
        Handler {
            start,
            place: Place::Register(register),
        }
    }

    fn take_gap(&mut self, number: usize, request: Request) -> Handler {
        let gap = self.gaps.remove(number).expect("a gap that was found");
        let start = gap.start.max(request.time);
        self.leave_gap(gap.start, start, request);
        Handler {
            start,
            place: Place::GapBefore(gap.end),
        }
    }

    /// A register is free from cycle `start` on and taken from cycle `end` on. What would not be enough for the request is not kept.
    fn leave_gap(&mut self, start: u64, end: u64, request: Request) {
        while self.gaps.front().is_some_and(|gap| gap.end <= request.now) {
            self.gaps.pop_front();
        }
        let start = start.max(request.now);
        if start + request.shortest <= end {
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
        for (register, held) in self.registers.iter_mut().enumerate() {
            let until = *held >> NUMBER_BITS;
            if is_pending(until) {
                let known = memory.known(until);
                pending |= is_pending(known);
                *held = known << NUMBER_BITS | register as u64;
            }
        }
        for until in &mut self.in_gaps {
            *until = memory.known(*until);
        }
        pending
    }

    /// Holds the handler until its miss completes.
    #[inline]
    pub(crate) fn hold(&mut self, handler: Handler, until: u64) {
        match handler.place {
            Place::Register(register) => {
                self.registers[register] = until << NUMBER_BITS | register as u64;
            }
            Place::GapBefore(next) => self.hold_before(next, handler.start, until),
        }
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
        let registers = self.registers.iter().map(|held| held >> NUMBER_BITS);
        registers.chain(self.in_gaps.iter().copied())
    }

    pub(crate) fn clear(&mut self) {
        for (register, held) in self.registers.iter_mut().enumerate() {
            *held = register as u64;
        }
        self.oldest = 0;
        self.gaps.clear();
        self.in_gaps.clear();
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
        times.map(|time| mshrs.clone().acquire(0, time, 0, &mut fixed()).start)
    }

    #[test]
    fn a_full_file_waits_for_the_first_completion() {
        let (mut mshrs, memory) = (Mshrs::new(2), &mut fixed());
        for (time, until) in [(0, 250), (1, 100)] {
            let handler = mshrs.acquire(0, time, 0, memory);
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
        let later = mshrs.acquire(0, 600, 0, memory);
        mshrs.hold(later, 850);
        assert_eq!(starts(&mshrs, [0, 350, 351, 600]), [0, 350, 850, 850]);
        assert!(mshrs.clone().free(0, 350, 0, memory).is_some());
        assert!(mshrs.clone().free(0, 351, 0, memory).is_none());
        // What is left behind a miss in the gap is free.
        let between = mshrs.acquire(0, 20, 0, memory);
        mshrs.hold(between, 100);
        assert_eq!(starts(&mshrs, [0, 100, 350, 351]), [100, 100, 350, 850]);
    }

    /// One register is free from cycle 100 on, and the other from cycle 300 to 600.
    #[test]
    fn a_register_that_is_free_for_good_is_taken_before_a_later_gap() {
        let (mut mshrs, memory) = (Mshrs::new(2), &mut fixed());
        for (time, until) in [(0, 300), (0, 100), (600, 850)] {
            let handler = mshrs.acquire(0, time, 0, memory);
            mshrs.hold(handler, until);
        }
        assert_eq!(starts(&mshrs, [50, 100]), [100, 100]);
        let mut is_free = |time| mshrs.clone().free(0, time, 0, memory).is_some();
        assert_eq!([50, 99, 100].map(&mut is_free), [false, false, true]);
        let taken = mshrs.acquire(0, 100, 0, &mut fixed());
        mshrs.hold(taken, 2000);
        let mut is_free = |time| mshrs.clone().free(0, time, 0, memory).is_some();
        assert_eq!([200, 299, 300].map(&mut is_free), [false, false, true]);
    }

    #[test]
    fn a_gap_that_is_just_long_enough_is_kept() {
        let (mut mshrs, memory) = (Mshrs::new(1), &mut fixed());
        let later = mshrs.acquire(0, u64::from(LATENCY), 0, memory);
        mshrs.hold(later, 500);
        assert_eq!(starts(&mshrs, [0, 1]), [0, 500]);
    }

    #[test]
    fn a_miss_in_a_gap_that_takes_longer_is_waited_for_at_the_end() {
        let (mut mshrs, memory) = (Mshrs::new(1), &mut fixed());
        let later = mshrs.acquire(0, 600, 0, memory);
        mshrs.hold(later, 850);
        let between = mshrs.acquire(0, 20, 0, memory);
        mshrs.hold(between, 900);
        assert_eq!(mshrs.drained(memory), 900);
        assert_eq!(starts(&mshrs, [20]), [850]);
    }

    #[test]
    fn gaps_of_the_past_are_forgotten() {
        let (mut mshrs, memory) = (Mshrs::new(2), &mut fixed());
        for now in (0..100_000).step_by(1000) {
            let handler = mshrs.acquire(0, now + 500, now, memory);
            mshrs.hold(handler, now + 750);
        }
        assert!(mshrs.gaps.len() <= 2, "{:?}", mshrs.gaps);
    }
}
