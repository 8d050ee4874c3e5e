//! Accesses split at cache lines.

use crate::event::{Event, Kind};

/// The part of an access that lies in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) address: u64,
    /// Bytes; at least 1.
    pub(super) size: u32,
}

/// The parts of `size` bytes at `address`, one per line, in address order. No bytes count as one; bytes beyond the top
/// of memory do not count.
pub(super) fn parts(address: u64, size: u32, line_bytes: u64) -> impl Iterator<Item = Part> {
    let last = address.saturating_add(u64::from(size.max(1) - 1));
    let mut next = Some(address);
    std::iter::from_fn(move || {
        let first = next?;
        let end = (first | (line_bytes - 1)).min(last);
        next = (end < last).then_some(end.wrapping_add(1));
        Some(Part {
            address: first,
            // At most the event's size.
            size: (end - first) as u32 + 1,
        })
    })
}

/// The parts of a load, store, fetch or prefetch; a prefetch is of one line. Nothing for other events.
pub(super) fn accesses(event: &Event, line_bytes: u64) -> impl Iterator<Item = Part> {
    let lines = match event.kind {
        Kind::Fetch => usize::MAX,
        kind if kind.moves_words() => usize::MAX,
        Kind::Prefetch | Kind::PrefetchNta => 1,
        _ => 0,
    };
    parts(event.address, u32::from(event.size), line_bytes).take(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(address: u64, size: u32) -> Vec<(u64, u32)> {
        parts(address, size, 64)
            .map(|part| (part.address, part.size))
            .collect()
    }

    #[test]
    fn an_access_is_split_where_lines_end() {
        assert_eq!(split(0, 64), [(0, 64)]);
        assert_eq!(split(60, 8), [(60, 4), (64, 4)]);
        assert_eq!(split(63, 66), [(63, 1), (64, 64), (128, 1)]);
        assert_eq!(split(7, 0), [(7, 1)]);
    }

    #[test]
    fn the_top_of_memory_ends_an_access() {
        assert_eq!(split(u64::MAX, 8), [(u64::MAX, 1)]);
        let below = u64::MAX - 64;
        assert_eq!(split(below, 65), [(below, 1), (below + 1, 64)]);
        assert_eq!(split(below, 4096), [(below, 1), (below + 1, 64)]);
    }
}
