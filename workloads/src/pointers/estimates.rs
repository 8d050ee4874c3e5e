//! How much work and memory visits to lines take.

use crate::memory::{DRAWN_BYTES, LISTED_BYTES, Memory};
use crate::work::Work;
use traces::Segment;

/// Work of visiting lines in so many pages, with `per_line` events each.
pub(super) fn work(lines: u64, pages: u64, per_line: f64) -> Work {
    Work::estimate(0.0, lines as f64 * per_line + pages as f64, 0.0)
}

/// Memory of lines in a segment, and of the lists that say where they are.
pub(super) fn memory(lines: u64, segment: &Segment) -> Memory {
    let addresses = segment.base + segment.size_bytes;
    Memory {
        // Hosts with huge pages touch more than the lines.
        building: lines * (DRAWN_BYTES + 2 * LISTED_BYTES) + addresses,
        running: 0,
        piece: addresses,
        parameter: "lines",
        remedy: "take fewer lines, or smaller pages",
    }
}
