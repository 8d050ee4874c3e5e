//! Insertion into the tree of a page: into a leaf node, by splitting nodes, or after reorganizing the page.

use super::DiskFirstPage;
use super::node::{LEAF_NEXT, header};
use crate::paged_tree::Site;
use crate::paged_tree::format::Format;
use crate::paged_tree::format::MOST_LEVELS;
use crate::paged_tree::key::Key;
use crate::paged_tree::moves::{move_elements, shift};
use crate::paged_tree::page::{Array, Position, STEP, load_key, store_key};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Trace};
use crate::tree::path::RECORD;

/// The way from the root of a page down: nodes, and how many of their children are not above the key.
struct Way {
    nodes: [(u32, usize, Loaded<usize>); MOST_LEVELS],
    length: usize,
}

impl DiskFirstPage {
    /// Whether there are fewer empty places than leaf nodes: then a page that has no room for another node is split.
    pub(super) fn is_nearly_full<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
    ) -> bool {
        let entries = self.count_entries(trace, pool, page);
        let near = entries + self.tree.leaves > self.tree.fanout();
        trace.work(2 * STEP);
        trace.branch(Site::Full, near, Dep::NONE);
        near
    }

    /// Inserts an entry; `false` if there is no room for nodes and the page is nearly full.
    pub(super) fn insert_entry<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        position: Position,
        key: Loaded<K>,
        id: u32,
    ) -> bool {
        let count = self.load_leaf_count(trace, pool, page, position.node, position.dep);
        let full = u32::from(count.value) == self.tree.leaf_fanout;
        trace.work(STEP);
        trace.branch(Site::Full, full, count.token.after(1));
        if !full {
            self.put(
                trace,
                pool,
                page,
                position.node,
                (position.slot, count),
                key,
                id,
            );
            return true;
        }
        let mut way = Way {
            nodes: [(0, 0, Loaded::constant(0)); MOST_LEVELS],
            length: 0,
        };
        self.descend(trace, pool, page, key.value, |node, slot, children| {
            way.nodes[way.length] = (node, slot, children);
            way.length += 1;
        });
        trace.work(RECORD * way.length as u32);
        let nodes = self.nodes_to_split(&way);
        // Only trees of two or three children per node may become so deep.
        let deep = nodes as usize > way.length && way.length == MOST_LEVELS;
        if !deep && self.has_room(trace, pool, page, nodes) {
            self.split_leaf(trace, pool, page, &way, position, key, id);
            return true;
        }
        if self.is_nearly_full(trace, pool, page) {
            return false;
        }
        self.reorganize::<K, T>(trace, pool, page);
        // Where an entry is known not to be above the key, the same one is now.
        let first = usize::from(position.slot > 0);
        let position = self.find(trace, pool, page, key.value, first);
        let count = self.load_leaf_count(trace, pool, page, position.node, position.dep);
        self.put(
            trace,
            pool,
            page,
            position.node,
            (position.slot, count),
            key,
            id,
        );
        true
    }

    /// Puts an entry into a leaf node that has room.
    #[allow(clippy::too_many_arguments, reason = "a place and what goes there")]
    fn put<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        node: u32,
        (slot, count): (usize, Loaded<u16>),
        key: Loaded<K>,
        id: u32,
    ) {
        let (keys, ids) = (self.leaf_keys(node), self.leaf_ids(node));
        for array in [keys, ids] {
            let above = (slot, count.value.into());
            shift(trace, pool, page, array, above, slot + 1);
        }
        let (place, dep) = (keys.at(slot), key.token.after(0));
        store_key(trace, pool, Site::KeyStore, page, place, key.value, dep);
        let place = ids.at(slot);
        pool.store(trace, Site::IdStore, page, place, id, Dep::NONE);
        trace.work(STEP);
        let dep = count.token.after(1);
        self.store_leaf_count(trace, pool, page, node, count.value + 1, dep);
    }

    /// Non-leaf nodes that a split of the leaf node at the end of a way will make.
    fn nodes_to_split(&self, way: &Way) -> u32 {
        let nodes = way.nodes[..way.length].iter().rev();
        let full = nodes
            .take_while(|node| node.2.value == self.tree.nonleaf_fanout as usize)
            .count();
        // A root moves its contents to two nodes.
        (if full == way.length { full + 1 } else { full }) as u32
    }

    /// Splits a full leaf node and inserts the entry into the half where it belongs.
    #[allow(clippy::too_many_arguments, reason = "a place and what goes there")]
    fn split_leaf<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        way: &Way,
        position: Position,
        key: Loaded<K>,
        id: u32,
    ) {
        let left = position.node;
        let (right, right_dep) = self.take_leaf(trace, pool, page);
        let count = self.tree.leaf_fanout as u16;
        let keep = count.div_ceil(2);
        let arrays = [
            (self.leaf_keys(left), self.leaf_keys(right)),
            (self.leaf_ids(left), self.leaf_ids(right)),
        ];
        self.move_upper(trace, pool, page, arrays, (keep.into(), count.into()));
        let next: Loaded<u16> =
            pool.load(trace, Site::LeafHeader, page, left + LEAF_NEXT, Dep::NONE);
        pool.store(
            trace,
            Site::LeafStore,
            page,
            right + LEAF_NEXT,
            next.value,
            next.token.after(0),
        );
        pool.store(
            trace,
            Site::LeafStore,
            page,
            left + LEAF_NEXT,
            self.line_of(right),
            right_dep,
        );
        self.store_leaf_count(trace, pool, page, left, keep, Dep::NONE);
        self.store_leaf_count(trace, pool, page, right, count - keep, Dep::NONE);
        let separator: Loaded<K> = load_key(
            trace,
            pool,
            Site::LeafKey,
            page,
            self.leaf_keys(right).at(0),
            Dep::NONE,
        );
        let goes_left = position.slot <= usize::from(keep);
        trace.work(STEP);
        trace.branch(Site::Side, !goes_left, Dep::NONE);
        if goes_left {
            let place = (position.slot, Loaded::constant(keep));
            self.put(trace, pool, page, left, place, key, id);
        } else {
            let slot = position.slot - usize::from(keep);
            let place = (slot, Loaded::constant(count - keep));
            self.put(trace, pool, page, right, place, key, id);
        }
        self.add_child(trace, pool, page, way, separator, (right, right_dep));
    }

    /// Moves elements `keep..count` of two arrays to the beginning of two others in the page.
    #[allow(clippy::unused_self, reason = "as the others")]
    fn move_upper<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        arrays: [(Array, Array); 2],
        (keep, count): (usize, usize),
    ) {
        for (from, to) in arrays {
            trace.work(STEP);
            let (first, target) = (from.at(keep), to.at(0));
            move_elements(
                trace,
                pool,
                (page, first),
                (page, target),
                count - keep,
                from.bytes,
            );
        }
    }

    /// Puts a child behind the one that a way leads to, splitting nodes upwards.
    fn add_child<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        way: &Way,
        key: Loaded<K>,
        child: (u32, Dep),
    ) {
        let fanout = self.tree.nonleaf_fanout as usize;
        let (mut key, mut child) = (key, child);
        for depth in (0..way.length).rev() {
            let (node, slot, children) = way.nodes[depth];
            trace.work(STEP);
            let dep = children.token.after(2);
            trace.branch(Site::Full, children.value == fanout, dep);
            let level = way.length - depth;
            if children.value < fanout {
                return self.put_child(
                    trace,
                    pool,
                    page,
                    (node, level),
                    (slot, children),
                    key,
                    child,
                );
            }
            let children = children.value;
            let keep = children.div_ceil(2);
            let (right, right_dep) = self.take_nonleaf(trace, pool, page);
            self.move_children(trace, pool, page, (node, right), (keep, children));
            let (left, left_dep) = if depth > 0 {
                (node, Dep::NONE)
            } else {
                let left = self.take_nonleaf(trace, pool, page);
                self.move_children(trace, pool, page, (node, left.0), (0, keep));
                left
            };
            pool.store(
                trace,
                Site::NonleafStore,
                page,
                left,
                header(level, keep),
                Dep::NONE,
            );
            pool.store(
                trace,
                Site::NonleafStore,
                page,
                right,
                header(level, children - keep),
                Dep::NONE,
            );
            let up: Loaded<K> = load_key(
                trace,
                pool,
                Site::NonleafKey,
                page,
                self.nonleaf_keys(right).at(0),
                Dep::NONE,
            );
            let goes_left = slot <= keep;
            trace.branch(Site::Side, !goes_left, Dep::NONE);
            if goes_left {
                let place = (slot, Loaded::constant(keep));
                self.put_child(trace, pool, page, (left, level), place, key, child);
            } else {
                let place = (slot - keep, Loaded::constant(children - keep));
                self.put_child(trace, pool, page, (right, level), place, key, child);
            }
            if depth == 0 {
                let halves = [(left, left_dep), (right, right_dep)];
                return self.raise_root(trace, pool, page, (node, level), halves, up);
            }
            (key, child) = (up, (right, right_dep));
        }
    }

    /// Makes the root, which stays where it is, the parent of its two halves, divided by a key; that of the first half does not matter.
    fn raise_root<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        (root, level): (u32, usize),
        halves: [(u32, Dep); 2],
        key: Loaded<K>,
    ) {
        for (slot, half) in halves.into_iter().enumerate() {
            self.store_child(trace, pool, page, (root, slot), key, half);
        }
        let header = header(level + 1, 2);
        pool.store(trace, Site::NonleafStore, page, root, header, Dep::NONE);
    }

    /// Moves children `keep..count` of a node, with their keys, to the beginning of another.
    fn move_children<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        (from, to): (u32, u32),
        range: (usize, usize),
    ) {
        let arrays = [
            (self.nonleaf_keys(from), self.nonleaf_keys(to)),
            (self.children(from), self.children(to)),
        ];
        self.move_upper(trace, pool, page, arrays, range);
    }

    /// Stores a child at a place of a non-leaf node, and its key.
    fn store_child<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        (node, slot): (u32, usize),
        key: Loaded<K>,
        (child, dep): (u32, Dep),
    ) {
        let (site, waits) = (Site::NonleafStore, key.token.after(0));
        let place = self.nonleaf_keys(node).at(slot);
        store_key(trace, pool, site, page, place, key.value, waits);
        let (place, line) = (self.children(node).at(slot), self.line_of(child));
        pool.store(trace, site, page, place, line, dep);
    }

    /// Puts a child into a non-leaf node that has room.
    #[allow(clippy::too_many_arguments, reason = "a place and what goes there")]
    fn put_child<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        (node, level): (u32, usize),
        (slot, children): (usize, Loaded<usize>),
        key: Loaded<K>,
        child: (u32, Dep),
    ) {
        let (keys, lines) = (self.nonleaf_keys(node), self.children(node));
        for array in [keys, lines] {
            let above = (slot, children.value);
            shift(trace, pool, page, array, above, slot + 1);
        }
        self.store_child(trace, pool, page, (node, slot), key, child);
        trace.work(STEP);
        pool.store(
            trace,
            Site::NonleafStore,
            page,
            node,
            header(level, children.value + 1),
            children.token.after(2),
        );
    }
}
