//! Builds a tree from sorted entries: leaf nodes one after the other into leaf pages, non-leaf nodes by aggressive placement, and at last
//! the array of leaf pages.

use super::node::IN_PAGE_LEVEL;
use super::plan::{Bulkload, Placement, bulkloaded, most_pages, reservations};
use super::{At, CacheFirstTree, LEAF_PAGES, NONLEAF_PAGES, OVERFLOW_PAGES, Pointer};
use crate::paged_tree::geometry::{CacheFirst, PageSizes};
use crate::paged_tree::key::Key;
use crate::paged_tree::plan::{History, Room};
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Untraced};
use crate::watch;
use std::ops::Range;

/// Non-leaf nodes that are to be placed: where each is, and which level of its page.
type Places = Vec<(Pointer, usize)>;

impl<K: Key> CacheFirstTree<K> {
    /// Builds a tree of `entries` (keys ascending and distinct, each with its tupleID) in nodes filled up to `fill`; there is room for
    /// `room` insertions.
    pub(in crate::paged_tree) fn bulkload(
        sizes: &PageSizes,
        geometry: CacheFirst,
        entries: impl ExactSizeIterator<Item = (K, u32)>,
        fill: f64,
        room: Room,
    ) -> Self {
        let keys = entries.len() as u64;
        let groups = reservations(most_pages(&geometry, keys, fill, room), sizes.page);
        let plan = bulkloaded(&geometry, keys, fill);
        let mut tree = Self {
            pool: Pool::new(sizes.page, &groups),
            sizes: *sizes,
            geometry,
            root: Pointer::default(),
            levels: plan.nodes.len(),
            pages: vec![0; groups.len()],
            splits: 0,
            overflow: 0,
            history: History::new(keys, fill, room),
            key: std::marker::PhantomData,
        };
        let leaves = tree.build_leaves(entries, plan.entries);
        tree.root = leaves[0].1;
        let mut leaf_pages: Vec<u32> = leaves.iter().map(|leaf| leaf.1.page).collect();
        leaf_pages.dedup();
        if tree.levels > 1 {
            tree.build_nonleaf(&plan, leaves);
        }
        tree.build_array(&leaf_pages, fill);
        tree
    }

    /// Builds the leaf nodes; returns first key and place of each.
    fn build_leaves(
        &mut self,
        mut entries: impl ExactSizeIterator<Item = (K, u32)>,
        each: usize,
    ) -> Vec<(K, Pointer)> {
        let mut firsts: Vec<(K, Pointer)> = Vec::new();
        let mut page = self.create(&mut Untraced, LEAF_PAGES);
        let mut before: Option<(Fixed, u32)> = None;
        loop {
            if !self.has_room(&mut Untraced, &page) {
                page = self.create(&mut Untraced, LEAF_PAGES);
            }
            let at = self.take(&mut Untraced, &page);
            let (keys, ids) = (self.keys(0, at.node), self.ids(at.node));
            let mut count = 0;
            for (key, id) in entries.by_ref().take(each) {
                self.pool.poke(&page, keys.at(count), key);
                self.pool.poke(&page, ids.at(count), id);
                count += 1;
            }
            watch::step(count as u64);
            self.store_count(&mut Untraced, 0, &at, count, Dep::NONE);
            let pointer = self.pointer(&at);
            if let Some((page_before, node)) = before.replace((page, at.node)) {
                let left = At {
                    page: page_before,
                    node,
                    dep: Dep::NONE,
                };
                self.store_next(&mut Untraced, 0, &left, (pointer, Dep::NONE));
                if page_before.page != page.page {
                    self.pool.unfix(&mut Untraced, &page_before, true);
                }
            }
            let first = if count > 0 {
                self.pool.peek(&page, keys.at(0))
            } else {
                K::from_u64(0)
            };
            firsts.push((first, pointer));
            if entries.len() == 0 {
                self.pool.unfix(&mut Untraced, &page, true);
                return firsts;
            }
        }
    }

    /// Places and fills the non-leaf nodes over the leaf nodes, from the root down.
    fn build_nonleaf(&mut self, plan: &Bulkload, leaves: Vec<(K, Pointer)>) {
        let each = |level: usize| {
            if level == 1 {
                plan.parent_children
            } else {
                plan.children
            }
        };
        // First keys of the subtrees, by level.
        let mut firsts: Vec<Vec<K>> = vec![leaves.iter().map(|leaf| leaf.0).collect()];
        for level in 1..self.levels {
            let above = firsts[level - 1]
                .chunks(each(level))
                .map(|chunk| chunk[0])
                .collect();
            firsts.push(above);
        }
        let placement = Placement::new(&self.geometry, plan.children);
        let mut places: Places = vec![(self.new_page_place(), 0)];
        self.root = places[0].0;
        for level in (1..self.levels).rev() {
            let below = firsts[level - 1].len();
            let children =
                |number: usize| number * each(level)..below.min((number + 1) * each(level));
            let mut next: Places = Vec::new();
            for (number, &(place, in_page)) in places.iter().enumerate() {
                let range = children(number);
                let pointers: Vec<Pointer> = if level == 1 {
                    leaves[range.clone()].iter().map(|leaf| leaf.1).collect()
                } else {
                    let placed = (0..range.len()).map(|child| {
                        self.place_child(&placement, place, child, in_page + 1, level - 1)
                    });
                    let placed: Places = placed.collect();
                    next.extend(&placed);
                    placed.into_iter().map(|child| child.0).collect()
                };
                let last = (level == 1).then(|| {
                    places
                        .get(number + 1)
                        .map(|place| place.0)
                        .unwrap_or_default()
                });
                self.fill(
                    level,
                    place,
                    in_page,
                    &firsts[level - 1],
                    range,
                    &pointers,
                    last,
                );
            }
            places = next;
        }
    }

    /// A place in a new page for non-leaf nodes.
    fn new_page_place(&mut self) -> Pointer {
        let page = self.create(&mut Untraced, NONLEAF_PAGES);
        let at = self.take(&mut Untraced, &page);
        self.pool.unfix(&mut Untraced, &page, true);
        self.pointer(&at)
    }

    /// Places child `number` of a node, which is of `level`: with its parent, as the first of a page of its own, or, a leaf parent, in an
    /// overflow page.
    fn place_child(
        &mut self,
        placement: &Placement,
        parent: Pointer,
        number: usize,
        in_page: usize,
        level: usize,
    ) -> (Pointer, usize) {
        if placement.stays(number, in_page) {
            let page = self.pool.fix(&mut Untraced, parent.page, Dep::NONE);
            let at = self.take(&mut Untraced, &page);
            self.pool.unfix(&mut Untraced, &page, true);
            return (self.pointer(&at), in_page);
        }
        if level == 1 {
            return (self.overflow_place(&mut Untraced).0, 0);
        }
        (self.new_page_place(), 0)
    }

    /// A place in an overflow page, and what it waits for.
    pub(super) fn overflow_place<T: crate::tracer::Trace>(
        &mut self,
        trace: &mut T,
    ) -> (Pointer, Dep) {
        let mut page = match self.overflow {
            0 => self.create(trace, OVERFLOW_PAGES),
            page => self.pool.fix(trace, page, Dep::NONE),
        };
        if !self.has_room(trace, &page) {
            self.pool.unfix(trace, &page, false);
            page = self.create(trace, OVERFLOW_PAGES);
        }
        self.overflow = page.page;
        let at = self.take(trace, &page);
        self.pool.unfix(trace, &page, true);
        (self.pointer(&at), at.dep)
    }

    /// Fills a non-leaf node with children and, a leaf parent, the pointer to the next one; leaf pages that begin with a child of it get
    /// their pointer back.
    #[allow(
        clippy::too_many_arguments,
        reason = "a node and what it is filled with"
    )]
    fn fill(
        &mut self,
        level: usize,
        place: Pointer,
        in_page: usize,
        firsts: &[K],
        range: Range<usize>,
        children: &[Pointer],
        next: Option<Pointer>,
    ) {
        let at = self.fix(&mut Untraced, place, Dep::NONE);
        let keys = self.keys(level, at.node);
        for (slot, (&key, &child)) in firsts[range].iter().zip(children).enumerate() {
            self.pool.poke(&at.page, keys.at(slot), key);
            self.store_child(&mut Untraced, level, &at, slot, (child, Dep::NONE));
            let first_line = self.place(0) / self.sizes.line;
            if level == 1 && u32::from(child.line) == first_line {
                let leaf = self.fix(&mut Untraced, child, Dep::NONE);
                self.store_back(&mut Untraced, &leaf.page, (place, Dep::NONE));
                self.pool.unfix(&mut Untraced, &leaf.page, true);
            }
        }
        self.store_count(&mut Untraced, level, &at, children.len(), Dep::NONE);
        self.pool
            .poke(&at.page, at.node + IN_PAGE_LEVEL, in_page as u16);
        if let Some(next) = next {
            self.store_next(&mut Untraced, level, &at, (next, Dep::NONE));
        }
        self.pool.unfix(&mut Untraced, &at.page, true);
    }
}
