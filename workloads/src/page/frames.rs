//! The pages of a file, and the frames of the buffer pool that they lie in.

use crate::arena::Reservation;
use crate::random::Random;

/// Space between frames. An operating system maps memory in pages of this size wherever they are free, so frames larger than
/// that begin anywhere in a cache; without the gap, columns of 32 KB pages that are read side by side would all compete for
/// the same few sets.
const GAP_BYTES: u64 = 4096;

/// Pages of one file.
///
/// The bytes of a page are at hand by its number. Its simulated address is that of its frame: a buffer pool puts a page
/// wherever a frame is free, so after [`Frames::scatter`] neighbours in the file are no neighbours in memory.
#[derive(Clone, Debug)]
pub struct Frames {
    page_bytes: usize,
    pages: Vec<Box<[u8]>>,
    base: u64,
    /// Frame of each page number, repeating; pages are in frames of their own number if it is empty.
    frame_of: Vec<u32>,
}

impl Frames {
    /// No pages yet; frames in the order of the file from address 0.
    #[must_use]
    pub fn new(page_bytes: u32) -> Self {
        Self {
            page_bytes: page_bytes as usize,
            pages: Vec::new(),
            base: 0,
            frame_of: Vec::new(),
        }
    }

    /// What a pool of so many frames takes of the address space.
    #[must_use]
    pub fn reservation(name: &str, page_bytes: u32, frames: u32) -> Reservation {
        Reservation {
            name: name.into(),
            object_bytes: u64::from(page_bytes) + GAP_BYTES,
            objects: u64::from(frames),
        }
    }

    /// Puts the pages, and those to come, into `frames` frames from address `base` on, in random order. A file with more
    /// pages uses the frames again.
    pub fn scatter(&mut self, base: u64, frames: u32, random: &mut Random) {
        self.base = base;
        self.frame_of = (0..frames).collect();
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
        self.page_bytes
    }

    /// Adds a page of zeros and returns its number.
    pub fn add(&mut self) -> u32 {
        self.pages.push(vec![0; self.page_bytes].into_boxed_slice());
        self.count() - 1
    }

    /// Simulated address of a page.
    #[inline]
    #[must_use]
    pub fn address(&self, page: u32) -> u64 {
        let frame = if self.frame_of.is_empty() {
            page
        } else {
            self.frame_of[page as usize % self.frame_of.len()]
        };
        self.base + u64::from(frame) * (self.page_bytes as u64 + GAP_BYTES)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_a_frame_of_its_own() {
        let mut frames = Frames::new(8192);
        frames.scatter(16_384, 100, &mut Random::new(1, 0));
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
}
