//! What was counted since the measurement began: the counts of the whole run less those of its warm-up.
//!
//! Every part lists all of its fields, so that a new count is forgotten by nobody.

use crate::statistics::{
    BranchStatistics, BusStatistics, CacheCounts, CacheStatistics, CallStatistics, DramStatistics,
    InstructionCacheStatistics, PrefetchStatistics, PrefetcherCounts, Statistics, TlbStatistics,
};
use std::collections::BTreeMap;

impl Statistics {
    /// These counts less those of `earlier`, which were taken in the same run. Slots, cycles, breakdown, phases and page
    /// requests are those of the measurement already.
    pub(crate) fn since(self, earlier: &Self) -> Self {
        let cycles = self.cycles;
        let both = |now: Vec<u64>| match &earlier.retired {
            Some(before) => retired(&now, before, cycles),
            None => now,
        };
        Self {
            events: self.events - earlier.events,
            instructions: self.instructions - earlier.instructions,
            cycles,
            slots: self.slots,
            caches: self
                .caches
                .into_iter()
                .zip(&earlier.caches)
                .map(|(now, before)| now.since(before))
                .collect(),
            instruction_cache: with(
                self.instruction_cache,
                earlier.instruction_cache.as_ref(),
                InstructionCacheStatistics::since,
            ),
            dtlb: self.dtlb.since(&earlier.dtlb),
            branches: BranchStatistics {
                executed: self.branches.executed - earlier.branches.executed,
                mispredicted: self.branches.mispredicted - earlier.branches.mispredicted,
            },
            prefetches: PrefetchStatistics {
                issued: self.prefetches.issued - earlier.prefetches.issued,
                useless: self.prefetches.useless - earlier.prefetches.useless,
                dropped: self.prefetches.dropped - earlier.prefetches.dropped,
            },
            bus: BusStatistics {
                fills: self.bus.fills - earlier.bus.fills,
                write_backs: self.bus.write_backs - earlier.bus.write_backs,
                write_throughs: less(self.bus.write_throughs, earlier.bus.write_throughs),
                line_bytes: self.bus.line_bytes,
            },
            dram: with(self.dram, earlier.dram.as_ref(), DramStatistics::since),
            breakdown: self.breakdown,
            phases: self.phases,
            calls: with(self.calls, earlier.calls.as_ref(), CallStatistics::since),
            retired: self.retired.map(both),
            page_requests: self.page_requests,
            end_reason: self.end_reason,
        }
    }
}

/// A part that is there in both or in neither.
fn with<P>(now: Option<P>, before: Option<&P>, since: impl FnOnce(P, &P) -> P) -> Option<P> {
    Some(since(now?, before?))
}

fn less(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    Some(now? - before?)
}

/// Counts by name. A name that was not there before has its whole count.
fn by_name(now: BTreeMap<String, u64>, before: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let left = now.into_iter().map(|(name, count)| {
        let before = before.get(&name).copied().unwrap_or(0);
        (name, count - before)
    });
    left.collect()
}

/// Cycles by what graduated in them. The parts of both sides are rounded, so that the cycles without any take up what is left
/// of the measured ones.
fn retired(now: &[u64], before: &[u64], cycles: u64) -> Vec<u64> {
    let pairs = now.iter().zip(before).skip(1);
    let some: Vec<u64> = pairs
        .map(|(now, before)| now.saturating_sub(*before))
        .collect();
    let none = cycles.saturating_sub(some.iter().sum());
    [none].into_iter().chain(some).collect()
}

impl CacheStatistics {
    fn since(self, earlier: &Self) -> Self {
        Self {
            name: self.name,
            accesses: self.accesses - earlier.accesses,
            counts: CacheCounts {
                hits: self.counts.hits - earlier.counts.hits,
                merges: self.counts.merges - earlier.counts.merges,
                misses: self.counts.misses - earlier.counts.misses,
                write_backs: self.counts.write_backs - earlier.counts.write_backs,
                back_invalidations: self.counts.back_invalidations
                    - earlier.counts.back_invalidations,
            },
            back_invalidations: less(self.back_invalidations, earlier.back_invalidations),
            prefetchers: with(
                self.prefetchers,
                earlier.prefetchers.as_ref(),
                |now, before| PrefetcherCounts {
                    issued: now.issued - before.issued,
                    dropped: now.dropped - before.dropped,
                    useful: now.useful - before.useful,
                    late: now.late - before.late,
                    unused: now.unused - before.unused,
                },
            ),
        }
    }
}

impl InstructionCacheStatistics {
    fn since(self, earlier: &Self) -> Self {
        Self {
            accesses: self.accesses - earlier.accesses,
            hits: self.hits - earlier.hits,
            misses: self.misses - earlier.misses,
            served: by_name(self.served, &earlier.served),
            prefetched: less(self.prefetched, earlier.prefetched),
        }
    }
}

impl TlbStatistics {
    fn since(self, earlier: &Self) -> Self {
        let hits = self.hits.iter().zip(&earlier.hits);
        Self {
            accesses: self.accesses - earlier.accesses,
            hits: hits.map(|(now, before)| now - before).collect(),
            walks: self.walks - earlier.walks,
            walk_reads: less(self.walk_reads, earlier.walk_reads),
        }
    }
}

impl CallStatistics {
    fn since(self, earlier: &Self) -> Self {
        let mut runs = by_name(self.runs, &earlier.runs);
        runs.retain(|_, &mut count| count > 0);
        Self {
            instructions: self.instructions - earlier.instructions,
            mispredicted: self.mispredicted - earlier.mispredicted,
            runs,
        }
    }
}

impl DramStatistics {
    /// Reads under way at the boundary are counted by the warm-up, and their time by the measurement.
    fn since(self, earlier: &Self) -> Self {
        Self {
            reads: self.reads - earlier.reads,
            writes: self.writes - earlier.writes,
            read_latency_cycles: self.read_latency_cycles - earlier.read_latency_cycles,
            late_reads: self.late_reads - earlier.late_reads,
            late_dram_cycles: self.late_dram_cycles - earlier.late_dram_cycles,
            read_commands: self.read_commands - earlier.read_commands,
            write_commands: self.write_commands - earlier.write_commands,
            read_row_hits: self.read_row_hits - earlier.read_row_hits,
            write_row_hits: self.write_row_hits - earlier.write_row_hits,
            activates: self.activates - earlier.activates,
            refreshes: self.refreshes - earlier.refreshes,
        }
    }
}
