//! Moving non-leaf nodes to another page: with a node that was split off go those of its children, and theirs, that were in its page.

use super::{At, CacheFirstTree, Pointer};
use crate::paged_tree::key::Key;
use crate::paged_tree::moves::move_elements;
use crate::paged_tree::page::STEP;
use crate::place::Loaded;
use crate::tracer::Trace;

impl<K: Key> CacheFirstTree<K> {
    /// Copies a node to a free place.
    pub(super) fn copy_node<T: Trace>(&mut self, trace: &mut T, from: &At, to: &At) {
        trace.work(STEP);
        let words = self.node_bytes() as usize / 4;
        move_elements(
            trace,
            &mut self.pool,
            (&from.page, from.node),
            (&to.page, to.node),
            words,
            4,
        );
    }

    /// Moves the children of `right` that are in the page of `left` to its own, as far as there is room.
    pub(super) fn move_children<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        left: &At,
        right: &At,
    ) {
        let last = usize::from(self.load_count(trace, level, left).value) - 1;
        let before = self.load_child(trace, level, left, last);
        // The leaf parent before the first of those that may move.
        let mut before = self.last_parent(trace, level - 1, before);
        self.move_below(trace, level, right, left.page.page, &mut before);
    }

    /// The last leaf parent of a subtree.
    fn last_parent<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        top: Loaded<Pointer>,
    ) -> Loaded<Pointer> {
        let mut pointer = top;
        for level in (2..=level).rev() {
            let node = self.fix(trace, pointer.value, pointer.token.after(0));
            let last = usize::from(self.load_count(trace, level, &node).value) - 1;
            pointer = self.load_child(trace, level, &node, last);
            self.pool.unfix(trace, &node.page, false);
        }
        pointer
    }

    /// Moves the children of a node that are in page `old` to its page. `before` is the leaf parent before its first one; afterwards it is
    /// its last one.
    fn move_below<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        node: &At,
        old: u32,
        before: &mut Loaded<Pointer>,
    ) {
        let children = usize::from(self.load_count(trace, level, node).value);
        for slot in 0..children {
            let child = self.load_child(trace, level, node, slot);
            trace.work(STEP);
            if child.value.page != old {
                *before = self.last_parent(trace, level - 1, child);
                continue;
            }
            let from = self.fix(trace, child.value, child.token.after(0));
            let to = self.take(trace, &node.page);
            self.copy_node(trace, &from, &to);
            self.release(trace, &from);
            self.pool.unfix(trace, &from.page, true);
            let pointer = self.pointer(&to);
            self.store_child(trace, level, node, slot, (pointer, to.dep));
            if level > 2 {
                self.move_below(trace, level - 1, &to, old, before);
                continue;
            }
            // A leaf parent: the one before points to it, and so do leaf pages.
            let left = self.fix(trace, before.value, before.token.after(0));
            self.store_next(trace, 1, &left, (pointer, to.dep));
            let last = usize::from(self.load_count(trace, 1, &left).value) - 1;
            let leaf = self.load_child(trace, 1, &left, last).value;
            self.pool.unfix(trace, &left.page, true);
            self.tell_pages(trace, &to, leaf.page);
            *before = Loaded::constant(pointer);
        }
    }
}
