//! The results of a run: one tree of named numbers.

use crate::page_requests::PageRun;
use crate::storage::StorageParts;
use serde::Serialize;
use std::collections::BTreeMap;

/// Accesses of one cache level, counted in lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CacheCounts {
    /// Look-ups that found the line ready.
    pub hits: u64,
    /// Look-ups that found the line on its way.
    pub merges: u64,
    /// Look-ups that did not find the line.
    pub misses: u64,
    /// Dirty lines that left for the next level.
    pub write_backs: u64,
    /// Lines taken out because an inclusive level behind evicted them.
    #[serde(skip)]
    pub back_invalidations: u64,
}

/// What cores whose caches are coherent did for and to each other, counted in lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CoherenceStatistics {
    /// Lines that came from another core's caches.
    pub transfers: u64,
    /// Stores that found their line and had to take it from other cores.
    pub upgrades: u64,
    /// Lines that left the core's own caches because another core wrote to them.
    pub invalidations: u64,
    /// Loads and stores that missed a line which another core had written to, and used some of what was written.
    pub true_sharing: u64,
    /// Those that used none of it: only other parts of the line were written.
    pub false_sharing: u64,
}

/// What was read while others might change it, as its latch was only awaited ([`traces::Kind::AwaitLatch`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReadingStatistics {
    /// Readings that ended.
    pub ended: u64,
    /// Those during which another core held the latch alone.
    pub in_vain: u64,
    /// Those of them that began again.
    pub repeated: u64,
}

/// What the hardware prefetchers of one cache level did, counted in lines of that level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PrefetcherCounts {
    /// Lines fetched.
    pub issued: u64,
    /// Lines not fetched because no miss handler was free.
    pub dropped: u64,
    /// Prefetched lines that were used.
    pub useful: u64,
    /// Those among them that were still on their way at their first use.
    pub late: u64,
    /// Prefetched lines that left without having been used.
    pub unused: u64,
}

impl CacheCounts {
    /// Look-ups by loads, stores and software prefetches that missed every level before, by stores that levels before
    /// passed on, by page-table walks and by misses of the instruction cache.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.hits + self.merges + self.misses
    }
}

/// One cache level by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CacheStatistics {
    /// Name in the machine file.
    pub name: String,
    /// See [`CacheCounts::accesses`].
    pub accesses: u64,
    /// Its counts.
    #[serde(flatten)]
    pub counts: CacheCounts,
    /// Lines taken out because an inclusive level behind evicted them; absent if no level behind is inclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back_invalidations: Option<u64>,
    /// Lines taken out because a page came into their frame; absent without storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overwritten: Option<u64>,
    /// Its hardware prefetchers; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefetchers: Option<PrefetcherCounts>,
    /// Whether several cores share it; absent on a machine of one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<bool>,
}

/// The instruction cache, counted in lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InstructionCacheStatistics {
    /// Look-ups.
    pub accesses: u64,
    /// Look-ups that found the line.
    pub hits: u64,
    /// Look-ups that did not.
    pub misses: u64,
    /// The latter by the level that served them.
    pub served: BTreeMap<String, u64>,
    /// Lines prefetched; absent if the cache does not do so. Their first uses count as hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefetched: Option<u64>,
}

/// Graduation slots by what they were spent on. One cycle is as many slots as the core is wide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Slots {
    /// All slots: the sum of the others.
    pub total: u64,
    /// Slots in which an instruction graduated.
    pub busy: u64,
    /// Slots in which the oldest instruction waited for a line, by the level that served it.
    pub dcache: BTreeMap<String, u64>,
    /// Slots in which the oldest instruction waited for a translation.
    pub dtlb: u64,
    /// Slots lost because the front end waited for code; absent without an instruction cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icache: Option<u64>,
    /// Slots lost because the front end restarted after a misprediction.
    pub branch: u64,
    /// All other empty slots: dependences, latencies, functional units.
    pub other: u64,
    /// Slots in which the core waited for others at a barrier; absent on a machine of one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub barrier: Option<u64>,
    /// Slots in which the operating system asked storage for pages; absent if that takes no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<u64>,
    /// Slots in which the core was stopped at a page; absent without storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<u64>,
    /// Slots after the last instruction, until everything in flight had drained.
    pub drain: u64,
}

/// Data TLB counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TlbStatistics {
    /// Translations asked for: one for each page of a load or a store, and one per prefetch event that was not dropped.
    pub accesses: u64,
    /// Hits by level.
    pub hits: Vec<u64>,
    /// Page-table walks.
    pub walks: u64,
    /// Page-table entries that walks read through the caches; absent if walks take a fixed time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walk_reads: Option<u64>,
}

/// Conditional branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BranchStatistics {
    /// Branches executed.
    pub executed: u64,
    /// Branches predicted wrongly.
    pub mispredicted: u64,
}

/// Software prefetches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PrefetchStatistics {
    /// Prefetch events executed.
    pub issued: u64,
    /// Prefetched lines that the first cache held already, or that were on their way.
    pub useless: u64,
    /// Prefetches given up because of a TLB miss.
    pub dropped: u64,
    /// Prefetched lines that were still on their way when a load or store first needed them; absent where no time passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<u64>,
    /// Prefetched lines that had left the first cache before a load or store needed them; absent if that is not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unused: Option<u64>,
}

/// Lines moved between the last cache and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BusStatistics {
    /// Lines fetched.
    pub fills: u64,
    /// Dirty lines written.
    pub write_backs: u64,
    /// Stores that no cache kept; absent if every level allocates and writes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_throughs: Option<u64>,
    /// Lines, or parts of lines, that non-temporal stores wrote; absent without such stores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub non_temporal: Option<u64>,
    /// Size of such a line.
    pub line_bytes: u64,
}

/// Lines moved between the last cache and one of several memories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryStatistics {
    /// Name in the machine file.
    pub name: String,
    /// Lines fetched.
    pub fills: u64,
    /// Dirty lines written.
    pub write_backs: u64,
    /// Stores that no cache kept; absent if every level allocates and writes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_throughs: Option<u64>,
    /// Lines, or parts of lines, that non-temporal stores wrote; absent without such stores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub non_temporal: Option<u64>,
}

/// What happened inside a DRAM that is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DramStatistics {
    /// Lines read.
    pub reads: u64,
    /// Lines written.
    pub writes: u64,
    /// Cycles from the request to the arrival of the line, summed over all reads; the path outside the DRAM included.
    pub read_latency_cycles: u64,
    /// Reads that came to be known after the DRAM's clock had passed their time.
    pub late_reads: u64,
    /// By how much they were late, in DRAM cycles, summed.
    pub late_dram_cycles: u64,
    /// Read commands to the devices. Fewer than reads if some were served inside the controller, more if a line takes
    /// several.
    pub read_commands: u64,
    /// Write commands to the devices. Fewer than writes while some wait inside the controller at the end.
    pub write_commands: u64,
    /// Read commands that found their row open and used before.
    pub read_row_hits: u64,
    /// Write commands that found their row open and used before.
    pub write_row_hits: u64,
    /// Rows opened.
    pub activates: u64,
    /// Refresh commands. Those in idle time that was skipped are not counted.
    pub refreshes: u64,
}

/// What one data structure cost in one phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BreakdownRow {
    /// Phase name.
    pub phase: String,
    /// Segment name; `(none)` before the first access, `(elsewhere)` outside every segment.
    pub segment: String,
    /// Slots, charged to the data structure that the program touched last.
    pub slots: Slots,
    /// Load, store and prefetch events.
    pub accesses: u64,
    /// Loads and stores by the level that served them, the first cache first, memory last; behind it other cores, if caches are coherent.
    pub served: Vec<u64>,
    /// Page-table walks.
    pub walks: u64,
    /// See [`CoherenceStatistics::false_sharing`]; absent if caches are not coherent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub false_sharing: Option<u64>,
}

/// What storage was asked for, and how long the core waited for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PageStatistics {
    /// Pages that the core read.
    pub reads: u64,
    /// Those among them that were not there yet, and pages that another core was to read and were not there either.
    pub stops: u64,
    /// Pages asked for ahead.
    pub prefetches: u64,
    /// Pages written.
    pub writes: u64,
    /// What the core waited for while it was stopped: together the time of the slots charged to storage, in picoseconds that are rounded
    /// at each stop.
    pub wait: StorageParts,
}

/// Calls into the host DBMS.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CallStatistics {
    /// Instructions that their routines ran, the clock interrupt's included.
    pub instructions: u64,
    /// Branches among them that were predicted wrongly; the statistics of branches do not have them.
    pub mispredicted: u64,
    /// How often each routine ran, those that never did left out.
    pub runs: BTreeMap<String, u64>,
}

/// How often a phase was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseStatistics {
    /// Phase name.
    pub phase: String,
    /// Marks that opened it.
    pub entries: u64,
}

/// The results of a run. Slots of every row of `breakdown` sum to `slots`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statistics {
    /// Events consumed.
    pub events: u64,
    /// Instructions they stand for.
    pub instructions: u64,
    /// Cycles until the last event's work had drained.
    pub cycles: u64,
    /// Where the slots went.
    pub slots: Slots,
    /// Data caches, nearest first.
    pub caches: Vec<CacheStatistics>,
    /// Instruction cache; absent if the machine has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction_cache: Option<InstructionCacheStatistics>,
    /// Data TLB.
    pub dtlb: TlbStatistics,
    /// Branches.
    pub branches: BranchStatistics,
    /// Software prefetches.
    pub prefetches: PrefetchStatistics,
    /// What other cores have to do with it; absent if caches are not coherent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coherence: Option<CoherenceStatistics>,
    /// What was read beside latches; absent if nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readings: Option<ReadingStatistics>,
    /// How often others emptied the caches, counted on each core; absent on machines without interference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_flushes: Option<u64>,
    /// Memory bus, of all memories together.
    pub bus: BusStatistics,
    /// The same by memory; absent if there is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<MemoryStatistics>,
    /// The inside of memory, for models that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dram: Option<DramStatistics>,
    /// Cost by phase and segment.
    pub breakdown: Vec<BreakdownRow>,
    /// Phases.
    pub phases: Vec<PhaseStatistics>,
    /// Calls into the host DBMS; absent if the machine has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallStatistics>,
    /// Cycles by the number of instructions that graduated in them, from none to the core's width; absent if the machine
    /// has no host DBMS. The kernel's own instructions are taken to have filled their cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retired: Option<Vec<u64>>,
    /// Pages from storage; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageStatistics>,
    /// Pages asked of storage, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub page_requests: Vec<PageRun>,
    /// Why the run ended: always that the trace was consumed and everything in flight had drained.
    pub end_reason: &'static str,
}
