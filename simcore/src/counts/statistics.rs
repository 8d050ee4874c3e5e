//! The results of counts mode: those of timing mode that need no time.

use crate::page_requests::PageRun;
use crate::spec::MachineSpec;
use crate::statistics::{
    BusStatistics, CacheStatistics, CallStatistics, InstructionCacheStatistics, PhaseStatistics,
    PrefetchStatistics, Statistics,
};
use serde::Serialize;
use traces::Layout;

/// Who served what one data structure asked for in one phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CountRow {
    /// Phase name.
    pub phase: String,
    /// Segment name; `(none)` before the first access, `(elsewhere)` outside every segment.
    pub segment: String,
    /// Lines that loads and stores looked up, by the level that served them: the first cache first, memory last. Where
    /// events pass through the engine these are accesses, each counted once by the line that is last to come.
    pub served: Vec<u64>,
    /// Lines that software prefetches looked up, by the level that served them. Empty where events pass through the engine, which
    /// does not count them: results then have no such key, which tells that `served` counts accesses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prefetched: Vec<u64>,
}

/// The results of a run in counts mode. The rows of `breakdown` sum to `caches`, where they count lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CountStatistics {
    /// Events consumed.
    pub events: u64,
    /// Instructions they stand for.
    pub instructions: u64,
    /// Data caches, nearest first. Without time no line is on its way, so there are no merges.
    pub caches: Vec<CacheStatistics>,
    /// Instruction cache; absent if the machine has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction_cache: Option<InstructionCacheStatistics>,
    /// Software prefetches.
    pub prefetches: PrefetchStatistics,
    /// Lines moved between the last cache and memory.
    pub bus: BusStatistics,
    /// Look-ups by phase and segment.
    pub breakdown: Vec<CountRow>,
    /// Phases.
    pub phases: Vec<PhaseStatistics>,
    /// Calls into the host DBMS; absent if the trace makes none. Without time its clock does not tick, and no branch of
    /// theirs is predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallStatistics>,
    /// Pages asked of storage, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub page_requests: Vec<PageRun>,
    /// Why counts may be others than in timing mode, a sentence each; empty where they are not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differs_from_timing: Vec<String>,
}

/// What of a machine's counts depends on time.
pub(super) fn differences(spec: &MachineSpec, layout: &Layout) -> Vec<String> {
    let first = &spec.caches[0];
    let prefetchers = (!first.prefetchers.is_empty()).then(|| {
        format!(
            "the prefetchers of {0} always find a free miss handler: where time passes, prefetches that find none are dropped, and {0} has more misses",
            first.name
        )
    });
    let dbms = spec.dbms.as_ref().filter(|_| !layout.calls.is_empty());
    let clock = dbms.filter(|dbms| dbms.clock_tick.is_some()).map(|dbms| {
        format!(
            "the clock of {} does not tick, and its interrupts run no code",
            dbms.name
        )
    });
    let interference = spec
        .interference
        .is_some()
        .then(|| "no time passes after which `interference` would empty the caches".to_owned());
    let order = spec.leaves_loads_open().then(|| {
        "accesses come in the order of the program: where time passes before a simulated DRAM they come in the order of time, and other lines may leave the caches"
            .to_owned()
    });
    prefetchers
        .into_iter()
        .chain(order)
        .chain(clock)
        .chain(interference)
        .collect()
}

impl CountStatistics {
    /// The counts of a run whose events passed through the engine in no time.
    pub(super) fn of_passed(
        statistics: Statistics,
        instructions: u64,
        differs_from_timing: Vec<String>,
    ) -> Self {
        let mut caches = statistics.caches;
        for cache in &mut caches {
            cache.counts.hits += std::mem::take(&mut cache.counts.merges);
        }
        let rows = statistics.breakdown.into_iter().map(|row| CountRow {
            phase: row.phase,
            segment: row.segment,
            served: row.served,
            prefetched: Vec::new(),
        });
        Self {
            events: statistics.events,
            instructions,
            caches,
            instruction_cache: statistics.instruction_cache,
            prefetches: PrefetchStatistics {
                late: None,
                unused: None,
                ..statistics.prefetches
            },
            bus: statistics.bus,
            breakdown: rows.collect(),
            phases: statistics.phases,
            calls: statistics.calls,
            page_requests: statistics.page_requests,
            differs_from_timing,
        }
    }
}
