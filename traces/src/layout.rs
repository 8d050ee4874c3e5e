//! What gives a trace's numbers their names: segments of the address space, sites in the code, phases of the run, calls
//! into the host DBMS.

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

impl Segment {
    /// What results call memory outside every segment.
    pub const ELSEWHERE: &'static str = "(elsewhere)";
    /// What results call the place of what comes before the first access.
    pub const NOWHERE: &'static str = "(none)";
    /// No segment is called so.
    pub const RESERVED_NAMES: [&'static str; 2] = [Self::ELSEWHERE, Self::NOWHERE];
}

/// Names of the segments, sites, phases and calls that the events refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Segments in ascending address order; they do not overlap.
    pub segments: Vec<Segment>,
    /// Site names; an event's `site` is an index into them.
    pub sites: Vec<String>,
    /// Phase names; a mark's `address` is an index into them. Events before the first mark belong to phase 0.
    pub phases: Vec<String>,
    /// Names of the calls into the host DBMS; a call's `address` is an index into them. A machine's DBMS profile gives
    /// the names their cost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
}

impl Layout {
    /// What is wrong with the layout, in words; nothing if it keeps what its fields promise.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        if self.phases.is_empty() {
            return Some(
                "the layout names no phase; the events before the first mark belong to phase 0"
                    .to_owned(),
            );
        }
        let mut end = 0;
        for segment in &self.segments {
            let name = &segment.name;
            if segment.base < end {
                return Some(format!(
                    "segment `{name}` begins at {:#x}, before the end {end:#x} of the segment before it",
                    segment.base
                ));
            }
            match segment.base.checked_add(segment.size_bytes) {
                Some(segment_end) => end = segment_end,
                None => {
                    return Some(format!(
                        "segment `{name}` ends beyond the 64-bit address space"
                    ));
                }
            }
        }
        None
    }
}
