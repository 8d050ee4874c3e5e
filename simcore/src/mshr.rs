//! Miss status holding registers: how many misses may be outstanding.

use crate::memory::{Memory, is_pending};

/// Low bits of a register that hold its number; the others hold the cycle in which its miss completes. One minimum then
/// finds both the first completion and the register.
const NUMBER_BITS: u32 = 12;

/// The outstanding misses, one per register.
#[derive(Clone, Debug)]
pub(crate) struct Mshrs {
    registers: Box<[u64]>,
    /// Register to try first: misses complete roughly in the order of their requests.
    oldest: usize,
}

impl Mshrs {
    pub(crate) fn new(registers: u32) -> Self {
        Self {
            registers: (0..u64::from(registers)).collect(),
            oldest: 0,
        }
    }

    /// The cycle, at or after `request`, from which a register is free, and that register. `memory` knows, or finds
    /// out, when misses end whose time is pending.
    #[inline]
    pub(crate) fn acquire(&mut self, request: u64, memory: &mut Memory) -> (u64, usize) {
        let register = self.oldest;
        if self.registers[register] >> NUMBER_BITS <= request {
            self.oldest = if register + 1 == self.registers.len() {
                0
            } else {
                register + 1
            };
            return (request, register);
        }
        let first = self.first(request, memory);
        let register = first & ((1 << NUMBER_BITS) - 1);
        ((first >> NUMBER_BITS).max(request), register as usize)
    }

    /// A register that is free at `request`, if there is one. No later call has a time before `now`: up to then `memory` finds out when
    /// misses end whose time is pending.
    pub(crate) fn free(&mut self, request: u64, now: u64, memory: &mut Memory) -> Option<usize> {
        loop {
            let pending = self.learn(memory);
            let first = self.registers.iter().copied().min().unwrap_or(0);
            if first >> NUMBER_BITS <= request {
                return Some((first & ((1 << NUMBER_BITS) - 1)) as usize);
            }
            if !pending || !memory.advance(now) {
                return None;
            }
        }
    }

    /// The register whose miss completes first, or one that is free at cycle `request`.
    fn first(&mut self, request: u64, memory: &mut Memory) -> u64 {
        loop {
            let pending = self.learn(memory);
            let first = self.registers.iter().copied().min().unwrap_or(0);
            let until = first >> NUMBER_BITS;
            // A pending miss may complete before the first of those that are known.
            if until <= request || !pending || !memory.advance(until) {
                return first;
            }
        }
    }

    /// Puts cycles in the place of pending times that are known by now. Whether some are still pending.
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
        pending
    }

    /// Holds the register until its miss completes.
    #[inline]
    pub(crate) fn hold(&mut self, register: usize, until: u64) {
        self.registers[register] = until << NUMBER_BITS | register as u64;
    }

    /// Nothing is asked for any more: `memory` keeps when outstanding misses end, until [`Mshrs::drained`] asks.
    pub(crate) fn keep(&mut self, memory: &mut Memory) {
        self.learn(memory);
        let until = self.registers.iter().map(|held| held >> NUMBER_BITS);
        until
            .filter(|&until| is_pending(until))
            .for_each(|until| memory.keep(until));
    }

    /// The cycle in which the last outstanding miss completes. `memory` has been drained.
    pub(crate) fn drained(&mut self, memory: &Memory) -> u64 {
        self.learn(memory);
        self.registers.iter().copied().max().unwrap_or(0) >> NUMBER_BITS
    }

    pub(crate) fn clear(&mut self) {
        for (register, held) in self.registers.iter_mut().enumerate() {
            *held = register as u64;
        }
        self.oldest = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::FixedMemory;

    #[test]
    fn a_full_file_waits_for_the_first_completion() {
        let mut mshrs = Mshrs::new(2);
        let memory = &mut Memory::Fixed(FixedMemory::new(250, 15, true));
        for (request, until) in [(0, 250), (1, 100)] {
            let (start, register) = mshrs.acquire(request, memory);
            assert_eq!(start, request);
            mshrs.hold(register, until);
        }
        assert_eq!(mshrs.acquire(99, memory).0, 100, "one cycle early waits");
        assert_eq!(
            mshrs.acquire(100, memory).0,
            100,
            "freed in that very cycle"
        );
        assert_eq!(mshrs.drained(memory), 250);
    }
}
