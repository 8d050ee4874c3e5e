//! How much work and memory visits to lines take.

use crate::memory::{DRAWN_BYTES, LISTED_BYTES, Memory};
use crate::work::Work;

/// Work of visiting lines in so many pages, with `per_line` events each.
pub(super) fn work(lines: u64, pages: u64, per_line: f64) -> Work {
    Work::estimate(0.0, lines as f64 * per_line + pages as f64, 0.0)
}

/// Memory of the lists of lines and pages.
pub(super) fn memory(lines: u64, pages: u64) -> Memory {
    Memory {
        building: lines * (DRAWN_BYTES + LISTED_BYTES) + pages * LISTED_BYTES,
        running: 0,
        piece: 0,
        parameter: "lines",
        remedy: "take fewer lines",
    }
}
