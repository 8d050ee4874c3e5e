//! The lines of a machine's caches, side by side in memory that the host maps by huge pages if it can.
//!
//! Look-ups go to any of them. In small pages many would miss the host's TLB, too, above all those of many cores.

#![allow(
    unsafe_code,
    reason = "caches share an allocation, of which each has lines that nobody else touches"
)]

use crate::line::Line;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use traces::host_prefetch::prefetch;

/// Bytes of the host's huge pages.
const HUGE_PAGE: usize = 2 << 20;
const LINES_OF_A_PAGE: usize = HUGE_PAGE / size_of::<Line>();
/// Lines in one of the host's cache lines.
const LINES_AT_ONCE: usize = 64 / size_of::<Line>();

/// Memory for so many lines, of which each cache takes its own.
#[derive(Debug)]
pub(crate) struct LineRoom {
    memory: Arc<Memory>,
    /// Place of the next line that nobody has.
    next: usize,
    end: usize,
}

/// Lines that are one cache's alone.
#[derive(Debug)]
pub(crate) struct Lines {
    first: NonNull<Line>,
    count: usize,
    /// Where they lie, together with those of others.
    _memory: Arc<Memory>,
}

/// What a `Vec` of such a capacity has taken from the host. Its elements are [`Lines`]'.
#[derive(Debug)]
struct Memory {
    start: NonNull<Line>,
    capacity: usize,
}

impl LineRoom {
    /// Room for so many lines, all of them empty.
    pub(crate) fn of(lines: usize) -> Self {
        // Less than a quarter of a huge page, such as tests have, is not worth one.
        let is_large = lines >= LINES_OF_A_PAGE / 4;
        let before = if is_large { LINES_OF_A_PAGE } else { 0 };
        let mut memory = ManuallyDrop::new(Vec::<Line>::with_capacity(lines + before));
        let place = memory.as_ptr().align_offset(HUGE_PAGE).min(before);
        let room = memory.spare_capacity_mut();
        if is_large {
            prefer_huge_pages(room);
        }
        for line in &mut room[place..place + lines] {
            line.write(Line::NONE);
        }
        Self {
            memory: Arc::new(Memory {
                start: NonNull::new(memory.as_mut_ptr()).expect("a vector points somewhere"),
                capacity: memory.capacity(),
            }),
            next: place,
            end: place + lines,
        }
    }

    /// So many of them, which nobody else gets.
    ///
    /// # Panics
    /// If there are not as many.
    pub(crate) fn take(&mut self, count: usize) -> Lines {
        assert!(count <= self.end - self.next, "all caches were counted");
        // SAFETY: `next` is at most `end`, which is within the vector's capacity.
        let first = unsafe { self.memory.start.add(self.next) };
        self.next += count;
        Lines {
            first,
            count,
            _memory: Arc::clone(&self.memory),
        }
    }
}

impl Lines {
    /// Gets some of them into the host's caches.
    #[inline(always)]
    pub(crate) fn foresee(&self, places: Range<usize>) {
        for place in places.step_by(LINES_AT_ONCE) {
            prefetch(self.first.as_ptr().wrapping_add(place).cast());
        }
    }
}

impl Deref for Lines {
    type Target = [Line];

    #[inline(always)]
    fn deref(&self) -> &[Line] {
        // SAFETY: `LineRoom::take` gives so many lines, which have been written, to nobody else, and they live as long as `_memory`.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.count) }
    }
}

impl DerefMut for Lines {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Line] {
        // SAFETY: as for `deref`; who has these lines has them alone.
        unsafe { slice::from_raw_parts_mut(self.first.as_ptr(), self.count) }
    }
}

impl Clone for Lines {
    fn clone(&self) -> Self {
        let mut copy = LineRoom::of(self.count).take(self.count);
        copy.copy_from_slice(self);
        copy
    }
}

// SAFETY: the lines belong to nobody else, as those of a `Box<[Line]>`.
unsafe impl Send for Lines {}

// SAFETY: as for `Send`: shared, they are only read.
unsafe impl Sync for Lines {}

// SAFETY: nobody reads or writes through the start of the memory but who has lines of it.
unsafe impl Send for Memory {}

// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: both come from a vector that was not dropped; lines need no drop, and all who had some are gone.
        drop(unsafe { Vec::from_raw_parts(self.start.as_ptr(), 0, self.capacity) });
    }
}

/// Asks the host to map memory that nobody has touched by huge pages. It may decline, and others map as they like.
fn prefer_huge_pages(memory: &mut [MaybeUninit<Line>]) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let bytes = memory.as_mut_ptr().cast::<u8>();
        let before = bytes.align_offset(PAGE).min(size_of_val(memory));
        let whole = (size_of_val(memory) - before) / PAGE * PAGE;
        // SAFETY: the pages lie within the slice, and the advice leaves what they hold as it is.
        unsafe {
            libc::madvise(
                bytes.wrapping_add(before).cast(),
                whole,
                libc::MADV_HUGEPAGE,
            );
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_have_lines_of_their_own_as_long_as_they_live() {
        for count in [1, 100, LINES_OF_A_PAGE / 4, LINES_OF_A_PAGE + 5] {
            let mut room = LineRoom::of(3 * count);
            let mut all: Vec<Lines> = (0..3).map(|_| room.take(count)).collect();
            drop(room);
            assert!(
                all.iter()
                    .flat_map(|lines| lines.iter())
                    .all(|line| line.is_none())
            );
            for (number, lines) in (0..).zip(&mut all) {
                lines.fill(Line::new(number, 0, 0));
            }
            let copy = all[1].clone();
            all[1].fill(Line::new(7, 0, 0));
            let last = all.pop().expect("there are three");
            drop(all);
            assert!(last.iter().all(|line| line.number == 2));
            assert!(copy.len() == count && copy.iter().all(|line| line.number == 1));
        }
    }

    #[test]
    #[should_panic(expected = "all caches were counted")]
    fn there_are_no_more_lines_than_were_counted() {
        LineRoom::of(10).take(11);
    }
}
