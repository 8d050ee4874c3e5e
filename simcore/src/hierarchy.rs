//! Caches, miss handlers, bus and memory together: when is a line there, and who serves it?
//!
//! Caches are looked up nearest first, and a line comes from the first that holds it. Where it is put on its way is a
//! matter of each level's inclusion: see [`crate::spec::Inclusion`].

mod address_space;
mod eviction;
mod fetching;
mod instructions;
mod prefetching;
mod residents;
mod sharing;
#[cfg(test)]
mod tests;
mod time;
mod writing;

pub(crate) use sharing::{Shared, between_turns};
pub(crate) use time::{Cycles, Standstill, Time};

use crate::cache::Cache;
use crate::memory::Memory;
use crate::mshr::Mshrs;
use crate::prefetcher::Prefetcher;
use crate::spec::{CacheSpec, Inclusion, MachineSpec, SpecError, WritePolicy};
use crate::statistics::{CacheCounts, PrefetcherCounts};
use std::ops::RangeInclusive;

/// What an access got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    /// Cycle from which the data can be used.
    pub(crate) complete: u64,
    /// Level whose latency is waited for: 0 for a hit in the first cache, the number of caches for memory.
    pub(crate) level: usize,
}

/// Why the line is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Load,
    Store,
    Prefetch,
    PrefetchNta,
    /// A hardware prefetcher asked for it.
    Hardware,
}

/// What prefetchers learn from: which levels an access looked up, and what it found new there. One bit per level.
#[derive(Clone, Copy, Debug, Default)]
struct LookUps {
    /// Levels behind the first that the access reached.
    reached: u32,
    /// Levels that it missed, or was the first to use a prefetched line of.
    found_new: u32,
}

/// Traffic between the last cache and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BusCounts {
    pub(crate) fills: u64,
    pub(crate) write_backs: u64,
    pub(crate) write_throughs: u64,
}

/// One level: a cache and how it deals with its neighbours.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    cache: Cache,
    latency: u64,
    inclusion: Inclusion,
    write_policy: WritePolicy,
    write_allocate: bool,
    /// Whether lines that are not dirty matter to others when they leave.
    evicts_clean: bool,
    prefetchers: Box<[Prefetcher]>,
    counts: CacheCounts,
    prefetcher_counts: PrefetcherCounts,
}

impl Level {
    fn new(spec: &CacheSpec, next: Option<&CacheSpec>) -> Self {
        let cache = Cache::new(spec);
        let shift = cache.line_shift();
        let prefetchers = spec.prefetchers.iter();
        Self {
            cache,
            latency: u64::from(spec.latency_cycles),
            inclusion: spec.inclusion,
            write_policy: spec.write_policy,
            write_allocate: spec.write_allocate,
            evicts_clean: spec.inclusion == Inclusion::Inclusive
                || !spec.prefetchers.is_empty()
                || next.is_some_and(|next| next.inclusion == Inclusion::Exclusive),
            prefetchers: prefetchers
                .map(|spec| Prefetcher::new(spec, shift))
                .collect(),
            counts: CacheCounts::default(),
            prefetcher_counts: PrefetcherCounts::default(),
        }
    }

    /// Counts of its look-ups, and of what its prefetchers did.
    pub(crate) fn counts(&self) -> (CacheCounts, PrefetcherCounts) {
        (self.counts, self.prefetcher_counts)
    }
}

/// All caches and what is behind them.
#[derive(Debug)]
pub(crate) struct Hierarchy {
    levels: Vec<Level>,
    instructions: Option<instructions::InstructionCache>,
    mshrs: Mshrs,
    pub(crate) memory: Memory,
    page_shift: u32,
    /// How far lines lie from where the program's addresses say: see [`address_space`].
    displacement: u64,
    /// Bits of an address that are its place in a line of the first cache.
    in_line: u64,
    /// From how many bytes after the beginning of its line on an access has more to do than to look this line up.
    further: u64,
    /// No other core that shares the bus makes a request before this cycle.
    horizon: u64,
    /// Whether some level has a prefetcher.
    prefetches: bool,
    /// Stores do more than make their line dirty in the first cache.
    writes_through: bool,
    pub(crate) bus_counts: BusCounts,
    /// Software prefetches of lines that were there already, or on their way.
    pub(crate) useless_prefetches: u64,
}

impl Hierarchy {
    /// Empty caches. The specification has been validated.
    ///
    /// # Errors
    /// The memory cannot be set up; see [`Memory::new`].
    pub(crate) fn new(spec: &MachineSpec) -> Result<Self, SpecError> {
        let nexts = spec.caches.iter().skip(1).map(Some).chain([None]);
        let first = &spec.caches[0];
        let mut caches = spec.caches.iter();
        let prefetches = caches.any(|cache| !cache.prefetchers.is_empty());
        Ok(Self {
            levels: spec
                .caches
                .iter()
                .zip(nexts)
                .map(|(cache, next)| Level::new(cache, next))
                .collect(),
            instructions: spec
                .instruction_cache
                .as_ref()
                .map(|code| instructions::InstructionCache::new(code, spec.caches.len())),
            mshrs: Mshrs::new(spec.mshrs()),
            memory: Memory::new(spec)?,
            page_shift: spec.dtlb.smallest_page_bytes().trailing_zeros(),
            displacement: 0,
            in_line: first.line_bytes - 1,
            further: if prefetches { 0 } else { first.line_bytes + 1 },
            horizon: u64::MAX,
            prefetches,
            writes_through: first.write_policy == WritePolicy::WriteThrough,
            bus_counts: BusCounts::default(),
            useless_prefetches: 0,
        })
    }

    /// The levels, nearest first.
    pub(crate) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Accesses `size` bytes at `address` at cycle `time`, which is not before `now`, the earliest time that any later
    /// access may have. Bytes past the end of the address space do not exist.
    #[inline(always)]
    pub(crate) fn access<T: Time>(
        &mut self,
        address: u64,
        size: u64,
        time: u64,
        purpose: Purpose,
        site: u16,
        now: u64,
    ) -> Served {
        let address = address.wrapping_add(self.displacement);
        let first = address >> self.levels[0].cache.line_shift();
        let mut look_ups = LookUps::default();
        let served = self.access_line::<T>(first, time, purpose, now, &mut look_ups);
        if (address & self.in_line) + size < self.further {
            return served;
        }
        let shift = self.levels[0].cache.line_shift();
        let last = address.saturating_add(size.max(1) - 1) >> shift;
        if self.prefetches {
            self.train::<T>(address, site, time, purpose, now, look_ups);
        }
        self.access_further::<T>(served, first + 1..=last, time, purpose, site, now)
    }

    /// Accesses the other lines of an access that spans several; the last to come is the one waited for.
    #[inline(never)]
    fn access_further<T: Time>(
        &mut self,
        mut served: Served,
        lines: RangeInclusive<u64>,
        time: u64,
        purpose: Purpose,
        site: u16,
        now: u64,
    ) -> Served {
        let shift = self.levels[0].cache.line_shift();
        for line in lines {
            let mut look_ups = LookUps::default();
            let next = self.access_line::<T>(line, time, purpose, now, &mut look_ups);
            if self.prefetches {
                self.train::<T>(line << shift, site, time, purpose, now, look_ups);
            }
            if next.complete > served.complete {
                served = next;
            }
        }
        served
    }

    #[inline(always)]
    fn access_line<T: Time>(
        &mut self,
        line: u64,
        time: u64,
        purpose: Purpose,
        now: u64,
        look_ups: &mut LookUps,
    ) -> Served {
        let writes_through = self.writes_through;
        let first = &mut self.levels[0];
        let Some(held) = first.cache.touch(line) else {
            return self.miss::<T>(line, time, purpose, now, look_ups);
        };
        if purpose == Purpose::Store {
            if writes_through {
                return self.store_through::<T>(line, time, now, look_ups);
            }
            held.make_dirty();
        }
        if matches!(purpose, Purpose::Prefetch | Purpose::PrefetchNta) {
            self.useless_prefetches += 1;
        }
        let hit = time + first.latency;
        if held.is_settled(hit) {
            first.counts.hits += 1;
            return Served {
                complete: hit,
                level: 0,
            };
        }
        self.unsettled(line, hit, purpose, look_ups)
    }

    /// A hit in the first cache on a line that is still on its way, or was prefetched and not used.
    #[inline(never)]
    fn unsettled(
        &mut self,
        line: u64,
        hit: u64,
        purpose: Purpose,
        look_ups: &mut LookUps,
    ) -> Served {
        let found = self.find(0, line, hit, purpose, look_ups);
        found.unwrap_or(Served {
            complete: hit,
            level: 0,
        })
    }

    /// Lets memory finish and gives the cycle in which the last outstanding miss completes.
    pub(crate) fn drained(&mut self) -> u64 {
        self.memory.drain();
        self.mshrs.drained(&self.memory)
    }

    /// Empties everything; what is in flight is forgotten.
    pub(crate) fn clear(&mut self) {
        for level in &mut self.levels {
            level.cache.clear();
            level.prefetchers.iter_mut().for_each(Prefetcher::clear);
        }
        if let Some(instructions) = &mut self.instructions {
            instructions.clear();
        }
        self.mshrs.clear();
        self.memory.clear();
    }
}
