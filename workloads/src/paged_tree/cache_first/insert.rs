//! Insertion: into a leaf node with room, or by splitting nodes upwards from it.

use super::node::IN_PAGE_LEVEL;
use super::search::Path;
use super::{CacheFirstTree, NONLEAF_PAGES, Pointer};
use crate::paged_tree::Site;
use crate::paged_tree::key::Key;
use crate::paged_tree::page::{STEP, store_key};
use crate::place::Loaded;
use crate::tracer::{Dep, Trace};
use crate::tree::search::CALL;

impl<K: Key> CacheFirstTree<K> {
    /// Inserts an entry; an existing key gets the new tupleID, and the old one is returned.
    pub fn insert<T: Trace>(&mut self, trace: &mut T, key: K, id: u32) -> Option<u32> {
        trace.work(CALL);
        let (leaf, path) = self.descend_with_path(trace, key);
        let slot = self.find(trace, 0, &leaf, key, 0);
        if self.holds(trace, &leaf, slot, key) {
            let old = self.load_id(trace, &leaf, slot);
            let place = self.ids(leaf.node).at(slot - 1);
            self.pool
                .store(trace, Site::IdStore, &leaf.page, place, id, Dep::NONE);
            self.pool.unfix(trace, &leaf.page, true);
            return Some(old.value);
        }
        self.history.inserted += 1;
        let count = self.load_count(trace, 0, &leaf);
        let full = u32::from(count.value) == self.geometry.leaf_fanout;
        trace.work(STEP);
        trace.branch(Site::Full, full, count.token.after(1));
        if !full {
            self.put(trace, &leaf, (slot, count), key, id);
            self.pool.unfix(trace, &leaf.page, true);
            return None;
        }
        let (separator, right) = self.split_leaf(trace, leaf, slot, key, id);
        self.add_child(trace, &path, separator, right);
        None
    }

    /// Puts a child into the leaf parent that a path leads to, splitting nodes upwards.
    fn add_child<T: Trace>(
        &mut self,
        trace: &mut T,
        path: &Path,
        key: Loaded<K>,
        child: (Pointer, Dep),
    ) {
        let (mut key, mut child) = (key, child);
        for (level, &(pointer, slot)) in path.iter().enumerate().skip(1) {
            trace.work(STEP);
            trace.branch(Site::RootSplit, level == self.levels, Dep::NONE);
            if level == self.levels {
                return self.grow(trace, key, child);
            }
            let node = self.fix(trace, pointer, Dep::NONE);
            let count = self.load_count(trace, level, &node);
            let full = usize::from(count.value) == self.fanout(level);
            trace.work(STEP);
            trace.branch(Site::Full, full, count.token.after(1));
            if !full {
                self.put_child(trace, level, &node, (slot, count), key, child);
                self.pool.unfix(trace, &node.page, true);
                return;
            }
            let place = (slot, count.value.into());
            (key, child) = self.split_nonleaf(trace, level, node, place, key, child);
        }
    }

    /// Puts a new root over the old one and its new sibling.
    fn grow<T: Trace>(&mut self, trace: &mut T, key: Loaded<K>, child: (Pointer, Dep)) {
        let level = self.levels;
        let page = self.create(trace, NONLEAF_PAGES);
        let root = self.take(trace, &page);
        self.store_child(trace, level, &root, 0, (self.root, Dep::NONE));
        self.store_child(trace, level, &root, 1, child);
        let keys = self.keys(level, root.node);
        store_key(
            trace,
            &mut self.pool,
            Site::NonleafStore,
            &page,
            keys.at(0),
            K::from_u64(0),
            Dep::NONE,
        );
        store_key(
            trace,
            &mut self.pool,
            Site::NonleafStore,
            &page,
            keys.at(1),
            key.value,
            key.token.after(0),
        );
        self.store_count(trace, level, &root, 2, Dep::NONE);
        self.pool.store(
            trace,
            Site::NonleafStore,
            &page,
            root.node + IN_PAGE_LEVEL,
            0_u16,
            Dep::NONE,
        );
        if level == 1 {
            // The only leaf page was of two leaf nodes at least: now it has a parent.
            self.store_next(trace, 1, &root, (Pointer::default(), Dep::NONE));
            let leaf = self.fix(trace, self.root, Dep::NONE);
            let parent = (self.pointer(&root), root.dep);
            self.store_back(trace, &leaf.page, parent);
            self.pool.unfix(trace, &leaf.page, true);
        }
        self.root = self.pointer(&root);
        self.levels += 1;
        self.pool.unfix(trace, &page, true);
    }
}
