//! A machine as data: immutable, validated, serialisable. The YAML machine files use these very names.

mod interval;
mod memories;
mod translation;

pub use interval::Interval;
pub use memories::{DramFile, Dramsim3Spec, MemoriesSpec, MemorySpec, NamedMemory};
pub(crate) use translation::MOST_WALKERS;
pub use translation::{HugePages, PageTableSpec, PrefetchOnTlbMiss, TlbLevelSpec, TlbSpec, Walker};

use crate::profile::DbmsSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A whole machine: its cores with data caches and TLB, and memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineSpec {
    /// Name of the machine file.
    pub name: String,
    /// Cycles per second.
    pub clock_hz: u64,
    /// The processor pipeline.
    pub core: CoreSpec,
    /// Cores, each with its own pipeline, TLB and the caches that are not shared.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub cores: u32,
    /// Data caches, nearest first.
    pub caches: Vec<CacheSpec>,
    /// First-level instruction cache; without one the machine takes no fetch events.
    #[serde(default)]
    pub instruction_cache: Option<InstructionCacheSpec>,
    /// Data TLB.
    pub dtlb: TlbSpec,
    /// What is behind the last cache.
    pub memory: MemoriesSpec,
    /// What keeps the caches of several cores from holding what another has overwritten; without it each keeps its lines, whatever others
    /// write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coherence: Option<CoherenceSpec>,
    /// What else empties the caches; without it the program has them for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interference: Option<InterferenceSpec>,
    /// The host DBMS; without one the machine takes no calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dbms: Option<DbmsSpec>,
}

/// How cores get lines that others hold in caches of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoherenceSpec {
    /// What becomes of a written line that another core reads.
    pub protocol: CoherenceProtocol,
    /// Load-to-use latency of a line that comes from another core, and what a store waits for until other cores have given up its line.
    #[schemars(range(min = 1))]
    pub transfer_cycles: u32,
}

/// What becomes of a written line that another core reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoherenceProtocol {
    /// It is written to the level behind the cores' own, and both have it clean (Papamarcos and Patel, ISCA 1984).
    Mesi,
    /// The core that wrote it owns it, and writes it back when it leaves (Sweazey and Smith, ISCA 1986).
    Moesi,
}

/// What others do to the caches: the worst that can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterferenceSpec {
    /// Time after which all data caches, of all cores, are emptied, again and again. Dirty lines are written to memory; lines on their way are lost.
    #[schemars(range(min = 1))]
    pub flush_interval_cycles: u64,
}

/// How instructions meet their operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoreKind {
    /// Issues when operands are ready, retires in order from a reorder buffer.
    OutOfOrder,
    /// Issues in order and stalls at the first use of an operand that is not there.
    InOrder,
}

impl MachineSpec {
    /// Whether cores go on behind loads before it is known when their lines come, and look up lines in the order of time: out of order before a
    /// simulated DRAM.
    pub(crate) fn leaves_loads_open(&self) -> bool {
        self.core.kind == CoreKind::OutOfOrder
            && self.interference.is_none()
            && matches!(self.memory.first(), MemorySpec::Dramsim3(_))
    }
}

/// The processor pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoreSpec {
    /// Out of order or in order.
    pub kind: CoreKind,
    /// Instructions dispatched, and graduated, per cycle.
    #[schemars(range(min = 1))]
    pub issue_width: u32,
    /// Instructions in flight; out-of-order cores only.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub reorder_buffer: Option<u32>,
    /// Plain instructions executed per cycle.
    #[schemars(range(min = 1))]
    pub integer_units: u32,
    /// Loads, stores and prefetches started per cycle.
    #[schemars(range(min = 1))]
    pub memory_ports: u32,
    /// Branches resolved per cycle.
    #[schemars(range(min = 1))]
    pub branch_units: u32,
    /// Latency of a pipelined multiplication.
    pub multiply_latency_cycles: u32,
    /// Latency of a division, which occupies its unit all the time.
    pub divide_latency_cycles: u32,
    /// Cycles from the end of a mispredicted branch to the dispatch of its successor.
    pub mispredict_penalty_cycles: u32,
    /// How branches are predicted.
    pub branch_predictor: PredictorSpec,
    /// Graduated stores that may wait for their line.
    pub store_buffer_entries: u32,
    /// Instructions that read and write at once; like loads, if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<ExchangeSpec>,
}

/// What an instruction that reads and writes at once (an atomic exchange, addition or comparison) takes beyond a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExchangeSpec {
    /// Cycles beyond those of a load of the same word.
    pub further_cycles: u32,
    /// Whether it runs alone: when everything before it has graduated and been written, and before anything behind it is dispatched. Else it
    /// overlaps with others as loads do.
    pub alone: bool,
}

/// How branches are predicted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PredictorSpec {
    /// Two-bit counters, indexed by the branch's site exclusive-or the global history (McFarling 1993).
    Gshare {
        /// Outcomes remembered.
        history_bits: u32,
        /// Counters; a power of two.
        #[schemars(range(min = 1))]
        counters: u32,
    },
    /// Two-bit counters indexed by the branch's site.
    Bimodal {
        /// Counters; a power of two.
        #[schemars(range(min = 1))]
        counters: u32,
    },
    /// Never wrong: for asking what mispredictions cost.
    Perfect,
}

/// Which line of a set makes room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// The line used longest ago.
    Lru,
    /// The line that a binary tree of bits points to, each bit away from its latest use.
    TreePlru,
    /// The first line not used since all others were.
    Nru,
    /// The line that came first.
    Fifo,
    /// Any line, by a generator with a fixed seed.
    Random,
    /// The first line predicted to be used again in the distant future (Jaleel et al., ISCA 2010: 2 bits, hit priority).
    Srrip,
}

/// What a level holds of the lines that nearer levels hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Inclusion {
    /// Filled by every miss; what it evicts may stay in nearer levels.
    #[default]
    NonInclusive,
    /// Filled by every miss; what it evicts leaves the nearer levels too.
    Inclusive,
    /// Filled by what the level before evicts; a line that is used again leaves it.
    Exclusive,
}

/// What becomes of a store that finds its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// The line is dirty from then on and written to the next level when it leaves.
    #[default]
    WriteBack,
    /// The store goes on to the next level at once, and so does the dirty line that a nearer level writes back.
    WriteThrough,
}

/// One hardware prefetcher. It fetches lines into the level that it belongs to and never leaves the page (of the
/// smallest size in use) that triggered it. The first level trains on loads and stores, the others on every load, store and
/// software prefetch that reaches them; page-table walks and code train none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PrefetcherSpec {
    /// A miss, and the first use of a prefetched line, fetch the lines right behind (tagged prefetching: Smith, 1982).
    NextLine {
        /// Lines fetched.
        #[schemars(range(min = 1))]
        degree: u32,
    },
    /// A table by instruction site finds constant strides (reference prediction table: Chen and Baer, 1995).
    Stride {
        /// Sites remembered; a power of two.
        #[schemars(range(min = 1))]
        table_entries: u32,
        /// Strides fetched ahead.
        #[schemars(range(min = 1))]
        degree: u32,
    },
    /// Two misses in one direction start a stream, which then runs ahead of its use (Jouppi, 1990; Palacharla and
    /// Kessler, 1994).
    Stream {
        /// Streams followed at once.
        #[schemars(range(min = 1))]
        streams: u32,
        /// Lines fetched at each use until the stream runs `distance_lines` ahead: as many fill it when it starts and behind each
        /// page's end, 1 keeps it one line ahead.
        #[schemars(range(min = 1))]
        degree: u32,
        /// Lines that a stream may run ahead.
        #[schemars(range(min = 1))]
        distance_lines: u32,
    },
}

/// One level of data cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheSpec {
    /// Name shown in results, such as `L1`.
    pub name: String,
    /// Capacity; sets x ways x line.
    pub size_bytes: u64,
    /// Line size; a power of two, and never smaller than that of the level before.
    pub line_bytes: u64,
    /// Lines per set.
    #[schemars(range(min = 1))]
    pub ways: u32,
    /// Load-to-use latency of a hit here, all levels before included.
    pub latency_cycles: u32,
    /// Which line of a set makes room.
    pub replacement: Replacement,
    /// Misses that may be outstanding at once (miss handlers); first level only, absent elsewhere.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub mshrs: Option<u32>,
    /// What the level holds of the lines that nearer levels hold; the first level has none nearer.
    #[serde(default)]
    pub inclusion: Inclusion,
    /// What becomes of a store that finds its line.
    #[serde(default)]
    pub write_policy: WritePolicy,
    /// Whether a store that does not find its line fetches it; if not, the store goes on to the next level. Lines that
    /// nearer levels write back need no fetch and are always taken.
    #[serde(default = "yes")]
    pub write_allocate: bool,
    /// Hardware prefetchers that fetch into this level.
    #[serde(default)]
    pub prefetchers: Vec<PrefetcherSpec>,
    /// Whether all cores share the level, and those behind it.
    #[serde(default)]
    pub shared: bool,
}

/// First-level instruction cache. Its hits are free, as the front end overlaps them; its misses go to the second data
/// cache level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstructionCacheSpec {
    /// Capacity; sets x ways x line.
    pub size_bytes: u64,
    /// Line size; a power of two, and not larger than that of the second level.
    pub line_bytes: u64,
    /// Lines per set.
    #[schemars(range(min = 1))]
    pub ways: u32,
    /// Which line of a set makes room.
    pub replacement: Replacement,
    /// Whether a miss, and the first use of a prefetched line, bring the next line of the page, if the second level holds
    /// it (tagged prefetching: Smith, 1982).
    #[serde(default)]
    pub next_line_prefetch: bool,
}

/// A machine that cannot exist: which number, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {message}")]
pub struct SpecError {
    /// Place in the machine file, such as `caches.0.ways`.
    pub path: String,
    /// What is wrong with it and what would be right.
    pub message: String,
}

/// What there is to say of machines, as JSON Schema: names of keys, types, least numbers, defaults, meaning. The end of a number's
/// name is its unit, for who wants to write it with one: `_bytes`, `_cycles`, `_hz`; other numbers are counts.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(MachineSpec).to_value()
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}
