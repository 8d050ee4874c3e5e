//! What an index in pages has done.

use crate::paged_tree::{Index, Key};
use std::ops::{AddAssign, Sub};

/// What an index counts since it was built, or what operations add to that.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) leaf_pages: u64,
    pub(super) splits: u64,
    pub(super) reads: u64,
    pub(super) prefetches: u64,
    pub(super) writes: u64,
}

impl Sub for Counts {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            leaf_pages: self.leaf_pages - before.leaf_pages,
            splits: self.splits - before.splits,
            reads: self.reads - before.reads,
            prefetches: self.prefetches - before.prefetches,
            writes: self.writes - before.writes,
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, more: Self) {
        self.leaf_pages += more.leaf_pages;
        self.splits += more.splits;
        self.reads += more.reads;
        self.prefetches += more.prefetches;
        self.writes += more.writes;
    }
}

impl Counts {
    pub(super) fn of<K: Key>(index: &Index<K>) -> Self {
        Self {
            leaf_pages: index.leaf_pages(),
            splits: index.page_splits(),
            reads: index.pool().reads(),
            prefetches: index.pool().prefetches(),
            writes: index.pool().writes(),
        }
    }
}
