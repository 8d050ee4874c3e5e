//! What a trace file says about itself.

use crate::layout::Layout;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The program that made a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generator {
    /// Name.
    pub name: String,
    /// Version.
    pub version: String,
}

impl Default for Generator {
    /// This build of memwalk.
    fn default() -> Self {
        Self {
            name: "memwalk".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Where a trace comes from and what the numbers in it mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceInfo {
    /// The workload that the kernel ran, or `imported` with the foreign trace's description.
    pub workload: Value,
    /// Anything else that was set for the recording.
    pub parameters: Map<String, Value>,
    /// Seed of the workload's random numbers, if it draws any.
    pub seed: Option<u64>,
    /// Cache line the kernel was built for, in bytes, if it was built for one.
    pub line_bytes: Option<u64>,
    /// Page the kernel was built for, in bytes, if it was built for one.
    pub page_bytes: Option<u64>,
    /// What made the trace.
    pub generator: Generator,
    /// Names of the segments, sites and phases.
    pub layout: Layout,
    /// Threads whose events these are; they run at the same time.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub threads: u32,
    /// Events after which the next of them goes on where one core has them all; none if each goes on up to its next barrier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<u32>,
    /// What the kernel computed, such as tree levels or a checksum; known at the end of the run.
    pub outcome: Map<String, Value>,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_one(threads: &u32) -> bool {
    *threads == 1
}

impl Default for TraceInfo {
    /// The description of a trace of one thread, of which nothing else is known.
    fn default() -> Self {
        Self {
            workload: Value::Null,
            parameters: Map::new(),
            seed: None,
            line_bytes: None,
            page_bytes: None,
            generator: Generator::default(),
            layout: Layout::default(),
            threads: one(),
            slice: None,
            outcome: Map::new(),
        }
    }
}

impl TraceInfo {
    /// The description of a trace of `workload`, made by this build; the other fields are empty.
    #[must_use]
    pub fn new(workload: Value, layout: Layout) -> Self {
        Self {
            workload,
            layout,
            ..Self::default()
        }
    }
}

/// Most threads of a trace: more than any machine has cores.
pub(crate) const MOST_THREADS: u32 = 256;

impl TraceInfo {
    /// Why no trace can be described so; nothing if one can.
    pub(super) fn problem(&self) -> Option<String> {
        let threads = self.threads;
        if !(1..=MOST_THREADS).contains(&threads) {
            return Some(format!("{threads} threads; there are 1 to {MOST_THREADS}"));
        }
        if self.slice == Some(0) {
            return Some("slices of no events, in which threads take turns".into());
        }
        self.layout.problem()
    }
}

/// How much a trace file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TraceSummary {
    /// Events.
    pub events: u64,
    /// Instructions that the events stand for.
    pub instructions: u64,
    /// Row groups that the events are split into.
    pub row_groups: usize,
    /// Size of the file.
    pub file_bytes: u64,
}
