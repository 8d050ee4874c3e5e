//! Write-combining buffers: lines that non-temporal stores have written a part of.
//!
//! Such stores go past the caches. The bytes of a line are collected until all of it is there, so that it goes to memory as one; a
//! buffer that another line needs goes as it is (Intel 64 and IA-32 Architectures Optimization Reference Manual, "Write combining").

use std::collections::VecDeque;
use std::ops::RangeInclusive;

/// The buffers of a core.
#[derive(Clone, Debug)]
pub(crate) struct WriteCombining {
    /// Lines, the one begun first in front.
    open: VecDeque<Open>,
    most: usize,
    line_bytes: u64,
}

/// A line that has been begun.
#[derive(Clone, Copy, Debug)]
struct Open {
    line: u64,
    /// Bytes that are still to come; those written twice count twice.
    missing: u64,
}

/// What a store does to the buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Combined {
    /// It is the first to its line.
    pub(crate) begins: bool,
    /// A line that leaves unfinished, as all buffers were taken.
    pub(crate) displaced: Option<u64>,
    /// Its line is all there, and leaves.
    pub(crate) is_full: bool,
}

impl WriteCombining {
    /// At most so many lines of so many bytes.
    pub(crate) fn new(most: u32, line_bytes: u64) -> Self {
        Self {
            open: VecDeque::with_capacity(most as usize),
            most: most as usize,
            line_bytes,
        }
    }

    /// Writes bytes of a line.
    pub(crate) fn write(&mut self, line: u64, bytes: u64) -> Combined {
        let place = self.open.iter().position(|open| open.line == line);
        let displaced = (place.is_none() && self.open.len() == self.most)
            .then(|| self.take_oldest())
            .flatten();
        let place = place.unwrap_or_else(|| {
            self.open.push_back(Open {
                line,
                missing: self.line_bytes,
            });
            self.open.len() - 1
        });
        let open = &mut self.open[place];
        let begins = open.missing == self.line_bytes;
        open.missing = open.missing.saturating_sub(bytes);
        let is_full = open.missing == 0;
        if is_full {
            self.open.remove(place);
        }
        Combined {
            begins,
            displaced,
            is_full,
        }
    }

    /// Takes out the line that was begun first.
    pub(crate) fn take_oldest(&mut self) -> Option<u64> {
        self.open.pop_front().map(|open| open.line)
    }

    /// Takes out one of some lines that are about to be read, if one has been begun.
    pub(crate) fn take(&mut self, lines: RangeInclusive<u64>) -> Option<u64> {
        let place = self.open.iter().position(|open| lines.contains(&open.line));
        let taken = place.and_then(|place| self.open.remove(place));
        taken.map(|open| open.line)
    }

    /// Whether one of some lines has been begun.
    pub(crate) fn have(&self, lines: RangeInclusive<u64>) -> bool {
        self.open.iter().any(|open| lines.contains(&open.line))
    }

    /// Whether no line has been begun, as in most programs.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Forgets what has been written.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }
}

/// The bytes of a store, line by line: each line's number, and how many of its bytes. Bytes past the end of the address space do not exist.
pub(crate) fn by_line(
    address: u64,
    size: u64,
    line_shift: u32,
) -> impl Iterator<Item = (u64, u64)> {
    let last = address.saturating_add(size.max(1) - 1);
    (address >> line_shift..=last >> line_shift).map(move |line| {
        let start = (line << line_shift).max(address);
        let end = (line << line_shift | ((1 << line_shift) - 1)).min(last);
        (line, end - start + 1)
    })
}

/// Lines that lie in the one of 2^`longer` times the size that `line` is a part of.
pub(crate) fn beside(line: u64, longer: u32) -> RangeInclusive<u64> {
    let first = line >> longer << longer;
    first..=first | ((1 << longer) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn combined(begins: bool, displaced: Option<u64>, is_full: bool) -> Combined {
        Combined {
            begins,
            displaced,
            is_full,
        }
    }

    #[test]
    fn a_line_leaves_when_it_is_full_or_the_oldest_of_too_many() {
        let mut buffers = WriteCombining::new(2, 64);
        assert_eq!(buffers.write(1, 64), combined(true, None, true));
        assert_eq!(buffers.write(1, 32), combined(true, None, false));
        assert_eq!(buffers.write(2, 16), combined(true, None, false));
        assert_eq!(buffers.write(1, 16), combined(false, None, false));
        assert_eq!(buffers.write(3, 8), combined(true, Some(1), false));
        assert_eq!(buffers.write(2, 48), combined(false, None, true));
        assert!(buffers.have(2..=3) && !buffers.have(0..=2));
        assert_eq!(
            [2..=3, 3..=3, 1..=1].map(|lines| buffers.take(lines)),
            [Some(3), None, None]
        );
        assert_eq!(buffers.take_oldest(), None);
    }

    #[test]
    fn bytes_are_told_by_line() {
        let lines = |address, size| by_line(address, size, 6).collect::<Vec<_>>();
        assert_eq!(lines(64, 64), [(1, 64)]);
        assert_eq!(lines(60, 100), [(0, 4), (1, 64), (2, 32)]);
        assert_eq!(lines(u64::MAX - 3, 100), [(u64::MAX >> 6, 4)]);
        assert_eq!(lines(5, 0), [(0, 1)]);
    }
}
