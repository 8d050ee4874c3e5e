//! What several cores share: it is lent to the core whose turn it is.

use super::{Hierarchy, address_space};
use crate::cache::Cache;
use crate::memory::Memory;
use crate::prefetcher::Prefetcher;
use crate::spec::{MachineSpec, MemorySpec, SpecError};
use crate::statistics::DramStatistics;
use crate::validate::LONGEST_CYCLES;

/// Shared levels and memory. Counts stay with the core that causes them.
#[derive(Debug)]
pub(crate) struct Shared {
    first: usize,
    caches: Vec<(Cache, Box<[Prefetcher]>)>,
    memory: Memory,
}

impl Shared {
    /// What the cores of a validated machine share, empty.
    ///
    /// # Errors
    /// The memory cannot be set up.
    pub(crate) fn new(spec: &MachineSpec) -> Result<Self, SpecError> {
        let hierarchy = Hierarchy::new(spec)?;
        let first = spec.caches.partition_point(|cache| !cache.shared);
        let levels = hierarchy.levels.into_iter().skip(first);
        Ok(Self {
            first,
            caches: levels
                .map(|level| (level.cache, level.prefetchers))
                .collect(),
            memory: hierarchy.memory,
        })
    }

    /// What happened inside the memory that all share, for models with an inside. Every core has finished.
    pub(crate) fn memory_statistics(&mut self) -> Option<DramStatistics> {
        self.memory.statistics()
    }
}

/// The machine as one core has it between its turns: what stands in for the shared levels and the memory, which are lent
/// to it, is as small as can be, and never used.
pub(crate) fn between_turns(spec: &MachineSpec) -> MachineSpec {
    let mut own = spec.clone();
    for cache in own.caches.iter_mut().filter(|cache| cache.shared) {
        cache.size_bytes = cache.line_bytes * u64::from(cache.ways);
    }
    own.memory = MemorySpec::Fixed {
        latency_cycles: LONGEST_CYCLES,
        interval_cycles: 1,
        write_backs_use_bus: false,
    };
    own
}

impl Hierarchy {
    /// Puts the program, whose number is not that of any other, into a memory of its own. Nothing has been accessed.
    pub(crate) fn set_program(&mut self, number: u64) {
        self.displacement = address_space::displacement(number, 1 << self.page_shift);
    }

    /// Takes what is shared, or gives it back. While the core has it, no other makes a request before cycle `horizon`.
    pub(crate) fn exchange(&mut self, shared: &mut Shared, horizon: u64) {
        self.horizon = horizon;
        let own = &mut self.levels[shared.first..];
        for (level, (cache, prefetchers)) in own.iter_mut().zip(&mut shared.caches) {
            std::mem::swap(&mut level.cache, cache);
            std::mem::swap(&mut level.prefetchers, prefetchers);
        }
        std::mem::swap(&mut self.memory, &mut shared.memory);
    }
}
