//! Miss status holding registers: how many misses may be outstanding.

use crate::calendar::{Claim, Order};
use crate::memory::{Memory, Transfer, is_pending};
use crate::miss_end::MissEnd;
use std::collections::VecDeque;

/// The outstanding misses.
///
/// Requests come in the order of the program, which is not the order of their times: a register may be taken for a later cycle, and is
/// free until then. Such gaps are for requests that find no register free for good, if a line from an idle memory comes in time.
/// Nobody knows how long a miss will take when it begins, so that one that takes longer is outstanding together with the next.
/// A request that yields takes a register, and its place on the bus, when simulation has come to its time; what it is told before is an estimate.
#[derive(Clone, Debug)]
pub(crate) struct Mshrs {
    /// When the last miss of each register completes, ascending.
    registers: Box<[MissEnd]>,
    /// In the order of their ends.
    gaps: VecDeque<Gap>,
    /// When misses in gaps complete.
    in_gaps: Vec<MissEnd>,
    /// Misses that yield, and have no register yet, in the order in which they ask.
    yielding: VecDeque<Yielding>,
    /// How many misses have yielded so far.
    yielded: u64,
    /// How the latest of those that have a register differ from what they were told, by their numbers modulo a power of two.
    delays: Box<[Delay]>,
}

#[derive(Clone, Copy, Debug)]
struct Yielding {
    address: u64,
    asked: u64,
    /// By the estimate that it was given.
    start: u64,
    until: MissEnd,
    /// What it asks of memory; nothing, if it takes as long as it was told, from when it has its handler.
    transfer: Option<Transfer>,
}

/// What came of a miss that has yielded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delay {
    /// It completes so many later than it was told.
    pub(crate) cycles: i64,
    /// The line that it waited for to have a handler.
    pub(crate) behind: MissEnd,
}

/// Cycles in which a register is free before its next miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gap {
    /// The end of the miss before.
    start: MissEnd,
    end: u64,
}

/// A miss handler that a miss takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handler {
    /// From this cycle on.
    pub(crate) start: u64,
    /// The line whose end frees it; nothing, if it was free when it was asked for.
    pub(crate) behind: MissEnd,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Register(usize),
    /// Before another miss, which begins in this cycle.
    GapBefore(u64),
    /// One that is not chosen yet, for a line that was asked for in a cycle. The latest miss before it that waits for the same bus was promised to
    /// begin in cycle `after`.
    Later {
        address: u64,
        asked: u64,
        after: u64,
    },
}

impl Handler {
    /// One where time stands still, and none is waited for.
    pub(crate) fn at_once(start: u64) -> Self {
        Self {
            start,
            behind: MissEnd::default(),
            place: Place::Register(0),
        }
    }

    /// Who goes first behind it.
    #[inline]
    pub(crate) fn order(&self) -> Order {
        match self.place {
            Place::Later { after, .. } => Order::Promised { after },
            Place::Register(_) | Place::GapBefore(_) => Order::Kept,
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
    /// So many registers. How late misses were that yielded is remembered of at least `stores` of them.
    pub(crate) fn new(registers: u32, stores: u32) -> Self {
        Self {
            registers: vec![MissEnd::default(); registers as usize].into_boxed_slice(),
            gaps: VecDeque::new(),
            in_gaps: Vec::new(),
            yielding: VecDeque::new(),
            yielded: 0,
            delays: vec![Delay::default(); stores.next_power_of_two() as usize].into_boxed_slice(),
        }
    }

    /// A handler for a line, told by its address and what is asked of memory if it does so, from the first cycle at or after the claim's on in
    /// which one is free. `memory` knows, or finds out, when misses end whose time is pending.
    #[inline]
    pub(crate) fn acquire(
        &mut self,
        (address, transfer): (u64, Transfer),
        claim: Claim,
        memory: &mut Memory,
    ) -> Handler {
        let asked = Asked {
            time: claim.time,
            now: claim.now,
            shortest: memory.latency_of(address),
        };
        self.settle_until(claim.behind, claim.now, memory);
        if claim.order == Order::Kept {
            self.take(asked, memory)
        } else {
            self.estimate((address, transfer), asked, memory)
        }
    }

    #[inline(always)]
    fn take(&mut self, asked: Asked, memory: &mut Memory) -> Handler {
        match self.free(asked.time).checked_sub(1) {
            Some(latest) => self.take_register(latest, asked),
            None => self.search(asked, memory),
        }
    }

    /// Gives registers to those that yielded and asked by a cycle. No later request is before `now`.
    #[inline(always)]
    fn settle_until(&mut self, cycle: u64, now: u64, memory: &mut Memory) {
        while self
            .yielding
            .front()
            .is_some_and(|first| first.asked <= cycle)
        {
            self.settle_first(now, memory);
        }
    }

    /// Gives registers to all that yielded: nobody comes any more who asks before them.
    pub(crate) fn settle_all(&mut self, memory: &mut Memory) {
        self.settle_until(u64::MAX, u64::MAX, memory);
    }

    #[inline(never)]
    fn settle_first(&mut self, now: u64, memory: &mut Memory) {
        let Some(first) = self.yielding.pop_front() else {
            return;
        };
        let now = now.min(first.asked);
        let asked = Asked {
            time: first.asked,
            now,
            shortest: memory.latency_of(first.address),
        };
        let handler = self.take(asked, memory);
        let start = handler.start;
        let told = if start == first.start {
            memory.known(first.until.cycle())
        } else {
            memory.wait(first.until.cycle())
        };
        // What was pending may turn out to have been there.
        let told = told.max(first.start);
        let until = match first.transfer {
            _ if is_pending(told) => told,
            None => start + (told - first.start),
            Some(transfer) => {
                // Other cores may be further behind.
                let claim = Claim::ahead(start, 0);
                // Where it has been asked for already it takes as long from when it has its handler.
                let later = start.saturating_sub(first.start);
                memory.keep_promise(first.address, claim, transfer, told + later)
            }
        };
        self.hold(handler, first.until.at(until), None);
        let place = self.place_of_delay(self.settled());
        self.delays[place] = Delay {
            cycles: until as i64 - told as i64,
            behind: handler.behind,
        };
    }

    /// The number of the latest miss that has yielded and has its register.
    fn settled(&self) -> u64 {
        self.yielded - self.yielding.len() as u64
    }

    fn place_of_delay(&self, number: u64) -> usize {
        number as usize & (self.delays.len() - 1)
    }

    /// How many misses have yielded so far, which is the number of the latest.
    pub(crate) fn yielded(&self) -> u64 {
        self.yielded
    }

    /// What came of a miss that has yielded, by its number; nothing if it has no register yet, or had one too long ago.
    pub(crate) fn delay_of(&self, number: u64) -> Option<Delay> {
        let settled = self.settled();
        let is_known = number <= settled && settled < number + self.delays.len() as u64;
        is_known.then(|| self.delays[self.place_of_delay(number)])
    }

    /// Gives registers to those that yielded up to one, by its number.
    pub(crate) fn settle_to(&mut self, number: u64, now: u64, memory: &mut Memory) {
        while self.settled() < number {
            self.settle_first(now, memory);
        }
    }

    /// A handler from when on one is free as far as that is known.
    #[inline(never)]
    fn estimate(&mut self, line: (u64, Transfer), asked: Asked, memory: &mut Memory) -> Handler {
        loop {
            if self.yielding.len() < self.free(asked.time) {
                return self.later(line, asked, MissEnd::default(), memory);
            }
            let pending = self.learn(memory);
            let behind = self.estimated_start(asked.time);
            if !is_pending(behind.cycle()) {
                return self.later(line, asked, behind, memory);
            }
            if !pending || !memory.advance(behind.cycle()) {
                return self.take(asked, memory);
            }
        }
    }

    /// A handler that a line frees, which is chosen later.
    fn later(
        &self,
        (address, transfer): (u64, Transfer),
        asked: Asked,
        behind: MissEnd,
        memory: &Memory,
    ) -> Handler {
        let bus = memory.bus_of(address, transfer);
        let waits_before = |other: &&Yielding| {
            let other_bus = other
                .transfer
                .map(|other_transfer| memory.bus_of(other.address, other_transfer));
            other_bus == Some(bus)
        };
        let before = self.yielding.iter().rfind(waits_before);
        let promised = |other: &Yielding| other.until.cycle().saturating_sub(asked.shortest);
        Handler {
            start: behind.cycle().max(asked.time),
            behind,
            place: Place::Later {
                address,
                asked: asked.time,
                after: before.map_or(0, promised),
            },
        }
    }

    /// The end of the line that frees the first of all handlers after `time`, if misses that yield have some, too; nothing, if one is free then.
    fn estimated_start(&self, time: u64) -> MissEnd {
        let free = self.free(time);
        let ends = self.yielding.iter().map(|other| other.until);
        let mut taken: Vec<MissEnd> = ends.filter(|until| until.cycle() > time).collect();
        let Some(behind) = taken.len().checked_sub(free) else {
            return MissEnd::default();
        };
        taken.extend(&self.registers[free..]);
        *taken.select_nth_unstable(behind).1
    }

    /// How many registers are free at `time` for good. The last of them is the one to take: the others have been free for longer, and stay so
    /// for those who come earlier.
    #[inline]
    fn free(&self, time: u64) -> usize {
        // Few are taken, mostly, so that this is faster than a binary search.
        let last = (self.registers.iter()).rposition(|until| until.cycle() <= time);
        last.map_or(0, |last| last + 1)
    }

    /// Whether a handler is free at `time` for good, as far as `memory` knows when misses end.
    pub(crate) fn has_free(&mut self, time: u64, memory: &Memory) -> bool {
        self.learn(memory);
        self.free(time) > 0
    }

    /// Until which cycle `memory` has to be simulated before it is known when a handler is free for a request at `time`: at the latest, and no
    /// cycle of a run if it ends with a pending time. Nothing, if that is known.
    pub(crate) fn unknown_until(&mut self, time: u64, memory: &Memory) -> Option<u64> {
        let pending = self.learn(memory);
        if !pending || self.yielding.len() < self.free(time) {
            return None;
        }
        let until = self.estimated_start(time).cycle();
        (!memory.has_reached(until)).then_some(until)
    }

    /// The cycle, at or after `time`, in which a handler is free, but for gaps; at once, if it is not known yet.
    #[inline(always)]
    pub(crate) fn free_at(&self, time: u64) -> u64 {
        let until = self.registers[0].cycle();
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
        let Claim { time, now, .. } = claim;
        let asked = Asked {
            time,
            now,
            shortest: memory.latency_of(address),
        };
        self.settle_until(claim.behind, now, memory);
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
            let until = self.registers[0].cycle();
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
            let start = gap.start.cycle().max(asked.time);
            (start + asked.shortest <= gap.end).then_some((start, number))
        });
        starts.min()
    }

    #[inline]
    fn take_register(&mut self, register: usize, asked: Asked) -> Handler {
        let until = self.registers[register];
        let start = until.cycle().max(asked.time);
        if start - asked.now >= asked.shortest {
            self.leave_gap(until, start, asked);
        }
        Handler {
            start,
            behind: waited_for(until, asked.time),
            place: Place::Register(register),
        }
    }

    fn take_gap(&mut self, number: usize, asked: Asked) -> Handler {
        let gap = self.gaps.remove(number).expect("a gap that was found");
        let start = gap.start.cycle().max(asked.time);
        self.leave_gap(gap.start, start, asked);
        Handler {
            start,
            behind: waited_for(gap.start, asked.time),
            place: Place::GapBefore(gap.end),
        }
    }

    /// A register is free from a miss that ends at `start` on and taken from cycle `end` on. What would not be enough for the request is not kept.
    fn leave_gap(&mut self, start: MissEnd, end: u64, asked: Asked) {
        while self.gaps.front().is_some_and(|gap| gap.end <= asked.now) {
            self.gaps.pop_front();
        }
        let from = start.cycle().max(asked.now);
        if from + asked.shortest <= end {
            let start = start.at(from);
            self.keep_gap(Gap { start, end });
        }
    }

    fn keep_gap(&mut self, gap: Gap) {
        let behind = self.gaps.partition_point(|other| other.end <= gap.end);
        self.gaps.insert(behind, gap);
    }

    /// Puts cycles in the place of pending times that are known by now. Whether some are still pending in registers, or of misses that yield.
    fn learn(&mut self, memory: &Memory) -> bool {
        let mut pending = false;
        let known = (self.registers).partition_point(|until| !is_pending(until.cycle()));
        for until in &mut self.registers[known..] {
            *until = until.at(memory.known(until.cycle()));
            pending |= is_pending(until.cycle());
        }
        if known < self.registers.len() {
            self.registers.sort_unstable();
        }
        for until in &mut self.in_gaps {
            *until = until.at(memory.known(until.cycle()));
        }
        for Yielding { until, .. } in &mut self.yielding {
            if is_pending(until.cycle()) {
                *until = until.at(memory.known(until.cycle()));
                pending |= is_pending(until.cycle());
            }
        }
        pending
    }

    /// Holds the handler until its miss completes, which asks something of memory when it has its turn, if it has yielded.
    #[inline]
    pub(crate) fn hold(&mut self, handler: Handler, until: MissEnd, transfer: Option<Transfer>) {
        match handler.place {
            Place::Register(register) => self.hold_register(register, until),
            Place::GapBefore(next) => self.hold_before(next, handler.start, until),
            Place::Later { address, asked, .. } => self.hold_later(Yielding {
                address,
                asked,
                start: handler.start,
                until,
                transfer,
            }),
        }
    }

    /// Those that complete before move up.
    #[inline]
    fn hold_register(&mut self, mut place: usize, until: MissEnd) {
        while let Some(&next) = self.registers.get(place + 1)
            && next < until
        {
            self.registers[place] = next;
            place += 1;
        }
        self.registers[place] = until;
    }

    #[inline(never)]
    fn hold_later(&mut self, miss: Yielding) {
        debug_assert!(
            self.yielding
                .back()
                .is_none_or(|last| last.asked <= miss.asked),
            "stores graduate in order"
        );
        self.yielding.push_back(miss);
        self.yielded += 1;
    }

    fn hold_before(&mut self, next: u64, start: u64, until: MissEnd) {
        self.in_gaps.retain(|until| until.cycle() > start);
        self.in_gaps.push(until);
        if until.cycle() < next {
            self.keep_gap(Gap {
                start: until,
                end: next,
            });
        }
    }

    /// Nothing is asked for any more: `memory` keeps when outstanding misses end, until [`Mshrs::drained`] asks.
    pub(crate) fn keep(&mut self, memory: &mut Memory) {
        self.settle_all(memory);
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
        (self.registers.iter().chain(&self.in_gaps)).map(|until| until.cycle())
    }

    pub(crate) fn clear(&mut self) {
        self.registers.fill(MissEnd::default());
        self.gaps.clear();
        self.in_gaps.clear();
        self.yielding.clear();
    }
}

/// What a request waits for that asks at `time`: the end of the miss before it, unless that has passed.
#[inline(always)]
fn waited_for(before: MissEnd, time: u64) -> MissEnd {
    if before.cycle() > time {
        before
    } else {
        MissEnd::default()
    }
}

#[cfg(test)]
mod tests;
