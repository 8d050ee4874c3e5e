//! An index as what a page file has of it: its state and its pages.

use super::format::State;
use crate::arena::Reservation;
use crate::paged_tree::array::ArrayPage;
use crate::paged_tree::cache_first::{self, CacheFirstTree};
use crate::paged_tree::check::Fault;
use crate::paged_tree::disk_first::DiskFirstPage;
use crate::paged_tree::format::Format;
use crate::paged_tree::plan::{Plan, Room};
use crate::paged_tree::slotted::SlottedPage;
use crate::paged_tree::structure::Build;
use crate::paged_tree::tree::PagedTree;
use crate::paged_tree::{Index, Key, Shape};
use crate::pool::Pool;

/// Segments for so many pages of each group.
pub(super) fn reservations(shape: &Shape, pages: &[u64], page_bytes: u32) -> Vec<Reservation> {
    match (shape, <[u64; cache_first::GROUPS]>::try_from(pages)) {
        (Shape::CacheFirst(_), Ok(pages)) => cache_first::reservations(pages, page_bytes),
        _ => Plan {
            entries: 0,
            built: Vec::new(),
            most: pages.to_vec(),
        }
        .reservations(page_bytes),
    }
}

impl<K: Key> Index<K> {
    /// What the index is besides its pages.
    pub(super) fn state(&self) -> State {
        match self {
            Self::Slotted(tree) => tree.state(),
            Self::Array(tree) => tree.state(),
            Self::DiskFirst(tree) => tree.state(),
            Self::CacheFirst(tree) => tree.state(),
        }
    }

    /// The index that has these pages. It is one if [`Index::check`] says so.
    pub(super) fn of(build: &Build, shape: Shape, state: State, pool: Pool) -> Self {
        let sizes = &build.sizes;
        match shape {
            Shape::Slotted => Self::Slotted(PagedTree::of(SlottedPage::new(sizes), state, pool)),
            Shape::Array => Self::Array(PagedTree::of(ArrayPage::new(sizes), state, pool)),
            Shape::MicroIndex(page) => {
                let format = ArrayPage::with_micro_index(sizes, page);
                Self::Array(PagedTree::of(format, state, pool))
            }
            Shape::DiskFirst(tree) => {
                Self::DiskFirst(PagedTree::of(DiskFirstPage::new(sizes, tree), state, pool))
            }
            Shape::CacheFirst(nodes) => {
                Self::CacheFirst(CacheFirstTree::of(sizes, nodes, state, pool))
            }
        }
    }

    /// Gives `take` all entries in order.
    ///
    /// # Errors
    /// The first thing that does not hold of the index.
    pub fn check(&mut self, take: &mut dyn FnMut(K, u32)) -> Result<(), Fault> {
        self.most_pages(0, take).map(|_| ())
    }

    /// The same; and returns the pages of each group that there may come to be by `room` insertions.
    pub(super) fn most_pages(
        &mut self,
        room: Room,
        take: &mut dyn FnMut(K, u32),
    ) -> Result<Vec<u64>, Fault> {
        match self {
            Self::Slotted(tree) => tree.most_pages(room, take),
            Self::Array(tree) => tree.most_pages(room, take),
            Self::DiskFirst(tree) => tree.most_pages(room, take),
            Self::CacheFirst(tree) => tree.most_pages(room, take),
        }
    }
}

impl<K: Key, F: Format<K>> PagedTree<K, F> {
    /// What the tree is besides its pages.
    fn state(&self) -> State {
        State {
            root: (self.root, 0),
            levels: self.levels,
            overflow: 0,
            splits: self.splits,
            history: self.history,
            pages: self.pages.clone(),
        }
    }

    /// The tree that has these pages.
    fn of(format: F, state: State, pool: Pool) -> Self {
        Self {
            pool,
            format,
            root: state.root.0,
            levels: state.levels,
            pages: state.pages,
            splits: state.splits,
            history: state.history,
            key: std::marker::PhantomData,
        }
    }
}
