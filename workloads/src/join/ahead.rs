//! Prefetching a page in step with its use: the lines of tuples, and of their slots, some tuples ahead.

use super::pages::PageFormat;

/// Whether what is prefetched is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reuse {
    Likely,
    /// It is used once: non-temporal prefetches.
    None,
}

/// What is prefetched of pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// Tuples between a prefetch and its use; 0 for the whole page when it is opened.
    pub(super) tuples: u32,
    /// Bytes of a line.
    pub(super) line_bytes: u32,
    /// Whether tuples are touched, too, or slots only.
    pub(super) of_tuples: bool,
    pub(super) reuse: Reuse,
}

impl Ahead {
    pub(super) fn with(self, reuse: Reuse) -> Self {
        Self { reuse, ..self }
    }
}

/// How far a page has been prefetched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefetched {
    ahead: Ahead,
    /// Tuples, up to which byte, and from which byte on their slots.
    tuples: u32,
    tuples_until: u32,
    slots_from: u32,
}

impl Prefetched {
    /// Nothing of any page.
    pub(super) fn nothing(ahead: Ahead) -> Self {
        Self {
            ahead,
            tuples: 0,
            tuples_until: 0,
            slots_from: 0,
        }
    }

    pub(super) fn reuse(&self) -> Reuse {
        self.ahead.reuse
    }

    /// A page is opened, of which the lines before a place are there, or begins where one ends.
    pub(super) fn open(&mut self, format: PageFormat, there_until: u32) {
        self.tuples = 0;
        self.tuples_until = there_until;
        self.slots_from = format.page_bytes;
    }

    /// Tuple number `next` of `count` is about to be touched: `fetch` is told the places in the page whose lines are to be prefetched. If
    /// lengths differ, it begins at place `at`, and all tuples end at `end`; those ahead are taken for the longest.
    pub(super) fn look(
        &mut self,
        format: PageFormat,
        (next, count): (u32, u32),
        (at, end): (u32, u32),
        mut fetch: impl FnMut(u32),
    ) {
        let until = match self.ahead.tuples {
            0 => count,
            tuples => count.min(next + tuples + 1),
        };
        let tuples_until = match self.ahead.tuples {
            _ if !format.varies() => {
                if until <= self.tuples {
                    return;
                }
                format.tuple(until)
            }
            0 => end,
            tuples => end.min(at + (tuples + 1) * format.tuple_bytes),
        };
        let line = self.ahead.line_bytes;
        // The line of the first byte was asked for with what lies before it, if anything does.
        let mut fetch_from = |first: u32, end: u32| {
            let first = first.next_multiple_of(line);
            (first..end).step_by(line as usize).for_each(&mut fetch);
        };
        let slots_from = format.slot(until - 1);
        if self.ahead.of_tuples {
            let tuples_until = tuples_until.min(slots_from).max(self.tuples_until);
            fetch_from(self.tuples_until, tuples_until);
            self.tuples_until = tuples_until;
        }
        fetch_from(slots_from / line * line, self.slots_from / line * line);
        self.slots_from = slots_from;
        self.tuples = until;
    }
}

/// Addresses of the lines that bytes from an address on touch, the first of them as it is.
pub(super) fn lines(address: u64, bytes: u32, line_bytes: u32) -> impl Iterator<Item = u64> {
    let line = u64::from(line_bytes);
    let further = (address / line + 1..).map(move |number| number * line);
    let end = address + u64::from(bytes);
    std::iter::once(address).chain(further.take_while(move |&start| start < end))
}
