//! Which lines can be visited.

use crate::validate::{WorkloadError, address_space, power_of_two, within, word_bytes};

/// Most lines of a pointer workload.
const MOST_LINES: u64 = 10_000_000;

/// Checks lines in `shared` pages, or in a page each.
pub(super) fn check(
    lines: u64,
    line_bytes: u32,
    word: u32,
    page_bytes: u32,
    shared: Option<u64>,
) -> Result<(), WorkloadError> {
    within("lines", lines, 1, MOST_LINES)?;
    power_of_two("line_bytes", line_bytes, 16, 1024)?;
    word_bytes(word)?;
    power_of_two("page_bytes", page_bytes, 2 * line_bytes, 1 << 30)?;
    if let Some(pages) = shared {
        within("pages", pages, 1, MOST_LINES)?;
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
