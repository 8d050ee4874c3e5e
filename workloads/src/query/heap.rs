//! Memory that the hash tables of a join share.

use crate::arena::{Arena, Far};
use crate::place::Extent;

/// Bytes handed out at a time: hash tables grow in chunks.
pub(super) const CHUNK_BYTES: u64 = 8192;

/// A heap of chunks.
#[derive(Debug)]
pub struct Heap {
    pub(super) memory: Arena<Far>,
    /// Chunks never used begin here.
    unused: u64,
    end: u64,
    /// Chunks given back.
    free: Vec<u64>,
}

impl Heap {
    /// A heap of so many bytes from address `base` on.
    #[must_use]
    pub fn new(base: u64, bytes: u64) -> Self {
        Self {
            memory: Arena::of(base, bytes),
            unused: base,
            end: base + bytes,
            free: Vec::new(),
        }
    }

    /// The address of a chunk; `None` if there is none left.
    pub(super) fn take(&mut self) -> Option<u64> {
        self.free.pop().or_else(|| {
            let chunk = self.unused;
            (chunk + CHUNK_BYTES <= self.end).then(|| {
                self.unused += CHUNK_BYTES;
                chunk
            })
        })
    }

    /// So many bytes from an address in a chunk on.
    pub(super) fn place(address: u64, bytes: usize) -> Extent {
        Extent {
            segment: 0,
            address,
            bytes,
        }
    }

    /// Takes chunks back.
    pub(super) fn give_back(&mut self, chunks: impl Iterator<Item = u64>) {
        self.free.extend(chunks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_used_again_once_there_are_no_new_ones() {
        let mut heap = Heap::new(64, 2 * CHUNK_BYTES + 1);
        let chunks: Vec<_> = std::iter::from_fn(|| heap.take()).collect();
        assert_eq!(chunks, [64, 64 + CHUNK_BYTES]);
        heap.give_back(chunks.into_iter().take(1));
        assert_eq!((heap.take(), heap.take()), (Some(64), None));
    }
}
