//! From the root to a leaf node; a child in the page of its parent is reached without the buffer manager.

use super::{At, CacheFirstTree, MOST_LEVELS, Pointer};
use crate::paged_tree::Site;
use crate::paged_tree::key::Key;
use crate::paged_tree::page::{STEP, load_key, search};
use crate::place::Loaded;
use crate::tracer::{Dep, Trace};
use crate::tree::ELEMENT;
use crate::tree::path::RECORD;
use crate::tree::search::{CALL, LEVEL};

/// Address of a node from its line: shift, add.
pub(super) const NODE: u32 = 2;

/// The way from the root to a leaf node: nodes by level, and how many children of each are not above the key.
pub(super) type Path = [(Pointer, usize); MOST_LEVELS];

impl<K: Key> CacheFirstTree<K> {
    /// Prefetches a node.
    #[inline]
    pub(super) fn prefetch<T: Trace>(&self, trace: &mut T, level: usize, at: &At) {
        let site = if level == 0 {
            Site::LeafPrefetch
        } else {
            Site::NonleafPrefetch
        };
        let lines = (at.node, self.geometry.node_lines, self.sizes.line);
        self.pool.prefetch(trace, site, &at.page, lines, at.dep);
    }

    /// Goes on from a node of a page that is pinned to another, and unpins that page if the other is elsewhere.
    #[inline]
    pub(super) fn follow<T: Trace>(&mut self, trace: &mut T, from: &At, to: Loaded<Pointer>) -> At {
        let same = to.value.page == from.page.page;
        trace.work(STEP + NODE);
        trace.branch(Site::SamePage, same, to.token.after(1));
        if same {
            return At {
                page: from.page,
                node: self.byte(to.value.line),
                dep: to.token.after(NODE as u8),
            };
        }
        self.pool.unfix(trace, &from.page, false);
        self.fix(trace, to.value, to.token.after(0))
    }

    /// The leaf node that has or would have `key`, its page pinned. `visit` is told every node on the way.
    #[inline]
    pub(super) fn descend<T: Trace>(
        &mut self,
        trace: &mut T,
        key: K,
        mut visit: impl FnMut(&mut T, usize, Pointer, usize),
    ) -> At {
        let mut at = self.fix(trace, self.root, Dep::NONE);
        for level in (1..self.levels).rev() {
            trace.work(LEVEL);
            trace.branch(Site::LevelLoop, true, Dep::NONE);
            self.prefetch(trace, level, &at);
            let slot = self.find(trace, level, &at, key, 1);
            visit(trace, level, self.pointer(&at), slot);
            let child = self.load_child(trace, level, &at, slot - 1);
            at = self.follow(trace, &at, child);
        }
        trace.work(LEVEL);
        trace.branch(Site::LevelLoop, false, Dep::NONE);
        self.prefetch(trace, 0, &at);
        at
    }

    /// The leaf node that has or would have `key`, and the way to it.
    pub(super) fn descend_with_path<T: Trace>(&mut self, trace: &mut T, key: K) -> (At, Path) {
        let mut path = [(Pointer::default(), 0); MOST_LEVELS];
        let leaf = self.descend(trace, key, |trace, level, pointer, slot| {
            trace.work(RECORD);
            path[level] = (pointer, slot);
        });
        (leaf, path)
    }

    /// How many entries of a node are not above `key`, of which the first `first` are known not to be.
    #[inline]
    pub(super) fn find<T: Trace>(
        &self,
        trace: &mut T,
        level: usize,
        at: &At,
        key: K,
        first: usize,
    ) -> usize {
        let count = self.load_count(trace, level, at);
        let site = if level == 0 {
            Site::LeafKey
        } else {
            Site::NonleafKey
        };
        let range = (first, count.value.into());
        let deps = (at.dep, count.token.after(0));
        search(
            trace,
            &self.pool,
            site,
            &at.page,
            self.keys(level, at.node),
            range,
            deps,
            key,
        )
    }

    /// Whether the entry before a slot of a leaf node has `key`.
    #[inline]
    pub(super) fn holds<T: Trace>(&self, trace: &mut T, at: &At, slot: usize, key: K) -> bool {
        trace.branch(Site::Position, slot > 0, Dep::NONE);
        if slot == 0 {
            return false;
        }
        let place = self.keys(0, at.node).at(slot - 1);
        let found: Loaded<K> = load_key(
            trace,
            &self.pool,
            Site::FoundKey,
            &at.page,
            place,
            at.dep.later(1),
        );
        trace.work(K::COMPARE);
        trace.branch(Site::KeyFound, found.value == key, found.token.after(1));
        found.value == key
    }

    /// Loads the tupleID before a slot of a leaf node.
    #[inline]
    pub(super) fn load_id<T: Trace>(&self, trace: &mut T, at: &At, slot: usize) -> Loaded<u32> {
        trace.work(ELEMENT);
        let place = self.ids(at.node).at(slot - 1);
        self.pool
            .load(trace, Site::LeafId, &at.page, place, at.dep.later(1))
    }

    /// The tupleID of `key`, if the tree has it.
    pub fn search<T: Trace>(&mut self, trace: &mut T, key: K) -> Option<u32> {
        trace.work(CALL);
        let leaf = self.descend(trace, key, |_, _, _, _| ());
        let slot = self.find(trace, 0, &leaf, key, 0);
        let found = self.holds(trace, &leaf, slot, key);
        let id = found.then(|| self.load_id(trace, &leaf, slot).value);
        self.pool.unfix(trace, &leaf.page, false);
        id
    }

    /// The leaf page that has or would have `key`.
    #[cfg(test)]
    pub(in crate::paged_tree) fn leaf_of(&mut self, key: K) -> u32 {
        let leaf = self.descend(&mut crate::tracer::Untraced, key, |_, _, _, _| ());
        self.pool
            .unfix(&mut crate::tracer::Untraced, &leaf.page, false);
        leaf.page.page
    }
}
