//! What a page file has of a tree besides its pages, and what the tree's growth is checked by.

use super::plan::grown_pages;
use super::{CacheFirstTree, GROUPS, MOST_LEVELS, Pointer};
use crate::paged_tree::check::{Fault, holds};
use crate::paged_tree::file::State;
use crate::paged_tree::geometry::{CacheFirst, PageSizes};
use crate::paged_tree::key::Key;
use crate::paged_tree::plan::Room;
use crate::pool::Pool;

impl<K: Key> CacheFirstTree<K> {
    /// What the tree is besides its pages.
    pub(in crate::paged_tree) fn state(&self) -> State {
        State {
            root: (self.root.page, self.root.line),
            levels: self.levels,
            overflow: self.overflow,
            splits: self.splits,
            history: self.history,
            pages: self.pages.clone(),
        }
    }

    /// The tree that has these pages.
    pub(in crate::paged_tree) fn of(
        sizes: &PageSizes,
        geometry: CacheFirst,
        state: State,
        pool: Pool,
    ) -> Self {
        let (page, line) = state.root;
        Self {
            pool,
            sizes: *sizes,
            geometry,
            root: Pointer { page, line },
            levels: state.levels,
            pages: state.pages,
            splits: state.splits,
            overflow: state.overflow,
            history: state.history,
            key: std::marker::PhantomData,
        }
    }

    /// Checks the tree as [`CacheFirstTree::check`] does; returns the pages of each group that it may come to have by `room` insertions.
    pub(in crate::paged_tree) fn most_pages(
        &mut self,
        room: Room,
        take: &mut dyn FnMut(K, u32),
    ) -> Result<Vec<u64>, Fault> {
        let fullness = self.check(take)?;
        let pages: [u64; GROUPS] = std::array::from_fn(|group| self.pages[group]);
        let (pages, levels) = grown_pages(&self.geometry, pages, &fullness, room);
        holds(self.root.page, levels <= MOST_LEVELS, || {
            format!(
                "it is the root of {} levels, of which {room} insertions may make {levels}; the most is {MOST_LEVELS}",
                self.levels
            )
        })?;
        Ok(pages.to_vec())
    }
}
