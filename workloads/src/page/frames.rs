//! The pages of a file, and the frames of the buffer pool that they lie in.

use super::framed::{FixedPage, Framed, FramedMut};
use crate::arena::Reservation;
use crate::random::Random;
use crate::watch::{self, BYTES_PER_LOOK};
use std::ops::Range;
use traces::Segment;

/// Space between frames. An operating system maps memory in pages of this size wherever they are free, so frames larger than
/// that begin anywhere in a cache; without the gap, columns of 32 KB pages that are read side by side would all compete for
/// the same few sets.
const GAP_BYTES: u64 = 4096;

/// What a frame takes of the address space.
fn frame_bytes(page_bytes: u32) -> u64 {
    u64::from(page_bytes) + GAP_BYTES
}

/// Frames of the buffer pool, one behind the other, for one file or for several that share them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    base: u64,
    page_bytes: u32,
    frames: u32,
}

impl Pool {
    /// What so many frames take of the address space.
    #[must_use]
    pub fn reservation(name: &str, page_bytes: u32, frames: u32) -> Reservation {
        Reservation {
            name: name.into(),
            object_bytes: frame_bytes(page_bytes),
            objects: u64::from(frames),
        }
    }

    /// The frames that have been reserved in a segment.
    #[must_use]
    pub fn of(segment: &Segment, page_bytes: u32) -> Self {
        Self {
            base: segment.base,
            page_bytes,
            frames: (segment.size_bytes / frame_bytes(page_bytes)) as u32,
        }
    }

    /// `frames` of them from number `first` on.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn part(&self, first: u32, frames: u32) -> Self {
        assert!(
            first
                .checked_add(frames)
                .is_some_and(|end| end <= self.frames),
            "{frames} frames from {first} on are not among {}",
            self.frames
        );
        Self {
            base: self.address(first),
            frames,
            ..*self
        }
    }

    /// So many equal parts; what is left over belongs to none.
    pub fn parts(self, count: u32) -> impl Iterator<Item = Self> {
        let frames = self.frames / count;
        (0..count).map(move |number| self.part(number * frames, frames))
    }

    /// Frames there are.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.frames
    }

    #[inline]
    fn address(&self, frame: u32) -> u64 {
        self.base + u64::from(frame) * frame_bytes(self.page_bytes)
    }
}

/// Pages of one file.
///
/// The bytes of a page are at hand by its number. Its simulated address is that of its frame: a buffer pool puts a page
/// wherever a frame is free, so after [`Frames::scatter`] neighbours in the file are no neighbours in memory.
#[derive(Debug)]
pub struct Frames {
    pool: Pool,
    pages: Vec<Box<[u8]>>,
    /// Frame of each page number, repeating; pages are in frames of their own number if it is empty.
    frame_of: Vec<u32>,
}

impl Clone for Frames {
    /// Those of a long file take seconds, in which somebody may want to stop.
    fn clone(&self) -> Self {
        let mut pages = Vec::with_capacity(self.pages.len());
        for part in self
            .pages
            .chunks(BYTES_PER_LOOK / self.pool.page_bytes as usize)
        {
            watch::look();
            pages.extend_from_slice(part);
        }
        Self {
            pool: self.pool,
            pages,
            frame_of: self.frame_of.clone(),
        }
    }
}

impl Frames {
    /// No pages yet; frames in the order of the file from address 0.
    #[must_use]
    pub fn new(page_bytes: u32) -> Self {
        Self {
            pool: Pool {
                base: 0,
                page_bytes,
                frames: 0,
            },
            pages: Vec::new(),
            frame_of: Vec::new(),
        }
    }

    /// Puts the pages, and those to come, into the frames of a pool, in random order. A file with more pages uses the frames
    /// again.
    ///
    /// # Panics
    /// If the frames are of another size.
    pub fn scatter(&mut self, pool: Pool, random: &mut Random) {
        assert_eq!(
            self.pool.page_bytes, pool.page_bytes,
            "a page fills its frame"
        );
        self.pool = pool;
        self.frame_of = (0..pool.frames).collect();
        random.shuffle(&mut self.frame_of);
    }

    /// Pages there are.
    #[inline]
    #[must_use]
    pub fn count(&self) -> u32 {
        self.pages.len() as u32
    }

    /// Bytes of a page.
    #[inline]
    #[must_use]
    pub fn page_bytes(&self) -> usize {
        self.pool.page_bytes as usize
    }

    /// Adds a page of zeros and returns its number.
    pub fn add(&mut self) -> u32 {
        self.pages
            .push(vec![0; self.page_bytes()].into_boxed_slice());
        self.count() - 1
    }

    /// A page and where it is.
    #[inline]
    #[must_use]
    pub fn fix(&self, page: u32) -> FixedPage {
        FixedPage::new(page, self.address(page))
    }

    /// The addresses that a page takes in its frame.
    #[inline]
    #[must_use]
    pub fn frame(&self, page: u32) -> Range<u64> {
        let address = self.address(page);
        address..address + self.page_bytes() as u64
    }

    /// A page in its frame.
    #[inline]
    pub(super) fn framed(&self, page: FixedPage) -> Framed<'_> {
        page.with(self.page(page.number))
    }

    /// A page in its frame, to be changed.
    #[inline]
    pub(super) fn framed_mut(&mut self, page: FixedPage) -> FramedMut<'_> {
        page.with_mut(self.page_mut(page.number))
    }

    /// Simulated address of a page.
    #[inline]
    fn address(&self, page: u32) -> u64 {
        let frame = if self.frame_of.is_empty() {
            page
        } else {
            self.frame_of[page as usize % self.frame_of.len()]
        };
        self.pool.address(frame)
    }

    /// The bytes of a page.
    #[inline]
    #[must_use]
    pub fn page(&self, page: u32) -> &[u8] {
        &self.pages[page as usize]
    }

    /// The bytes of a page, to change them.
    #[inline]
    pub fn page_mut(&mut self, page: u32) -> &mut [u8] {
        &mut self.pages[page as usize]
    }
}

/// In tests: no two files have frames in common.
pub fn assert_apart(files: &[&Frames]) {
    let range = |frames: &&Frames| {
        let pool = frames.pool;
        (pool.base, pool.address(pool.frames))
    };
    let mut ranges: Vec<_> = files.iter().map(range).collect();
    ranges.sort_unstable();
    debug_assert!(
        ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0),
        "files share frames: {ranges:x?}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copying_is_stopped_by_who_watches() {
        let mut frames = Frames::new(8192);
        let page = frames.add();
        frames.page_mut(page).fill(7);
        assert_eq!(frames.clone().page(page), [7; 8192]);
        let copied = watch::stopped(|| frames.clone());
        assert_eq!(copied.err(), Some(watch::Stopped));
    }

    #[test]
    fn every_page_has_a_frame_of_its_own() {
        let mut frames = Frames::new(8192);
        let segment = Segment {
            name: "frames".to_owned(),
            base: 16_384,
            size_bytes: 100 * (8192 + 4096),
        };
        frames.scatter(Pool::of(&segment, 8192), &mut Random::new(1, 0));
        let mut addresses: Vec<u64> = (0..100).map(|page| frames.address(page)).collect();
        assert_eq!(frames.address(100), frames.address(0));
        assert!(!addresses.is_sorted());
        addresses.sort_unstable();
        assert!(
            addresses
                .into_iter()
                .eq((0..100).map(|frame| 16_384 + frame * (8192 + 4096)))
        );
    }

    #[test]
    fn parts_of_a_pool_lie_side_by_side() {
        let pool = Pool {
            base: 4096,
            page_bytes: 8192,
            frames: 10,
        };
        let (first, second) = (pool.part(0, 4), pool.part(4, 6));
        assert_eq!(first.address(4), second.address(0));
        assert_eq!(second.address(6), pool.address(10));
        let parts: Vec<_> = pool.parts(3).collect();
        assert_eq!(parts, [0, 3, 6].map(|first| pool.part(first, 3)));
        assert!(std::panic::catch_unwind(|| pool.part(5, 6)).is_err());
    }

    #[test]
    #[cfg(debug_assertions)]
    fn files_that_share_frames_are_refused() {
        let pool = Pool {
            base: 4096,
            page_bytes: 8192,
            frames: 10,
        };
        let file = |(first, frames)| {
            let mut file = Frames::new(8192);
            file.scatter(pool.part(first, frames), &mut Random::new(1, 0));
            file
        };
        for (parts, refused) in [
            ([(4, 3), (0, 4), (7, 3)], false),
            ([(0, 4), (3, 3), (7, 3)], true),
        ] {
            let files = parts.map(file);
            let checked = std::panic::catch_unwind(|| assert_apart(&files.each_ref()));
            assert_eq!(checked.is_err(), refused, "{parts:?}");
        }
    }
}
