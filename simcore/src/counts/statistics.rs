//! The results of counts mode: those of timing mode that need no time.

use crate::statistics::{BusStatistics, CacheStatistics, PhaseStatistics, PrefetchStatistics};
use serde::Serialize;

/// Who served what one data structure asked for in one phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CountRow {
    /// Phase name.
    pub phase: String,
    /// Segment name; `(none)` before the first access, `(elsewhere)` outside every segment.
    pub segment: String,
    /// Lines that loads and stores looked up, by the level that served them: the first cache first, memory last.
    pub served: Vec<u64>,
    /// Lines that software prefetches looked up, by the level that served them.
    pub prefetched: Vec<u64>,
}

/// The results of a run in counts mode. The rows of `breakdown` sum to `caches`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CountStatistics {
    /// Events consumed.
    pub events: u64,
    /// Instructions they stand for.
    pub instructions: u64,
    /// Data caches, nearest first. Without time no line is on its way, so there are no merges.
    pub caches: Vec<CacheStatistics>,
    /// Software prefetches.
    pub prefetches: PrefetchStatistics,
    /// Lines moved between the last cache and memory.
    pub bus: BusStatistics,
    /// Look-ups by phase and segment.
    pub breakdown: Vec<CountRow>,
    /// Phases.
    pub phases: Vec<PhaseStatistics>,
}
