//! An index of any structure, with keys of one size.

use super::array::ArrayPage;
use super::cache_first::{CacheFirstTree, most_pages};
use super::disk_first::DiskFirstPage;
use super::format::Ahead;
use super::geometry::{
    CacheFirst, InPageTree, MicroIndexPage, PageSizes, array_fanout, slotted_fanout,
};
use super::key::Key;
use super::plan::{Plan, Room};
use super::slotted::SlottedPage;
use super::tree::PagedTree;
use crate::pool::Pool;
use crate::tracer::Trace;
use crate::tree::{ReturnBuffer, ScanRange};

/// What determines pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Slotted pages.
    Slotted,
    /// Pages with arrays.
    Array,
    /// Pages with a micro-index.
    MicroIndex(MicroIndexPage),
    /// Pages with a tree in each.
    DiskFirst(InPageTree),
    /// Nodes placed in pages.
    CacheFirst(CacheFirst),
}

impl Shape {
    /// Most entries of a leaf page.
    #[must_use]
    pub fn fanout(&self, sizes: &PageSizes) -> usize {
        let fanout = match self {
            Self::Slotted => slotted_fanout(sizes),
            Self::Array => array_fanout(sizes),
            Self::MicroIndex(page) => page.fanout,
            Self::DiskFirst(tree) => tree.fanout(),
            Self::CacheFirst(nodes) => nodes.page_fanout(),
        };
        fanout as usize
    }

    /// The pages of an index of `keys` keys, filled up to `fill`, with room for insertions.
    #[must_use]
    pub fn plan(&self, sizes: &PageSizes, keys: u64, fill: f64, room: Room) -> Plan {
        let fanout = self.fanout(sizes);
        if let Self::CacheFirst(geometry) = self {
            return Plan {
                entries: fanout,
                built: most_pages(geometry, keys, fill, 0).to_vec(),
                most: most_pages(geometry, keys, fill, room).to_vec(),
            };
        }
        let half = match self {
            Self::DiskFirst(_) => DiskFirstPage::room_after_split(fanout),
            _ => fanout / 2,
        };
        Plan::new(fanout, half, keys, fill, room)
    }
}

/// An index.
#[derive(Clone, Debug)]
pub enum Index<K> {
    /// Of slotted pages.
    Slotted(PagedTree<K, SlottedPage>),
    /// Of pages with arrays.
    Array(PagedTree<K, ArrayPage>),
    /// Of pages with a tree in each.
    DiskFirst(PagedTree<K, DiskFirstPage>),
    /// Of nodes placed in pages.
    CacheFirst(CacheFirstTree<K>),
}

/// Does the same to an index of any structure.
macro_rules! each {
    ($index:expr, $tree:ident => $does:expr) => {
        match $index {
            Index::Slotted($tree) => $does,
            Index::Array($tree) => $does,
            Index::DiskFirst($tree) => $does,
            Index::CacheFirst($tree) => $does,
        }
    };
}

impl<K: Key> Index<K> {
    /// Builds an index of `entries` (keys ascending and distinct, each with its tupleID), with room for insertions.
    pub fn bulkload(
        shape: Shape,
        sizes: &PageSizes,
        entries: impl ExactSizeIterator<Item = (K, u32)>,
        fill: f64,
        room: Room,
    ) -> Self {
        let bytes = sizes.page;
        match shape {
            Shape::Slotted => Self::Slotted(PagedTree::bulkload(
                SlottedPage::new(sizes),
                bytes,
                entries,
                fill,
                room,
            )),
            Shape::Array => Self::Array(PagedTree::bulkload(
                ArrayPage::new(sizes),
                bytes,
                entries,
                fill,
                room,
            )),
            Shape::MicroIndex(page) => Self::Array(PagedTree::bulkload(
                ArrayPage::with_micro_index(sizes, page),
                bytes,
                entries,
                fill,
                room,
            )),
            Shape::DiskFirst(tree) => Self::DiskFirst(PagedTree::bulkload(
                DiskFirstPage::new(sizes, tree),
                bytes,
                entries,
                fill,
                room,
            )),
            Shape::CacheFirst(nodes) => {
                Self::CacheFirst(CacheFirstTree::bulkload(sizes, nodes, entries, fill, room))
            }
        }
    }

    /// The tupleID of `key`, if the index has it.
    pub fn search<T: Trace>(&mut self, trace: &mut T, key: K) -> Option<u32> {
        each!(self, tree => tree.search(trace, key))
    }

    /// Inserts an entry; an existing key gets the new tupleID, and the old one is returned.
    pub fn insert<T: Trace>(&mut self, trace: &mut T, key: K, id: u32) -> Option<u32> {
        each!(self, tree => tree.insert(trace, key, id))
    }

    /// Takes out `key`, and returns its tupleID.
    pub fn delete<T: Trace>(&mut self, trace: &mut T, key: K) -> Option<u32> {
        each!(self, tree => tree.delete(trace, key))
    }

    /// Copies the tupleIDs of the keys in `range` into `buffer`. `ahead` says what is prefetched by jump pointers; structures without
    /// those to leaf nodes ignore that part of it.
    pub fn scan<T: Trace>(
        &mut self,
        trace: &mut T,
        range: ScanRange<K>,
        buffer: ReturnBuffer<'_, u32>,
        ahead: Ahead,
    ) {
        each!(self, tree => tree.scan(trace, range, buffer, ahead));
    }

    /// The buffer pool that the pages are reached through.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        each!(self, tree => &tree.pool)
    }

    /// The same, to change it.
    pub fn pool_mut(&mut self) -> &mut Pool {
        each!(self, tree => &mut tree.pool)
    }

    /// Levels of pages, or of nodes where those are placed in pages.
    #[must_use]
    pub fn levels(&self) -> u64 {
        each!(self, tree => tree.levels as u64)
    }

    /// Pages with tupleIDs.
    #[must_use]
    pub fn leaf_pages(&self) -> u64 {
        each!(self, tree => tree.pages[0])
    }

    /// Pages split since the bulkload, by untraced insertions too.
    #[must_use]
    pub fn page_splits(&self) -> u64 {
        each!(self, tree => tree.splits)
    }
}
