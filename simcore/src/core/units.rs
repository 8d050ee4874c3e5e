//! Building blocks of both pipelines: slot counters, functional units, remembered results.

use crate::clock;
use crate::hierarchy::Served;
use crate::memory::is_pending;
use crate::miss_end::MissEnd;
use crate::mshr::Delay;
use std::num::NonZeroU64;

/// Precision of a division by multiplication: the most that holds the inverse of 1. Twice the dividend times the inverse
/// has the quotient in its upper word, so that the host need not shift.
const INVERSE_BITS: u32 = 63;

/// A divisor whose quotients are found by multiplication.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisor {
    /// 2^63 / divisor, rounded up.
    inverse: u64,
}

impl Divisor {
    pub(super) fn new(divisor: u32) -> Self {
        Self {
            inverse: (1_u64 << INVERSE_BITS).div_ceil(u64::from(divisor)),
        }
    }

    /// Exact for dividends below 2^63 / divisor.
    #[inline(always)]
    pub(super) fn divide(self, dividend: u64) -> u64 {
        ((u128::from(dividend * 2) * u128::from(self.inverse)) >> u64::BITS) as u64
    }
}

/// A position in a stream of slots, so many to a cycle, counted from the beginning of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotClock {
    pub(super) position: u64,
    per_cycle: u64,
    divisor: Divisor,
}

impl SlotClock {
    pub(super) fn new(per_cycle: u32) -> Self {
        Self {
            position: 0,
            per_cycle: u64::from(per_cycle),
            divisor: Divisor::new(per_cycle),
        }
    }

    /// The cycle of a slot. Exact for the first 2^63 / `per_cycle` slots.
    #[inline]
    fn cycle_of(&self, slot: u64) -> u64 {
        self.divisor.divide(slot)
    }

    /// The cycle of the next slot.
    #[inline]
    pub(super) fn cycle(&self) -> u64 {
        self.cycle_of(self.position)
    }

    /// Takes `slots` (at least one) and gives the cycle of the last.
    #[inline]
    pub(super) fn take(&mut self, slots: u64) -> u64 {
        self.position += slots;
        self.cycle_of(self.position - 1)
    }

    /// Whether `cycle` begins after the next slot.
    #[inline]
    pub(super) fn is_before(&self, cycle: u64) -> bool {
        self.position < cycle * self.per_cycle
    }

    /// Moves to the start of `cycle` unless that has passed.
    #[inline]
    pub(super) fn wait_until(&mut self, cycle: u64) {
        self.position = self.position.max(cycle * self.per_cycle);
    }
}

/// Cycles that a calendar tells apart; a power of two.
const CALENDAR_CYCLES: usize = 256;
/// Bits of a calendar entry that count operations; the others hold the cycle.
const COUNT_BITS: u32 = 8;
const _: () = assert!(clock::END.ilog2() < u64::BITS - COUNT_BITS);

/// A functional unit that starts so many operations per cycle, out of order.
///
/// The calendar holds the latest of the cycles that share an entry: an operation more than `CALENDAR_CYCLES` before
/// another may find its unit free although it is not.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    per_cycle: u64,
    /// Cycle and operations started in it, by cycle modulo the calendar.
    started: [u64; CALENDAR_CYCLES],
}

impl Unit {
    pub(super) fn new(per_cycle: u32) -> Self {
        Self {
            per_cycle: u64::from(per_cycle),
            started: [0; CALENDAR_CYCLES],
        }
    }

    /// Starts an operation in the first cycle at or after `ready` with a free place, and gives that cycle.
    #[inline]
    pub(super) fn start(&mut self, ready: u64) -> u64 {
        let mut cycle = ready;
        loop {
            let entry = &mut self.started[cycle as usize % CALENDAR_CYCLES];
            let empty = cycle << COUNT_BITS;
            let full = empty + self.per_cycle;
            if *entry < full {
                *entry = (*entry).max(empty) + 1;
                return cycle;
            }
            if *entry > full {
                return cycle;
            }
            cycle += 1;
        }
    }
}

/// Results that are remembered at most; a power of two.
const RESULTS: usize = 1024;

/// Results of the latest events, for those that depend on them. A result further back is taken as complete.
#[derive(Clone, Debug)]
pub(super) struct Results<T> {
    /// By event modulo one more than the furthest.
    latest: [T; RESULTS],
    next: usize,
    /// Furthest event back that is remembered, one less than a power of two: a short ring stays in the first-level cache of the host.
    furthest: usize,
}

impl<T: Copy + Default> Results<T> {
    /// Remembers at least `events` results, of which there are fewer than `RESULTS`.
    pub(super) fn new(events: usize) -> Self {
        Self {
            latest: [T::default(); RESULTS],
            next: 0,
            furthest: (events + 1).next_power_of_two().min(RESULTS) - 1,
        }
    }

    #[inline]
    fn place(&self, event: usize) -> usize {
        event & (self.furthest % RESULTS)
    }

    /// The result of the event `back` events before the current one; `None` if there is none to wait for.
    #[inline]
    pub(super) fn get(&self, back: u32) -> Option<&T> {
        let back = back as usize;
        let result = &self.latest[self.place(self.next.wrapping_sub(back))];
        (back.wrapping_sub(1) < self.furthest).then_some(result)
    }

    /// Number of the current event, which has no result yet.
    pub(super) fn number(&self) -> usize {
        self.next
    }

    /// The result of one of the latest events, by its number.
    pub(super) fn of(&self, event: usize) -> T {
        self.latest[self.place(event)]
    }

    /// Records what an earlier event's result is after all, if it is still remembered.
    pub(super) fn set(&mut self, event: usize, result: T) {
        if self.next - event <= self.furthest {
            self.latest[self.place(event)] = result;
        }
    }

    /// Goes on to the next event: the current one has no result that anything waits for.
    #[inline]
    pub(super) fn skip(&mut self) {
        self.next = self.next.wrapping_add(1);
    }

    /// Records the current event's result and goes on to the next event.
    #[inline]
    pub(super) fn push(&mut self, result: T) {
        self.latest[self.place(self.next)] = result;
        self.next = self.next.wrapping_add(1);
    }
}

/// When the line is there of a store that has not asked for it: a pending time that no memory gives.
const UNASKED: u64 = u64::MAX >> 1;

/// A store in the buffer.
#[derive(Clone, Copy, Debug, Default)]
struct Store {
    /// When its line is there, which may be pending.
    complete: u64,
    /// When it is written at the earliest, if that is pending: its line may turn out to have been there.
    earliest: u64,
    /// Who serves it.
    level: usize,
    /// What it waits for to have a miss handler.
    behind: MissEnd,
    /// The number of its miss, if that has yielded: see [`crate::mshr::Mshrs::delay_of`].
    miss: Option<NonZeroU64>,
}

impl Store {
    /// What came of its miss is known.
    fn delay(&mut self, delay: Delay) {
        self.complete = self.complete.saturating_add_signed(delay.cycles);
        self.behind = delay.behind;
        self.miss = None;
    }

    /// Its line comes in a cycle that was pending.
    fn learn(&mut self, complete: u64) {
        self.complete = complete.max(self.earliest);
    }

    /// It leaves, behind one that leaves in a cycle.
    fn release(&self, left: u64) -> Release {
        Release {
            cycle: self.complete.max(left),
            level: self.level,
            behind: self.behind,
        }
    }
}

/// When an entry of the store buffer is free, and what its store waits for until then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Release {
    pub(super) cycle: u64,
    /// Who serves the store's line.
    pub(super) level: usize,
    /// The line whose end frees a miss handler for it.
    pub(super) behind: MissEnd,
}

/// Graduated stores that wait for their line. They leave in order.
#[derive(Clone, Debug)]
pub(super) struct StoreBuffer {
    entries: Box<[Store]>,
    next: usize,
    /// When the latest store leaves of those whose entries others have.
    left: u64,
    /// When the latest of all leaves, as far as that was known when it was told.
    last_release: u64,
}

impl StoreBuffer {
    pub(super) fn new(entries: u32) -> Self {
        Self {
            entries: vec![Store::default(); entries as usize].into_boxed_slice(),
            next: 0,
            left: 0,
            last_release: 0,
        }
    }

    /// When the next entry is free.
    #[inline]
    pub(super) fn free(&self) -> Release {
        self.entries[self.next].release(self.left)
    }

    /// The miss of the store that has the next entry, if it has yielded.
    #[inline]
    pub(super) fn oldest_miss(&self) -> Option<NonZeroU64> {
        self.entries[self.next].miss
    }

    /// Whether it is known when the stores that have the next entries, so many, have their lines: of pending times `knows` says so.
    pub(super) fn is_known(&self, entries: usize, knows: impl Fn(u64) -> bool) -> bool {
        let (newer, older) = self.entries.split_at(self.next);
        let mut oldest = older.iter().chain(newer).take(entries);
        oldest.all(|store| {
            let complete = store.complete;
            !is_pending(complete) || complete != UNASKED && knows(complete)
        })
    }

    /// The same of all.
    pub(super) fn all_are_known(&self, knows: impl Fn(u64) -> bool) -> bool {
        self.is_known(self.entries.len(), knows)
    }

    /// Whether the store that has the next entry has not asked for its line.
    pub(super) fn oldest_is_unasked(&self) -> bool {
        self.entries[self.next].complete == UNASKED
    }

    /// Whether the store that has the next entry has its line at a pending time: that it is known by now, or finds out.
    #[inline]
    pub(super) fn learn_oldest(&mut self, learn: impl FnOnce(u64) -> u64) {
        let oldest = &mut self.entries[self.next];
        if is_pending(oldest.complete) {
            oldest.learn(learn(oldest.complete));
        }
    }

    /// All pending times are known by now, or somebody finds out.
    pub(super) fn learn(&mut self, mut learn: impl FnMut(u64) -> u64) {
        for store in &mut self.entries {
            if is_pending(store.complete) {
                store.learn(learn(store.complete));
            }
        }
        self.tell_last_release();
    }

    /// What came of the miss of the store that has the next entry is known.
    pub(super) fn delay_oldest(&mut self, delay: Delay) {
        self.entries[self.next].delay(delay);
    }

    /// The same of all whose misses have yielded.
    pub(super) fn delay(&mut self, delay_of: impl Fn(NonZeroU64) -> Option<Delay>) {
        for store in &mut self.entries {
            if let Some(delay) = store.miss.and_then(&delay_of) {
                store.delay(delay);
            }
        }
        self.tell_last_release();
    }

    fn tell_last_release(&mut self) {
        self.last_release = self.releases().last().map_or(0, |last| last.cycle);
    }

    /// Puts in another word of the store that was put in last: it leaves with that.
    #[inline]
    pub(super) fn put_word(&mut self, level: usize) {
        self.put(Served { complete: 0, level }, MissEnd::default(), None);
    }

    /// Puts in a store that will ask for its line, and gives its place.
    pub(super) fn put_unasked(&mut self) -> usize {
        let place = self.next;
        let unasked = Served {
            complete: UNASKED,
            level: 0,
        };
        self.put(unasked, MissEnd::default(), None);
        place
    }

    /// The store at a place, which has so many words, has asked for its line: it is `served` behind a line whose handler it waits for, and is
    /// written in cycle `earliest` at the earliest.
    pub(super) fn answer(
        &mut self,
        (place, words): (usize, u16),
        served: Served,
        behind: MissEnd,
        earliest: u64,
    ) {
        let entries = self.entries.len();
        for word in 1..entries.min(usize::from(words)) {
            self.entries[(place + word) % entries].level = served.level;
        }
        self.entries[place] = Store {
            complete: served.complete,
            earliest,
            level: served.level,
            behind,
            miss: None,
        };
    }

    /// Puts in a store that is served, `behind` a line whose handler it waits for, or earlier or later, if its miss has yielded.
    #[inline]
    pub(super) fn put(&mut self, served: Served, behind: MissEnd, miss: Option<NonZeroU64>) {
        let Served { complete, level } = served;
        self.last_release = self.last_release.max(complete);
        let store = Store {
            complete,
            earliest: 0,
            level,
            behind,
            miss,
        };
        let leaves = std::mem::replace(&mut self.entries[self.next], store);
        self.left = self.left.max(leaves.complete);
        self.next = if self.next + 1 == self.entries.len() {
            0
        } else {
            self.next + 1
        };
    }

    /// When the entries are free, one after the other.
    pub(super) fn releases(&self) -> impl Iterator<Item = Release> {
        let (newer, older) = self.entries.split_at(self.next);
        let mut released = self.left;
        older.iter().chain(newer).map(move |store| {
            released = released.max(store.complete);
            store.release(released)
        })
    }

    /// When the last store leaves.
    pub(super) fn drained(&self) -> u64 {
        self.last_release
    }

    /// When it is empty: its last entry is free.
    pub(super) fn empty(&self) -> Release {
        let last = self.next.checked_sub(1).unwrap_or(self.entries.len() - 1);
        Release {
            cycle: self.last_release,
            ..self.entries[last].release(0)
        }
    }

    pub(super) fn clear(&mut self) {
        self.entries.fill(Store::default());
        (self.left, self.last_release) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cycles_are_slots_divided(per_cycle in 1_u32..=64, slot in 0_u64..1 << 52) {
            prop_assert_eq!(SlotClock::new(per_cycle).cycle_of(slot), slot / u64::from(per_cycle));
        }
    }

    #[test]
    fn a_slot_clock_counts_slots_and_skips() {
        let mut clock = SlotClock::new(4);
        assert_eq!(clock.take(4), 0);
        assert_eq!(clock.take(1), 1);
        assert_eq!((clock.position, clock.cycle()), (5, 1));
        clock.wait_until(1);
        assert_eq!(clock.position, 5, "the cycle has begun already");
        assert!(!clock.is_before(1) && clock.is_before(2));
        clock.wait_until(3);
        assert_eq!((clock.position, clock.take(1)), (12, 3));
    }

    #[test]
    fn a_unit_starts_so_many_per_cycle_in_any_order() {
        let mut unit = Unit::new(2);
        assert_eq!(
            [10, 10, 10, 3].map(|ready| unit.start(ready)),
            [10, 10, 11, 3]
        );
    }

    /// Puts in a store that has its miss handler at once.
    fn put(buffer: &mut StoreBuffer, complete: u64, level: usize, miss: Option<NonZeroU64>) {
        buffer.put(Served { complete, level }, MissEnd::default(), miss);
    }

    #[test]
    fn a_full_store_buffer_frees_its_oldest_entry_first() {
        let mut buffer = StoreBuffer::new(2);
        let free = |buffer: &StoreBuffer| (buffer.free().cycle, buffer.free().level);
        put(&mut buffer, 300, 3, None);
        put(&mut buffer, 10, 0, None);
        assert_eq!(free(&buffer), (300, 3));
        put(&mut buffer, 400, 3, None);
        assert_eq!(free(&buffer), (300, 0), "it waits for the store before it");
    }

    #[test]
    fn a_store_whose_miss_takes_longer_keeps_those_behind_it() {
        let miss = NonZeroU64::new;
        let behind = MissEnd::new(250, 2);
        let delay = Delay {
            cycles: 200,
            behind,
        };
        let delay_of = |number: NonZeroU64| (number.get() == 7).then_some(delay);
        let mut buffer = StoreBuffer::new(3);
        put(&mut buffer, 300, 3, miss(7));
        put(&mut buffer, 310, 3, miss(8));
        put(&mut buffer, 600, 2, None);
        let mut delayed = buffer.clone();
        delayed.delay(delay_of);
        let releases = |buffer: &StoreBuffer| -> Vec<_> {
            let each = buffer.releases();
            each.map(|one| (one.cycle, one.level)).collect()
        };
        assert_eq!(releases(&delayed), [(500, 3), (500, 3), (600, 2)]);
        assert_eq!((buffer.oldest_miss(), buffer.free().cycle), (miss(7), 300));
        buffer.delay_oldest(delay);
        assert_eq!((buffer.free().cycle, buffer.free().behind), (500, behind));
        put(&mut buffer, 700, 3, None);
        assert_eq!(buffer.free().cycle, 500, "it leaves behind the first");
        assert_eq!((buffer.empty().cycle, buffer.drained()), (700, 700));
    }
}
