//! The first-level instruction cache, beside that for data.

use super::fetching::learn;
use super::residents::Residents;
use super::{Hierarchy, LookUps, Port, Purpose, Served, Time, When};
use crate::cache::Cache;
use crate::line::Line;
use crate::memory::Urgency;
use crate::replacement::Position;
use crate::spec::{Inclusion, InstructionCacheSpec};
use std::ops::Range;

/// Lines of code, and how often they were looked up.
#[derive(Clone, Debug)]
pub(crate) struct InstructionCache {
    cache: Cache,
    residents: Residents,
    prefetches_next: bool,
    pub(crate) hits: u64,
    /// Misses by the level that served them: the first is the second data cache, the last but one memory, the last other cores.
    served: Box<[u64]>,
    /// Lines brought because the one before them missed.
    pub(crate) prefetched: u64,
}

impl InstructionCache {
    /// An empty cache in front of a hierarchy of so many data caches.
    pub(super) fn new(spec: &InstructionCacheSpec, data_caches: usize) -> Self {
        Self {
            cache: Cache::for_instructions(spec),
            residents: Residents::default(),
            prefetches_next: spec.next_line_prefetch,
            hits: 0,
            served: vec![0; data_caches + 1].into(),
            prefetched: 0,
        }
    }

    /// Look-ups that did not find the line.
    pub(crate) fn misses(&self) -> u64 {
        self.served.iter().sum()
    }

    /// Misses by the level that served them: the first is the second data cache, the last but one memory, the last other cores.
    pub(crate) fn served(&self) -> impl Iterator<Item = u64> {
        self.served.iter().copied()
    }

    /// Whether the line is there.
    #[cfg(test)]
    pub(super) fn holds(&self, line: u64) -> bool {
        self.cache.holds(line)
    }

    /// Whether some of the bytes are there.
    pub(super) fn holds_some(&self, address: u64, bytes: u64) -> bool {
        let shift = self.cache.line_shift();
        let mut lines = address >> shift..=(address + (bytes - 1)) >> shift;
        lines.any(|line| self.cache.holds(line))
    }

    pub(super) fn invalidate(&mut self, address: u64, bytes: u64) {
        let shift = self.cache.line_shift();
        for line in address >> shift..=(address + (bytes - 1)) >> shift {
            if self.cache.holds(line) {
                self.change().remove(line);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.residents.change();
        self.cache.clear();
    }

    /// The cache, to put a line in or take one out.
    fn change(&mut self) -> &mut Cache {
        self.residents.show(&mut self.cache);
        self.residents.change();
        &mut self.cache
    }

    /// See [`Hierarchy::find_code`].
    fn find(&mut self, routine: usize, code: &Range<u64>, from: u64) -> u64 {
        let whole = from == code.start;
        if whole && let Some(lines) = self.residents.run(routine) {
            self.hits += lines;
            return code.end;
        }
        self.residents.show(&mut self.cache);
        let shift = self.cache.line_shift();
        let lines = from >> shift..code.end.div_ceil(1 << shift);
        for line in lines.clone() {
            match self.cache.touch(line) {
                Some(held) if !held.is_unused() => self.hits += 1,
                _ => return line << shift,
            }
        }
        if whole && self.cache.remembers_latest_uses() {
            self.residents.found(routine, lines);
        }
        code.end
    }
}

impl Hierarchy {
    /// Fetches `size` bytes of code at `address` at cycle `time` and gives the last line to come; nothing if all were
    /// there. Lines that miss come through the second data cache.
    pub(crate) fn fetch<T: Time>(
        &mut self,
        port: &mut Port,
        address: u64,
        size: u64,
        when: When,
    ) -> Option<Served> {
        let address = address.wrapping_add(port.displacement);
        let shift = self.instructions[port.code?].cache.line_shift();
        let last = address.saturating_add(size.max(1) - 1) >> shift;
        let mut latest: Option<Served> = None;
        for line in address >> shift..=last {
            if let Some(served) = self.fetch_line::<T>(port, line, shift, when)
                && latest.is_none_or(|latest| latest.complete < served.complete)
            {
                latest = Some(served);
            }
        }
        latest
    }

    /// Fetches a line of code; nothing if it was there. A miss, and the first use of a prefetched line, prefetch the next.
    fn fetch_line<T: Time>(
        &mut self,
        port: &mut Port,
        line: u64,
        shift: u32,
        when: When,
    ) -> Option<Served> {
        let instructions = &mut self.instructions[port.code?];
        instructions.residents.show(&mut instructions.cache);
        let served = match instructions.cache.touch(line) {
            Some(held) => {
                instructions.hits += 1;
                if !held.make_used() {
                    return None;
                }
                Served {
                    complete: learn(&mut self.memory, held, Urgency::Awaited).max(when.time),
                    level: held.source(),
                }
            }
            None => {
                let served = self.fetch_behind::<T>(port, line << shift, when);
                let line = Line::new(line, served.complete, served.level);
                self.put_instructions::<T>(port, line, when);
                self.count_code_miss(port, served.level);
                served
            }
        };
        self.prefetch_code::<T>(port, line + 1, shift, when);
        Some(served)
    }

    /// Looks up the lines of a routine's code from the address `from` on, and gives the address of the one that has to be
    /// fetched: it is not there, or prefetched and not used. The end if there is none.
    pub(crate) fn find_code(
        &mut self,
        port: &Port,
        routine: usize,
        code: &Range<u64>,
        from: u64,
    ) -> u64 {
        let Some(own) = port.code else {
            return code.end;
        };
        let place = port.displacement;
        let code = place.wrapping_add(code.start)..place.wrapping_add(code.end);
        let found = self.instructions[own].find(routine, &code, place.wrapping_add(from));
        found.wrapping_sub(place)
    }

    fn count_code_miss(&mut self, port: &Port, level: usize) {
        if let Some(code) = port.code {
            self.instructions[code].served[level - 1] += 1;
        }
    }

    /// Brings a line before its use, if the cache does so, and the second level holds the line on the same page.
    fn prefetch_code<T: Time>(&mut self, port: &mut Port, line: u64, shift: u32, when: When) {
        let Some(code) = port.code else {
            return;
        };
        let instructions = &mut self.instructions[code];
        let address = line << shift;
        let begins_page = address.trailing_zeros() >= self.page_shift;
        let Some(&second) = port.path().get(1) else {
            return;
        };
        let second = &self.levels[second];
        let behind = address >> second.cache.line_shift();
        if !instructions.prefetches_next
            || begins_page
            || instructions.cache.holds(line)
            || !second.cache.holds(behind)
        {
            return;
        }
        instructions.prefetched += 1;
        // Code trains no prefetcher.
        let look_ups = &mut LookUps::default();
        if let Some(served) = self.find_for_prefetch(port, 1, address, when.time, look_ups) {
            let mut line = Line::new(line, served.complete, served.level);
            line.make_unused();
            self.put_instructions::<T>(port, line, when);
        }
    }

    /// Reads a line of code behind the first level and fills the data caches that miss it, but for exclusive ones.
    fn fetch_behind<T: Time>(&mut self, port: &mut Port, address: u64, when: When) -> Served {
        let look_ups = &mut LookUps::default();
        let (served, missed) =
            self.look_behind::<T>(port, 0, address, when, Purpose::Load, look_ups);
        let takes =
            |level: &usize| self.levels[port.place(*level)].inclusion != Inclusion::Exclusive;
        if let Some(nearest) = (1..missed).find(takes) {
            self.fill::<T>(port, nearest..missed, address, served, Purpose::Load, when);
        } else if self.take_exclusive(port, missed, address) {
            // The instruction cache cannot keep what is dirty.
            port.counts[missed].write_backs += 1;
            let shift = self.level(port, missed).cache.line_shift();
            let mut written = Line::new(address >> shift, when.time, missed);
            written.make_dirty();
            self.hand_down::<T>(port, missed + 1, written, shift, when);
        }
        served
    }

    /// Puts a line into the instruction cache. What it displaces goes to the second level if that takes what the first
    /// evicts, and the first does not hold it as data.
    fn put_instructions<T: Time>(&mut self, port: &mut Port, line: Line, when: When) {
        let Some(code) = port.code else {
            return;
        };
        let instructions = &mut self.instructions[code];
        let victim = instructions.change().fill(line, Position::Newest);
        let shift = instructions.cache.line_shift();
        let takes_clean =
            port.levels() > 1 && self.level(port, 1).inclusion == Inclusion::Exclusive;
        if let Some(victim) = victim
            && takes_clean
        {
            let address = victim.number << shift;
            let first = &self.levels[port.first].cache;
            if !first.holds(address >> first.line_shift()) {
                self.hand_down::<T>(port, 1, victim, shift, when);
            }
        }
    }
}
