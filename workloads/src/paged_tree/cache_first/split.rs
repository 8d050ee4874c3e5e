//! Splits of nodes and of leaf pages.

use super::node::IN_PAGE_LEVEL;
use super::search::NODE;
use super::{At, CacheFirstTree, LEAF_PAGES, NONLEAF_PAGES, Pointer};
use crate::paged_tree::Site;
use crate::paged_tree::key::Key;
use crate::paged_tree::page::{COUNT, STEP, load_header, load_key};
use crate::place::Loaded;
use crate::pool::Fixed;
use crate::tracer::{Dep, Trace};

/// A leaf node of a leaf page: the pointer to its parent, with what that waits for, its slot there, where it is, and what that waits for.
type Child = ((Pointer, Dep), usize, Pointer, Dep);

impl<K: Key> CacheFirstTree<K> {
    /// Splits a full leaf node, whose page is pinned, and inserts the entry into the half where it belongs; unpins the page. Returns what
    /// the parent gets.
    pub(super) fn split_leaf<T: Trace>(
        &mut self,
        trace: &mut T,
        leaf: At,
        slot: usize,
        key: K,
        id: u32,
    ) -> (Loaded<K>, (Pointer, Dep)) {
        let mut left = leaf;
        if !self.has_room(trace, &leaf.page) {
            let pointer = self.split_leaf_page(trace, &leaf.page, self.pointer(&leaf));
            if pointer.page != leaf.page.page {
                self.pool.unfix(trace, &leaf.page, true);
                left = self.fix(trace, pointer, Dep::NONE);
            }
        }
        let right = self.take(trace, &left.page);
        let count = self.geometry.leaf_fanout as usize;
        let keep = count.div_ceil(2);
        self.move_upper(trace, 0, (&left, &right), (keep, count));
        let next = self.load_next(trace, 0, &left);
        self.store_next(trace, 0, &right, (next.value, next.token.after(0)));
        let pointer = (self.pointer(&right), right.dep);
        self.store_next(trace, 0, &left, pointer);
        let first = self.keys(0, right.node).at(0);
        let separator: Loaded<K> = load_key(
            trace,
            &self.pool,
            Site::LeafKey,
            &right.page,
            first,
            Dep::NONE,
        );
        let goes_left = slot <= keep;
        trace.work(STEP);
        trace.branch(Site::Side, !goes_left, Dep::NONE);
        if goes_left {
            let count = Loaded::constant(keep as u16);
            self.put(trace, &left, (slot, count), key, id);
        } else {
            let count = Loaded::constant((count - keep) as u16);
            self.put(trace, &right, (slot - keep, count), key, id);
        }
        self.pool.unfix(trace, &left.page, true);
        (separator, pointer)
    }

    /// Moves the second half of the leaf nodes of a full leaf page to a new one. Returns where the leaf node `wanted` is then.
    fn split_leaf_page<T: Trace>(
        &mut self,
        trace: &mut T,
        page: &Fixed,
        wanted: Pointer,
    ) -> Pointer {
        self.splits += 1;
        let children = self.children_in(trace, page);
        let right = self.create(trace, LEAF_PAGES);
        let (stay, go) = children.split_at(children.len().div_ceil(2));
        let mut found = wanted;
        let mut before = At {
            page: *page,
            node: self.byte(stay[stay.len() - 1].2.line),
            dep: stay[stay.len() - 1].3,
        };
        // Nodes that are next to each other have mostly one parent, which stays pinned.
        for siblings in go.chunk_by(|one, next| one.0.0 == next.0.0) {
            let (parent, waits) = siblings[0].0;
            let above = self.fix(trace, parent, waits);
            for &(_, slot, child, dep) in siblings {
                let old = At {
                    page: *page,
                    node: self.byte(child.line),
                    dep,
                };
                let new = self.take(trace, &right);
                self.copy_node(trace, &old, &new);
                self.release(trace, &old);
                let pointer = self.pointer(&new);
                self.store_next(trace, 0, &before, (pointer, new.dep));
                before = new;
                self.store_child(trace, 1, &above, slot, (pointer, new.dep));
                if child == wanted {
                    found = pointer;
                }
            }
            self.pool.unfix(trace, &above.page, true);
        }
        self.store_back(trace, &right, go[0].0);
        self.list_page(trace, page, &right);
        self.pool.unfix(trace, &right, true);
        found
    }

    /// The leaf nodes of a leaf page in order. Parents are reached by the page's pointer back and the chain of leaf parents.
    fn children_in<T: Trace>(&mut self, trace: &mut T, page: &Fixed) -> Vec<Child> {
        let used: Loaded<u16> = load_header(trace, &self.pool, page, COUNT);
        let nodes = usize::from(used.value);
        let mut found = Vec::with_capacity(nodes);
        let mut parent = self.load_back(trace, page);
        while found.len() < nodes {
            let waits = parent.token.after(0);
            let above = self.fix(trace, parent.value, waits);
            self.prefetch(trace, 1, &above);
            let children = usize::from(self.load_count(trace, 1, &above).value);
            for slot in 0..children {
                let child = self.load_child(trace, 1, &above, slot);
                let here = child.value.page == page.page;
                trace.work(STEP);
                trace.branch(Site::SamePage, here, child.token.after(1));
                if here {
                    let dep = child.token.after(NODE as u8);
                    found.push(((parent.value, waits), slot, child.value, dep));
                }
            }
            let next = self.load_next(trace, 1, &above);
            self.pool.unfix(trace, &above.page, false);
            parent = next;
            assert!(
                parent.value.page != 0 || found.len() == nodes,
                "page {} has leaf nodes without parents",
                page.page
            );
        }
        found
    }

    /// Splits a full non-leaf node, whose page is pinned, and puts the child into the half where it belongs; unpins the page. Returns what
    /// the parent gets.
    ///
    /// The new node of a leaf parent comes into an overflow page. Another comes into the same page, if there is room, or into a page of
    /// its own together with those of its children that were in the old page: that divides the page (Figure 3.10).
    pub(super) fn split_nonleaf<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        left: At,
        (slot, children): (usize, usize),
        key: Loaded<K>,
        child: (Pointer, Dep),
    ) -> (Loaded<K>, (Pointer, Dep)) {
        self.splits += 1;
        let stays = level > 1 && self.has_room(trace, &left.page);
        let (right, waits) = if level == 1 {
            let (pointer, waits) = self.overflow_place(trace);
            (self.fix(trace, pointer, Dep::NONE), waits)
        } else {
            let page = if stays {
                self.pool.fix(trace, left.page.page, Dep::NONE)
            } else {
                self.create(trace, NONLEAF_PAGES)
            };
            let right = self.take(trace, &page);
            (right, right.dep)
        };
        let keep = children.div_ceil(2);
        self.move_upper(trace, level, (&left, &right), (keep, children));
        let in_page: Loaded<u16> = if stays {
            let (site, place) = (Site::NonleafHeader, left.node + IN_PAGE_LEVEL);
            self.pool.load(trace, site, &left.page, place, left.dep)
        } else {
            Loaded::constant(0)
        };
        self.pool.store(
            trace,
            Site::NonleafStore,
            &right.page,
            right.node + IN_PAGE_LEVEL,
            in_page.value,
            in_page.token.after(0),
        );
        let first = self.keys(level, right.node).at(0);
        let separator: Loaded<K> = load_key(
            trace,
            &self.pool,
            Site::NonleafKey,
            &right.page,
            first,
            Dep::NONE,
        );
        let goes_left = slot <= keep;
        trace.work(STEP);
        trace.branch(Site::Side, !goes_left, Dep::NONE);
        if goes_left {
            let count = Loaded::constant(keep as u16);
            self.put_child(trace, level, &left, (slot, count), key, child);
        } else {
            let count = Loaded::constant((children - keep) as u16);
            self.put_child(trace, level, &right, (slot - keep, count), key, child);
        }
        // The new child is where it belongs: what moves now knows its neighbours.
        if level == 1 {
            self.chain_parents(trace, &left, &right);
        } else if !stays {
            self.move_children(trace, level, &left, &right);
        }
        let pointer = (self.pointer(&right), waits);
        self.pool.unfix(trace, &left.page, true);
        self.pool.unfix(trace, &right.page, true);
        (separator, pointer)
    }

    /// Chains a new leaf parent behind the one whose upper half it has, and tells leaf pages whose first leaf node it has.
    fn chain_parents<T: Trace>(&mut self, trace: &mut T, left: &At, right: &At) {
        let next = self.load_next(trace, 1, left);
        self.store_next(trace, 1, right, (next.value, next.token.after(0)));
        let pointer = self.pointer(right);
        self.store_next(trace, 1, left, (pointer, Dep::NONE));
        let last = usize::from(self.load_count(trace, 1, left).value) - 1;
        let before = self.load_child(trace, 1, left, last).value;
        self.tell_pages(trace, right, before.page);
    }

    /// Tells the leaf pages whose first leaf node is a child of a leaf parent where that is. `before` is the page of the leaf node before
    /// its first one.
    pub(super) fn tell_pages<T: Trace>(&mut self, trace: &mut T, parent: &At, before: u32) {
        let mut before = before;
        let children = usize::from(self.load_count(trace, 1, parent).value);
        for slot in 0..children {
            let child = self.load_child(trace, 1, parent, slot);
            let same = child.value.page == before;
            trace.work(STEP);
            trace.branch(Site::SamePage, same, child.token.after(1));
            if !same {
                let leaf = self.fix(trace, child.value, child.token.after(0));
                let pointer = self.pointer(parent);
                self.store_back(trace, &leaf.page, (pointer, Dep::NONE));
                self.pool.unfix(trace, &leaf.page, true);
            }
            before = child.value.page;
        }
    }
}
