//! Blocks that are copied to their places in pages: what a processor does where devices cannot bring them there (Clotho section 7.2.1).

use crate::page::{COPY_WORD, Frames};
use crate::sorted::{MoveSites, moved};
use crate::tracer::Trace;

/// Names of its places in the code.
pub(super) const SITE_NAMES: [&str; 3] = [
    "scattered block: word read",
    "scattered block: word written",
    "scattered block: another word?",
];

/// A relation whose blocks have been read one behind the other.
pub(super) struct Scattered<'f> {
    /// Where they belong.
    pub(super) frames: &'f Frames,
    pub(super) pages: u32,
    pub(super) attributes: u32,
    pub(super) block_bytes: u32,
    /// Address of what was read.
    pub(super) buffer: u64,
    /// Number of the first of [`SITE_NAMES`].
    pub(super) first_site: u16,
}

impl Scattered<'_> {
    /// Groups of blocks, one of each attribute, that a page has room for.
    fn groups(page_bytes: u32, block_bytes: u32, attributes: u32) -> u32 {
        page_bytes / block_bytes / attributes
    }

    /// Copies every block to its page, word by word; returns how many there are. They were read attribute by attribute, as they lie on tracks,
    /// and a page has them group by group.
    pub(super) fn copy<T: Trace>(&self, trace: &mut T) -> u64 {
        let page_bytes = self.frames.page_bytes() as u32;
        let groups = Self::groups(page_bytes, self.block_bytes, self.attributes);
        let bytes = self.block_bytes as usize;
        let sites = MoveSites {
            load: self.first_site,
            store: self.first_site + 1,
            again: self.first_site + 2,
        };
        let read = vec![1_u8; bytes * self.pages as usize * (groups * self.attributes) as usize];
        let mut kept = vec![0_u8; self.pages as usize * page_bytes as usize];
        let mut blocks = read.chunks_exact(bytes).zip(0_u64..);
        let mut copied = 0;
        for attribute in 0..self.attributes {
            for page in 0..self.pages {
                if trace.failed() {
                    return copied;
                }
                let frame = self.frames.frame(page).start;
                for group in 0..groups {
                    let place = (group * self.attributes + attribute) as usize * bytes;
                    let (block, number) = blocks.next().expect("pages have as many blocks");
                    let in_file = page as usize * page_bytes as usize + place;
                    kept[in_file..in_file + bytes].copy_from_slice(block);
                    let from = self.buffer + number * u64::from(self.block_bytes);
                    let to = frame + place as u64;
                    moved(
                        trace,
                        sites,
                        (from, to),
                        bytes / COPY_WORD,
                        COPY_WORD as u16,
                    );
                    copied += 1;
                }
            }
        }
        copied
    }
}
