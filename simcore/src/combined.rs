//! Statistics put together number by number: less those of a warm-up, or plus those of other cores.
//!
//! Every part lists all of its fields, so that a new count is forgotten by nobody.

use crate::statistics::{
    BranchStatistics, BreakdownRow, BusStatistics, CacheCounts, CacheStatistics, CallStatistics,
    CoherenceStatistics, DramStatistics, InstructionCacheStatistics, MemoryStatistics,
    PageStatistics, PhaseStatistics, PrefetchStatistics, PrefetcherCounts, ReadingStatistics,
    Slots, Statistics, TlbStatistics,
};
use std::collections::BTreeMap;

/// What becomes of two numbers.
type Op = fn(u64, u64) -> u64;

fn less(now: u64, before: u64) -> u64 {
    now - before
}

fn plus(one: u64, other: u64) -> u64 {
    one + other
}

impl Statistics {
    /// These counts less those of `earlier`, which were taken in the same run. Slots, cycles, breakdown, phases and page
    /// requests are those of the measurement already.
    pub(crate) fn since(self, earlier: &Self) -> Self {
        let cycles = self.cycles;
        let both = |now: &Vec<u64>| match &earlier.retired {
            Some(before) => retired(now, before, cycles),
            None => now.clone(),
        };
        let retired = self.retired.as_ref().map(both);
        Self {
            retired,
            ..self.counts(earlier, less)
        }
    }

    /// Those of cores that ran at the same time, taken together: counts and slots are sums, cycles those of the core that took
    /// longest. Page requests stand core by core.
    pub(crate) fn together(cores: &[Self]) -> Option<Self> {
        let (first, others) = cores.split_first()?;
        Some(others.iter().fold(first.clone(), Self::beside))
    }

    fn beside(self, other: &Self) -> Self {
        let retired = both(
            self.retired.clone(),
            other.retired.as_ref(),
            |one, other| each(&one, other, plus),
        );
        let requests = [&self.page_requests[..], &other.page_requests].concat();
        Self {
            cycles: self.cycles.max(other.cycles),
            slots: self.slots.clone().counts(&other.slots, plus),
            breakdown: breakdown(self.breakdown.clone(), &other.breakdown),
            phases: phases(self.phases.clone(), &other.phases),
            retired,
            page_requests: requests,
            ..self.counts(other, plus)
        }
    }

    /// What is counted alike for a warm-up and for other cores; the rest stays.
    fn counts(self, other: &Self, op: Op) -> Self {
        let caches = self.caches.into_iter().zip(&other.caches);
        Self {
            events: op(self.events, other.events),
            instructions: op(self.instructions, other.instructions),
            cycles: self.cycles,
            slots: self.slots,
            caches: caches.map(|(one, other)| one.counts(other, op)).collect(),
            instruction_cache: both(
                self.instruction_cache,
                other.instruction_cache.as_ref(),
                |one, other| one.counts(other, op),
            ),
            dtlb: self.dtlb.counts(&other.dtlb, op),
            branches: BranchStatistics {
                executed: op(self.branches.executed, other.branches.executed),
                mispredicted: op(self.branches.mispredicted, other.branches.mispredicted),
            },
            prefetches: PrefetchStatistics {
                issued: op(self.prefetches.issued, other.prefetches.issued),
                useless: op(self.prefetches.useless, other.prefetches.useless),
                dropped: op(self.prefetches.dropped, other.prefetches.dropped),
                late: maybe(self.prefetches.late, other.prefetches.late, op),
                unused: maybe(self.prefetches.unused, other.prefetches.unused, op),
            },
            coherence: both(self.coherence, other.coherence.as_ref(), |one, other| {
                one.counts(other, op)
            }),
            readings: self.readings.or(other.readings).map(|_| {
                let one = self.readings.unwrap_or_default();
                one.counts(&other.readings.unwrap_or_default(), op)
            }),
            cache_flushes: maybe(self.cache_flushes, other.cache_flushes, op),
            bus: BusStatistics {
                fills: op(self.bus.fills, other.bus.fills),
                write_backs: op(self.bus.write_backs, other.bus.write_backs),
                write_throughs: maybe(self.bus.write_throughs, other.bus.write_throughs, op),
                non_temporal: if_any(self.bus.non_temporal, other.bus.non_temporal, op),
                line_bytes: self.bus.line_bytes,
            },
            memories: {
                let memories = self.memories.into_iter().zip(&other.memories);
                memories.map(|(one, other)| one.counts(other, op)).collect()
            },
            dram: both(self.dram, other.dram.as_ref(), |one, other| {
                one.counts(other, op)
            }),
            breakdown: self.breakdown,
            phases: self.phases,
            calls: both(self.calls, other.calls.as_ref(), |one, other| {
                one.counts(other, op)
            }),
            retired: self.retired,
            pages: both(self.pages, other.pages.as_ref(), |one, other| {
                one.counts(other, op)
            }),
            page_requests: self.page_requests,
            end_reason: self.end_reason,
        }
    }
}

/// A part that is there in both or in neither.
fn both<P, Q>(one: Option<P>, other: Option<&Q>, put: impl FnOnce(P, &Q) -> P) -> Option<P> {
    Some(put(one?, other?))
}

fn maybe(one: Option<u64>, other: Option<u64>, op: Op) -> Option<u64> {
    Some(op(one?, other?))
}

/// A count that one side may not have: it is 0 there.
fn if_any(one: Option<u64>, other: Option<u64>, op: Op) -> Option<u64> {
    one.or(other)?;
    Some(op(one.unwrap_or(0), other.unwrap_or(0)))
}

/// Lists of one length.
fn each(one: &[u64], other: &[u64], op: Op) -> Vec<u64> {
    let pairs = one.iter().zip(other);
    pairs.map(|(&one, &other)| op(one, other)).collect()
}

/// Counts by name. What one side does not have is 0 there.
fn by_name(
    mut one: BTreeMap<String, u64>,
    other: &BTreeMap<String, u64>,
    op: Op,
) -> BTreeMap<String, u64> {
    for (name, &count) in other {
        let both = one.entry(name.clone()).or_default();
        *both = op(*both, count);
    }
    one
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

/// Rows of two cores; those of one phase and segment become one.
fn breakdown(mut rows: Vec<BreakdownRow>, others: &[BreakdownRow]) -> Vec<BreakdownRow> {
    for other in others {
        let same =
            |row: &&mut BreakdownRow| row.phase == other.phase && row.segment == other.segment;
        match rows.iter_mut().find(same) {
            None => rows.push(other.clone()),
            Some(row) => {
                row.slots = row.slots.clone().counts(&other.slots, plus);
                row.accesses += other.accesses;
                row.served = each(&row.served, &other.served, plus);
                row.walks += other.walks;
                row.false_sharing = maybe(row.false_sharing, other.false_sharing, plus);
            }
        }
    }
    rows
}

fn phases(mut phases: Vec<PhaseStatistics>, others: &[PhaseStatistics]) -> Vec<PhaseStatistics> {
    for other in others {
        match phases.iter_mut().find(|phase| phase.phase == other.phase) {
            None => phases.push(other.clone()),
            Some(phase) => phase.entries += other.entries,
        }
    }
    phases
}

impl Slots {
    fn counts(self, other: &Self, op: Op) -> Self {
        Self {
            total: op(self.total, other.total),
            busy: op(self.busy, other.busy),
            dcache: by_name(self.dcache, &other.dcache, op),
            dtlb: op(self.dtlb, other.dtlb),
            icache: maybe(self.icache, other.icache, op),
            branch: op(self.branch, other.branch),
            other: op(self.other, other.other),
            barrier: maybe(self.barrier, other.barrier, op),
            system: maybe(self.system, other.system, op),
            storage: maybe(self.storage, other.storage, op),
            drain: op(self.drain, other.drain),
        }
    }
}

impl CacheStatistics {
    fn counts(self, other: &Self, op: Op) -> Self {
        Self {
            name: self.name,
            accesses: op(self.accesses, other.accesses),
            counts: CacheCounts {
                hits: op(self.counts.hits, other.counts.hits),
                merges: op(self.counts.merges, other.counts.merges),
                misses: op(self.counts.misses, other.counts.misses),
                write_backs: op(self.counts.write_backs, other.counts.write_backs),
                back_invalidations: op(
                    self.counts.back_invalidations,
                    other.counts.back_invalidations,
                ),
            },
            back_invalidations: maybe(self.back_invalidations, other.back_invalidations, op),
            overwritten: maybe(self.overwritten, other.overwritten, op),
            prefetchers: both(
                self.prefetchers,
                other.prefetchers.as_ref(),
                |one, other| PrefetcherCounts {
                    issued: op(one.issued, other.issued),
                    dropped: op(one.dropped, other.dropped),
                    useful: op(one.useful, other.useful),
                    late: op(one.late, other.late),
                    unused: op(one.unused, other.unused),
                },
            ),
            shared: self.shared,
        }
    }
}

impl CoherenceStatistics {
    fn counts(self, other: &Self, op: Op) -> Self {
        Self {
            transfers: op(self.transfers, other.transfers),
            upgrades: op(self.upgrades, other.upgrades),
            invalidations: op(self.invalidations, other.invalidations),
            true_sharing: op(self.true_sharing, other.true_sharing),
            false_sharing: op(self.false_sharing, other.false_sharing),
        }
    }
}

impl ReadingStatistics {
    fn counts(self, other: &Self, op: Op) -> Self {
        Self {
            ended: op(self.ended, other.ended),
            in_vain: op(self.in_vain, other.in_vain),
            repeated: op(self.repeated, other.repeated),
        }
    }
}

impl InstructionCacheStatistics {
    fn counts(self, other: &Self, op: Op) -> Self {
        Self {
            accesses: op(self.accesses, other.accesses),
            hits: op(self.hits, other.hits),
            misses: op(self.misses, other.misses),
            served: by_name(self.served, &other.served, op),
            prefetched: maybe(self.prefetched, other.prefetched, op),
        }
    }
}

impl TlbStatistics {
    fn counts(self, other: &Self, op: Op) -> Self {
        Self {
            accesses: op(self.accesses, other.accesses),
            hits: each(&self.hits, &other.hits, op),
            walks: op(self.walks, other.walks),
            walk_reads: maybe(self.walk_reads, other.walk_reads, op),
        }
    }
}

impl CallStatistics {
    fn counts(self, other: &Self, op: Op) -> Self {
        let mut runs = by_name(self.runs, &other.runs, op);
        runs.retain(|_, &mut count| count > 0);
        Self {
            instructions: op(self.instructions, other.instructions),
            mispredicted: op(self.mispredicted, other.mispredicted),
            runs,
        }
    }
}

impl PageStatistics {
    fn counts(self, other: &Self, op: Op) -> Self {
        Self {
            reads: op(self.reads, other.reads),
            stops: op(self.stops, other.stops),
            prefetches: op(self.prefetches, other.prefetches),
            writes: op(self.writes, other.writes),
            wait: self.wait.both(&other.wait, op),
        }
    }
}

impl MemoryStatistics {
    fn counts(self, other: &Self, op: Op) -> Self {
        Self {
            name: self.name,
            fills: op(self.fills, other.fills),
            write_backs: op(self.write_backs, other.write_backs),
            write_throughs: maybe(self.write_throughs, other.write_throughs, op),
            non_temporal: if_any(self.non_temporal, other.non_temporal, op),
        }
    }
}

impl DramStatistics {
    /// Reads under way at the boundary of a warm-up are counted by the warm-up, and their time by the measurement.
    fn counts(self, other: &Self, op: Op) -> Self {
        Self {
            reads: op(self.reads, other.reads),
            writes: op(self.writes, other.writes),
            read_latency_cycles: op(self.read_latency_cycles, other.read_latency_cycles),
            late_reads: op(self.late_reads, other.late_reads),
            late_dram_cycles: op(self.late_dram_cycles, other.late_dram_cycles),
            read_commands: op(self.read_commands, other.read_commands),
            write_commands: op(self.write_commands, other.write_commands),
            read_row_hits: op(self.read_row_hits, other.read_row_hits),
            write_row_hits: op(self.write_row_hits, other.write_row_hits),
            activates: op(self.activates, other.activates),
            refreshes: op(self.refreshes, other.refreshes),
        }
    }
}
