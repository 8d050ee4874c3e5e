//! What several cores share: it is lent to the core whose turn it is.

use super::Hierarchy;
use crate::cache::Cache;
use crate::memory::Memory;
use crate::prefetcher::Prefetcher;
use crate::spec::{MachineSpec, SpecError};

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
}

impl Hierarchy {
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
