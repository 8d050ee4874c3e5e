//! What several cores share: it is lent to the core whose turn it is.

use super::Hierarchy;
use crate::bus::Bus;
use crate::cache::Cache;
use crate::prefetcher::Prefetcher;
use crate::spec::MachineSpec;

/// Shared levels and the bus. Counts stay with the core that causes them.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    first: usize,
    caches: Vec<(Cache, Box<[Prefetcher]>)>,
    bus: Bus,
}

impl Shared {
    /// What the cores of a validated machine share, empty.
    pub(crate) fn new(spec: &MachineSpec) -> Self {
        let hierarchy = Hierarchy::new(spec);
        let first = spec.caches.partition_point(|cache| !cache.shared);
        let levels = hierarchy.levels.into_iter().skip(first);
        Self {
            first,
            caches: levels
                .map(|level| (level.cache, level.prefetchers))
                .collect(),
            bus: hierarchy.bus,
        }
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
        std::mem::swap(&mut self.bus, &mut shared.bus);
    }
}
