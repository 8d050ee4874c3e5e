//! Caches, miss handlers, bus and memory together: when is a line there, and who serves it?

use crate::cache::{Cache, Line, Position, make_dirty};
use crate::memory::{Memory, Urgency, is_pending};
use crate::mshr::Mshrs;
use crate::spec::{MachineSpec, SpecError};
use crate::statistics::CacheCounts;
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
}

/// Line traffic between the last cache and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BusCounts {
    pub(crate) fills: u64,
    pub(crate) write_backs: u64,
}

/// All data caches and what is behind them.
///
/// Caches are looked up nearest first; every level that misses is filled from the one that hits. Levels are neither
/// inclusive nor exclusive: a line that leaves one level stays in the others. A dirty line that leaves a level is
/// written to the next one, and allocated there if it is gone.
#[derive(Debug)]
pub(crate) struct Hierarchy {
    caches: Vec<Cache>,
    latencies: Vec<u64>,
    mshrs: Mshrs,
    pub(crate) memory: Memory,
    pub(crate) counts: Vec<CacheCounts>,
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
        Ok(Self {
            caches: spec.caches.iter().map(Cache::new).collect(),
            latencies: spec
                .caches
                .iter()
                .map(|cache| u64::from(cache.latency_cycles))
                .collect(),
            mshrs: Mshrs::new(spec.mshrs()),
            memory: Memory::new(spec)?,
            counts: vec![CacheCounts::default(); spec.caches.len()],
            bus_counts: BusCounts::default(),
            useless_prefetches: 0,
        })
    }

    /// Accesses `size` bytes at `address` at cycle `time`, which is not before `now`, the earliest time that any later
    /// access may have. Bytes past the end of the address space do not exist.
    #[inline(always)]
    pub(crate) fn access(
        &mut self,
        address: u64,
        size: u64,
        time: u64,
        purpose: Purpose,
        now: u64,
    ) -> Served {
        let shift = self.caches[0].line_shift();
        let first = address >> shift;
        let last = address.saturating_add(size.max(1) - 1) >> shift;
        let served = self.access_line(first, time, purpose, now);
        if first == last {
            return served;
        }
        self.access_further(served, first + 1..=last, time, purpose, now)
    }

    /// Accesses the other lines of an access that spans several; the last to come is the one waited for.
    #[inline(never)]
    fn access_further(
        &mut self,
        mut served: Served,
        lines: RangeInclusive<u64>,
        time: u64,
        purpose: Purpose,
        now: u64,
    ) -> Served {
        for line in lines {
            let next = self.access_line(line, time, purpose, now);
            if next.complete > served.complete {
                served = next;
            }
        }
        served
    }

    #[inline(always)]
    fn access_line(&mut self, line: u64, time: u64, purpose: Purpose, now: u64) -> Served {
        let Some(held) = self.caches[0].touch(line) else {
            return self.miss(line, time, purpose, now);
        };
        let counts = &mut self.counts[0];
        if purpose == Purpose::Store {
            make_dirty(held);
        }
        if matches!(purpose, Purpose::Prefetch | Purpose::PrefetchNta) {
            self.useless_prefetches += 1;
        }
        let hit = time + self.latencies[0];
        let mut ready = held.ready();
        if ready > hit {
            ready = learn(&mut self.memory, held, purpose);
        }
        if ready > hit {
            counts.merges += 1;
            Served {
                complete: ready,
                level: held.source(),
            }
        } else {
            counts.hits += 1;
            Served {
                complete: hit,
                level: 0,
            }
        }
    }

    /// Fetches a line that the first cache lacks.
    #[inline(never)]
    fn miss(&mut self, line: u64, time: u64, purpose: Purpose, now: u64) -> Served {
        let address = line << self.caches[0].line_shift();
        let (start, register) = self.mshrs.acquire(time, &mut self.memory);
        let levels = self.caches.len();
        self.counts[0].misses += 1;
        let mut served = None;
        let mut missed = 1;
        while missed < levels {
            let counts = &mut self.counts[missed];
            let cache = &mut self.caches[missed];
            if let Some(held) = cache.touch(address >> cache.line_shift()) {
                let hit = start + self.latencies[missed];
                let mut ready = held.ready();
                if ready > hit {
                    ready = learn(&mut self.memory, held, purpose);
                }
                served = Some(if ready > hit {
                    counts.merges += 1;
                    Served {
                        complete: ready,
                        level: held.source(),
                    }
                } else {
                    counts.hits += 1;
                    Served {
                        complete: hit,
                        level: missed,
                    }
                });
                break;
            }
            counts.misses += 1;
            missed += 1;
        }
        let served = served.unwrap_or_else(|| {
            self.bus_counts.fills += 1;
            Served {
                complete: self.memory.read(address, start, now, urgency(purpose)),
                level: levels,
            }
        });
        self.mshrs.hold(register, served.complete);
        // Streaming prefetches bypass the caches behind the first, so that they displace nothing there.
        let filled = if purpose == Purpose::PrefetchNta {
            1
        } else {
            missed
        };
        for level in (0..filled).rev() {
            let position = if purpose == Purpose::PrefetchNta {
                Position::LeastRecent
            } else {
                Position::MostRecent
            };
            let dirty = level == 0 && purpose == Purpose::Store;
            self.fill(level, address, served, dirty, position, start, now);
        }
        served
    }

    #[allow(clippy::too_many_arguments)]
    fn fill(
        &mut self,
        level: usize,
        address: u64,
        served: Served,
        dirty: bool,
        position: Position,
        time: u64,
        now: u64,
    ) {
        let cache = &mut self.caches[level];
        let shift = cache.line_shift();
        let victim = cache.fill(
            address >> shift,
            served.complete,
            served.level,
            dirty,
            position,
        );
        if let Some(victim) = victim
            && victim.dirty
        {
            self.write_back(level, victim.number << shift, time, now);
        }
    }

    /// Writes the line at `address`, which left `level`, to the level behind it.
    fn write_back(&mut self, level: usize, address: u64, time: u64, now: u64) {
        self.counts[level].write_backs += 1;
        let next = level + 1;
        if next == self.caches.len() {
            self.bus_counts.write_backs += 1;
            self.memory.write(address, time, now);
            return;
        }
        let cache = &mut self.caches[next];
        if let Some(held) = cache.touch(address >> cache.line_shift()) {
            make_dirty(held);
        } else {
            let here = Served {
                complete: time,
                level: next,
            };
            self.fill(next, address, here, true, Position::MostRecent, time, now);
        }
    }

    /// Lets memory finish and gives the cycle in which the last outstanding miss completes.
    pub(crate) fn drained(&mut self) -> u64 {
        self.memory.drain();
        self.mshrs.drained(&self.memory)
    }

    /// Empties everything; what is in flight is forgotten.
    pub(crate) fn clear(&mut self) {
        for cache in &mut self.caches {
            cache.clear();
        }
        self.mshrs.clear();
        self.memory.clear();
    }
}

/// Whether an access waits for its line.
fn urgency(purpose: Purpose) -> Urgency {
    match purpose {
        Purpose::Load | Purpose::Store => Urgency::Awaited,
        Purpose::Prefetch | Purpose::PrefetchNta => Urgency::Deferred,
    }
}

/// Finds out when a line that is on its way is there. A prefetch does not wait to know.
fn learn(memory: &mut Memory, held: &mut Line, purpose: Purpose) -> u64 {
    if !is_pending(held.ready()) {
        return held.ready();
    }
    let ready = match urgency(purpose) {
        Urgency::Awaited => memory.wait(held.ready()),
        Urgency::Deferred => memory.known(held.ready()),
    };
    held.set_ready(ready);
    ready
}
