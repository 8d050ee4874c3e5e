//! What a core has counted, as one tree.

use super::{Core, Machinery};
use crate::hierarchy::{Hierarchy, Overwritten, Port};
use crate::spec::{Inclusion, MachineSpec};
use crate::statistics::{
    BranchStatistics, BusStatistics, CacheStatistics, DramStatistics, InstructionCacheStatistics,
    MemoryStatistics, PrefetchStatistics, Statistics, TlbStatistics,
};

impl Core {
    /// Misses so far: of each data cache, nearest first, of the instruction cache, if there is one, and of the TLB.
    pub(crate) fn misses(&self, caches: &Hierarchy) -> impl Iterator<Item = u64> {
        let port = &self.machinery.port;
        let levels = caches.counts(port).map(|(counts, _)| counts.misses);
        levels
            .chain(caches.instruction_cache(port).map(|cache| cache.misses()))
            .chain([self.machinery.tlb.walks])
    }

    /// Lines that prefetchers of each data cache, nearest first, and of those before it have fetched so far.
    pub(crate) fn fetched_ahead(&self, caches: &Hierarchy) -> impl Iterator<Item = u64> {
        let levels = caches.counts(&self.machinery.port);
        levels.scan(0, |fetched, (_, prefetchers)| {
            *fetched += prefetchers.issued;
            Some(*fetched)
        })
    }

    /// What was counted so far; the ledger since the measurement began, and page requests since they were last asked for.
    pub(super) fn counts(
        &mut self,
        caches: &Hierarchy,
        cycles: u64,
        dram: Option<DramStatistics>,
    ) -> Statistics {
        let instructions = self.instructions();
        let coherence = caches.coherence(&self.machinery.port);
        let levels: Vec<String> = self.spec.caches[1..]
            .iter()
            .map(|cache| cache.name.clone())
            .chain(["memory".to_owned()])
            .chain(coherence.map(|_| "other_cores".to_owned()))
            .collect();
        let Machinery {
            port,
            tlb,
            ledger,
            branches,
            prefetches,
            page_table,
            ..
        } = &self.machinery;
        let translations = self.machinery.translations();
        Statistics {
            events: self.events,
            instructions,
            cycles,
            slots: ledger.total(&levels),
            caches: cache_statistics(&self.spec, caches, port, self.overwritten.as_deref()),
            instruction_cache: caches.instruction_cache(port).map(|cache| {
                InstructionCacheStatistics {
                    accesses: cache.hits + cache.misses(),
                    hits: cache.hits,
                    misses: cache.misses(),
                    served: levels.iter().cloned().zip(cache.served()).collect(),
                    prefetched: self
                        .spec
                        .instruction_cache
                        .as_ref()
                        .is_some_and(|spec| spec.next_line_prefetch)
                        .then_some(cache.prefetched),
                }
            }),
            dtlb: TlbStatistics {
                accesses: translations,
                hits: tlb.hits(translations),
                walks: tlb.walks,
                walk_reads: page_table.as_ref().map(|table| table.reads),
            },
            branches: BranchStatistics {
                executed: branches.iter().sum(),
                mispredicted: branches[0],
            },
            prefetches: PrefetchStatistics {
                useless: port.useless_prefetches,
                late: Some(port.late_prefetches),
                unused: Some(caches.unused_prefetches(port)),
                ..*prefetches
            },
            coherence,
            readings: (self.readings.ended > 0).then_some(self.readings),
            cache_flushes: self.interference.map(|one| one.flushes),
            bus: BusStatistics {
                fills: port.bus_counts.fills,
                write_backs: port.bus_counts.write_backs,
                write_throughs: self
                    .spec
                    .writes_through()
                    .then_some(port.bus_counts.write_throughs),
                non_temporal: went_past(port, port.bus_counts.non_temporal),
                line_bytes: self.spec.caches.last().map_or(0, |cache| cache.line_bytes),
            },
            memories: memory_statistics(&self.spec, port),
            dram,
            breakdown: ledger.rows(&self.layout, &levels),
            phases: ledger.phases(&self.layout),
            calls: self.calls.as_ref().map(|calls| calls.statistics()),
            retired: self
                .calls
                .as_ref()
                .map(|calls| calls.retired(self.spec.core.issue_width, instructions, cycles)),
            pages: self.stops.as_ref().map(|stops| stops.statistics),
            page_requests: std::mem::take(&mut self.page_requests).into_runs(),
            end_reason: "trace consumed, everything in flight drained",
        }
    }
}

/// Such a count, if there were non-temporal stores.
fn went_past(port: &Port, count: u64) -> Option<u64> {
    (port.non_temporal_stores > 0).then_some(count)
}

fn memory_statistics(spec: &MachineSpec, port: &Port) -> Vec<MemoryStatistics> {
    let memories = spec.memory.named().iter().zip(&port.memory_counts);
    let counted = memories.map(|(memory, counts)| MemoryStatistics {
        name: memory.name.clone(),
        fills: counts.fills,
        write_backs: counts.write_backs,
        write_throughs: spec.writes_through().then_some(counts.write_throughs),
        non_temporal: went_past(port, counts.non_temporal),
    });
    counted.collect()
}

fn cache_statistics(
    spec: &MachineSpec,
    caches: &Hierarchy,
    port: &Port,
    overwritten: Option<&Overwritten>,
) -> Vec<CacheStatistics> {
    let mut statistics = Vec::with_capacity(spec.caches.len());
    let counts = spec.caches.iter().zip(caches.counts(port));
    for (number, (cache, (counts, prefetchers))) in counts.enumerate() {
        let behind = &spec.caches[number + 1..];
        let inclusive = behind
            .iter()
            .any(|level| level.inclusion == Inclusion::Inclusive);
        statistics.push(CacheStatistics {
            name: cache.name.clone(),
            accesses: counts.accesses(),
            counts,
            back_invalidations: inclusive.then_some(counts.back_invalidations),
            overwritten: overwritten.map(|lines| lines[number]),
            prefetchers: (!cache.prefetchers.is_empty()).then_some(prefetchers),
            shared: caches.are_of_several().then_some(cache.shared),
        });
    }
    statistics
}
