//! What gives a trace's numbers their names: segments of the address space, sites in the code, phases of the run.

use serde::{Deserialize, Serialize};

/// A named range of the simulated address space: one data structure, or one level of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// Name shown to the user, such as `level 0 (leaves)`.
    pub name: String,
    /// First address.
    pub base: u64,
    /// Bytes reserved for the segment (it may be used in part).
    pub size_bytes: u64,
}

/// Names of the segments, sites and phases that the events refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Segments in ascending address order; they do not overlap.
    pub segments: Vec<Segment>,
    /// Site names; an event's `site` is an index into them.
    pub sites: Vec<String>,
    /// Phase names; a mark's `address` is an index into them. Events before the first mark belong to phase 0.
    pub phases: Vec<String>,
}
