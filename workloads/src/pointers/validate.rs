//! Which lines can be visited.

use crate::bounds::{Between, LINE_BYTES, PowersOfTwo, WORD_BYTES};
use crate::validate::{WorkloadError, address_space, power_of_two};

/// Lines of a pointer workload, and pages that they are in.
pub(super) const LINES: Between<u64> = Between {
    least: 1,
    most: 10_000_000,
};
/// Pages: one has two lines at least.
pub(super) const PAGE_BYTES: PowersOfTwo = PowersOfTwo {
    least: 2 * LINE_BYTES.least,
    most: 1 << 30,
};

/// Checks lines in `shared` pages, or in a page each.
pub(super) fn check(
    lines: u64,
    line_bytes: u32,
    word: u32,
    page_bytes: u32,
    shared: Option<u64>,
) -> Result<(), WorkloadError> {
    LINES.check("lines", lines)?;
    LINE_BYTES.check("line_bytes", line_bytes)?;
    WORD_BYTES.check("word_bytes", word)?;
    power_of_two("page_bytes", page_bytes, 2 * line_bytes, PAGE_BYTES.most)?;
    if let Some(pages) = shared {
        LINES.check("pages", pages)?;
        let listed = u64::from(page_bytes / line_bytes - 1);
        if lines > pages * listed {
            let message = format!(
                "{lines} do not fit into {pages} pages, which list at most {} lines",
                pages * listed
            );
            return Err(WorkloadError::new("lines", message));
        }
    }
    let array_bytes = lines * u64::from(word);
    let bytes = shared
        .unwrap_or(lines)
        .saturating_mul(u64::from(page_bytes))
        .saturating_add(array_bytes);
    address_space("lines", word, bytes.saturating_add(1 << 20))
}
