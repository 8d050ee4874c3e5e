//! Building blocks of both pipelines: slot counters, functional units, remembered results.

/// Divides small numbers by a constant with one multiplication.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divider {
    divisor: u64,
    inverse: u64,
}

/// Largest number a [`Divider`] takes: an event's plain instructions, its words and a partly filled cycle.
const LARGEST_DIVIDEND: u64 = (1 << 18) - 1;

impl Divider {
    pub(super) fn new(divisor: u32) -> Self {
        let divisor = u64::from(divisor);
        Self {
            divisor,
            inverse: (1 << 32) / divisor + 1,
        }
    }

    /// Quotient and remainder.
    #[inline]
    pub(super) fn divide(self, dividend: u64) -> (u64, u64) {
        debug_assert!(dividend <= LARGEST_DIVIDEND);
        let quotient = (dividend * self.inverse) >> 32;
        (quotient, dividend - quotient * self.divisor)
    }
}

/// A position in a stream of slots, so many to a cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotClock {
    per_cycle: Divider,
    pub(super) cycle: u64,
    /// Slots of `cycle` that are taken; less than a whole cycle.
    used: u64,
}

impl SlotClock {
    pub(super) fn new(per_cycle: u32) -> Self {
        Self {
            per_cycle: Divider::new(per_cycle),
            cycle: 0,
            used: 0,
        }
    }

    /// Takes `slots` (at least one) and gives the cycle of the last.
    #[inline]
    pub(super) fn take(&mut self, slots: u64) -> u64 {
        let (cycles, rest) = self.per_cycle.divide(self.used + slots);
        self.cycle += cycles;
        self.used = rest;
        self.cycle - u64::from(rest == 0)
    }

    /// Moves to the start of `cycle` unless that has passed.
    #[inline]
    pub(super) fn wait_until(&mut self, cycle: u64) {
        if cycle > self.cycle {
            self.cycle = cycle;
            self.used = 0;
        }
    }

    /// Slots from the beginning of time.
    #[inline]
    pub(super) fn position(&self) -> u64 {
        self.cycle * self.per_cycle.divisor + self.used
    }

    /// Slots from the beginning of time to the start of `cycle`.
    #[inline]
    pub(super) fn start_of(&self, cycle: u64) -> u64 {
        cycle * self.per_cycle.divisor
    }
}

const CALENDAR_CYCLES: usize = 512;

/// A functional unit that starts so many operations per cycle, out of order.
///
/// The calendar covers the last `CALENDAR_CYCLES` cycles that were asked for: an operation further back than that finds
/// its unit free.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    per_cycle: u64,
    /// Cycle and operations started in it, by cycle modulo the calendar.
    started: Box<[(u64, u64); CALENDAR_CYCLES]>,
}

impl Unit {
    pub(super) fn new(per_cycle: u32) -> Self {
        Self {
            per_cycle: u64::from(per_cycle),
            started: Box::new([(0, 0); CALENDAR_CYCLES]),
        }
    }

    /// Starts an operation in the first cycle at or after `ready` with a free place, and gives that cycle.
    #[inline]
    pub(super) fn start(&mut self, ready: u64) -> u64 {
        let mut cycle = ready;
        loop {
            let (at, count) = &mut self.started[cycle as usize % CALENDAR_CYCLES];
            if *at < cycle {
                (*at, *count) = (cycle, 1);
                return cycle;
            }
            if *at > cycle {
                return cycle;
            }
            if *count < self.per_cycle {
                *count += 1;
                return cycle;
            }
            cycle += 1;
        }
    }
}

const REMEMBERED: usize = 1024;

/// Results of the latest events, for those that depend on them. A result further back is taken as complete.
#[derive(Clone, Debug)]
pub(super) struct Results<T> {
    latest: Box<[T; REMEMBERED]>,
    next: usize,
}

impl<T: Copy + Default> Results<T> {
    pub(super) fn new() -> Self {
        Self {
            latest: Box::new([T::default(); REMEMBERED]),
            next: 0,
        }
    }

    /// The result of the event `back` events before the current one; `None` if there is none to wait for.
    #[inline]
    pub(super) fn get(&self, back: u32) -> Option<&T> {
        let back = back as usize;
        (back != 0 && back < REMEMBERED)
            .then(|| &self.latest[self.next.wrapping_sub(back) % REMEMBERED])
    }

    /// Records the current event's result and goes on to the next event.
    #[inline]
    pub(super) fn push(&mut self, result: T) {
        self.latest[self.next % REMEMBERED] = result;
        self.next = self.next.wrapping_add(1);
    }
}

/// Graduated stores that wait for their line. They leave in order.
#[derive(Clone, Debug)]
pub(super) struct StoreBuffer {
    /// When each entry is free again, and the level it waits for.
    entries: Box<[(u64, usize)]>,
    next: usize,
    last_release: u64,
}

impl StoreBuffer {
    pub(super) fn new(entries: u32) -> Self {
        Self {
            entries: vec![(0, 0); entries as usize].into_boxed_slice(),
            next: 0,
            last_release: 0,
        }
    }

    /// When the next entry is free, and the level that its store waits for until then.
    #[inline]
    pub(super) fn free(&self) -> (u64, usize) {
        self.entries[self.next]
    }

    /// Puts in a store whose line, served by `level`, is there at `complete`.
    #[inline]
    pub(super) fn put(&mut self, complete: u64, level: usize) {
        self.last_release = self.last_release.max(complete);
        self.entries[self.next] = (self.last_release, level);
        self.next = if self.next + 1 == self.entries.len() {
            0
        } else {
            self.next + 1
        };
    }

    /// When the last store leaves.
    pub(super) fn drained(&self) -> u64 {
        self.last_release
    }

    pub(super) fn clear(&mut self) {
        self.entries.fill((0, 0));
        self.last_release = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_divider_divides(dividend in 0..=LARGEST_DIVIDEND, divisor in 1_u32..=64) {
            let expected = (dividend / u64::from(divisor), dividend % u64::from(divisor));
            prop_assert_eq!(Divider::new(divisor).divide(dividend), expected);
        }
    }

    #[test]
    fn a_slot_clock_counts_slots_and_skips() {
        let mut clock = SlotClock::new(4);
        assert_eq!(clock.take(4), 0);
        assert_eq!(clock.take(1), 1);
        assert_eq!(clock.position(), 5);
        clock.wait_until(1);
        assert_eq!(clock.position(), 5, "the cycle has begun already");
        clock.wait_until(3);
        assert_eq!((clock.position(), clock.take(1)), (12, 3));
    }

    #[test]
    fn a_unit_starts_so_many_per_cycle_in_any_order() {
        let mut unit = Unit::new(2);
        assert_eq!(
            [10, 10, 10, 3].map(|ready| unit.start(ready)),
            [10, 10, 11, 3]
        );
    }

    #[test]
    fn a_full_store_buffer_frees_its_oldest_entry_first() {
        let mut buffer = StoreBuffer::new(2);
        buffer.put(300, 3);
        buffer.put(10, 0);
        assert_eq!(buffer.free(), (300, 3));
        buffer.put(400, 3);
        assert_eq!(buffer.free(), (300, 0), "it waits for the store before it");
    }
}
