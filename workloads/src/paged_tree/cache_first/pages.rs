//! Pages of nodes: which of their places have one.

use super::{At, CacheFirstTree, Pointer};
use crate::paged_tree::Site;
use crate::paged_tree::geometry::PAGE_HEADER_BYTES;
use crate::paged_tree::key::Key;
use crate::paged_tree::page::{COUNT, STEP, load_header, store_header};
use crate::place::Loaded;
use crate::pool::Fixed;
use crate::tracer::{Dep, Trace};

/// Bytes of a leaf page's header with page and line of the parent of its first leaf node.
const BACK_PAGE: u32 = 8;
const BACK_LINE: u32 = 12;
/// Bytes of a leaf page's header with the chunk of the jump-pointer array that lists it, and about which slot of it does.
const CHUNK: u32 = 4;
const SLOT_HINT: u32 = 14;
/// Bits of a word of the map of nodes, which follows the fields of the header.
const MAP_BITS: u32 = 16;

impl<K: Key> CacheFirstTree<K> {
    /// Makes a page of a group, pinned.
    pub(super) fn create<T: Trace>(&mut self, trace: &mut T, group: usize) -> Fixed {
        self.pages[group] += 1;
        self.pool.create(trace, group)
    }

    /// Pins the page of a node. `dep` is what the pointer waits for.
    #[inline]
    pub(super) fn fix<T: Trace>(&mut self, trace: &mut T, pointer: Pointer, dep: Dep) -> At {
        let page = self.pool.fix(trace, pointer.page, dep);
        At {
            page,
            node: self.byte(pointer.line),
            dep: page.dep,
        }
    }

    /// Node of a page by number.
    pub(super) fn place(&self, number: u32) -> u32 {
        (1 + number * self.geometry.node_lines) * self.sizes.line
    }

    fn map_word(number: u32) -> (u32, u16) {
        (
            PAGE_HEADER_BYTES + number / MAP_BITS * 2,
            1 << (number % MAP_BITS),
        )
    }

    /// Whether a page has room for another node.
    pub(super) fn has_room<T: Trace>(&self, trace: &mut T, page: &Fixed) -> bool {
        let used: Loaded<u16> = load_header(trace, &self.pool, page, COUNT);
        let room = u32::from(used.value) < self.geometry.nodes;
        trace.work(STEP);
        trace.branch(Site::SpaceLeft, room, used.token.after(1));
        room
    }

    /// Takes the first free place of a page that has one: the map says which.
    pub(super) fn take<T: Trace>(&mut self, trace: &mut T, page: &Fixed) -> At {
        let used: Loaded<u16> = load_header(trace, &self.pool, page, COUNT);
        let mut number = 0;
        let (field, map) = loop {
            let (field, _) = Self::map_word(number);
            let map: Loaded<u16> = self.pool.load(trace, Site::NodeMap, page, field, page.dep);
            trace.work(2 * STEP);
            trace.branch(Site::NodeLoop, map.value == u16::MAX, map.token.after(1));
            if map.value != u16::MAX {
                break (field, map);
            }
            number += MAP_BITS;
        };
        let number = number + map.value.trailing_ones();
        assert!(
            number < self.geometry.nodes,
            "page {} has no free node",
            page.page
        );
        self.pool.store(
            trace,
            Site::NodeMapStore,
            page,
            field,
            map.value | 1 << (number % MAP_BITS),
            map.token.after(2),
        );
        let waits = used.token.after(1);
        store_header(trace, &mut self.pool, page, COUNT, used.value + 1, waits);
        At {
            page: *page,
            node: self.place(number),
            dep: map.token.after(2),
        }
    }

    /// Gives a node's place back.
    pub(super) fn release<T: Trace>(&mut self, trace: &mut T, at: &At) {
        let number = (at.node / self.sizes.line - 1) / self.geometry.node_lines;
        let (field, bit) = Self::map_word(number);
        let map: Loaded<u16> = self
            .pool
            .load(trace, Site::NodeMap, &at.page, field, at.page.dep);
        let (left, waits) = (map.value & !bit, map.token.after(1));
        self.pool
            .store(trace, Site::NodeMapStore, &at.page, field, left, waits);
        let used: Loaded<u16> = load_header(trace, &self.pool, &at.page, COUNT);
        let (nodes, waits) = (used.value - 1, used.token.after(1));
        store_header(trace, &mut self.pool, &at.page, COUNT, nodes, waits);
    }

    /// Nodes of a page, in the order of their places, of which the map tells.
    pub(super) fn nodes_of<T: Trace>(&self, trace: &mut T, page: &Fixed) -> Vec<u32> {
        let mut nodes = Vec::new();
        for first in (0..self.geometry.nodes).step_by(MAP_BITS as usize) {
            let (field, _) = Self::map_word(first);
            let map: Loaded<u16> = self.pool.load(trace, Site::NodeMap, page, field, page.dep);
            let here = first..self.geometry.nodes.min(first + MAP_BITS);
            nodes.extend(
                here.filter(|number| map.value & Self::map_word(*number).1 > 0)
                    .map(|number| self.place(number)),
            );
        }
        nodes
    }

    /// Loads the pointer to the parent of a leaf page's first leaf node.
    pub(super) fn load_back<T: Trace>(&self, trace: &mut T, page: &Fixed) -> Loaded<Pointer> {
        let line: Loaded<u16> =
            self.pool
                .load(trace, Site::ParentPointer, page, BACK_LINE, page.dep);
        let back: Loaded<u32> =
            self.pool
                .load(trace, Site::ParentPointer, page, BACK_PAGE, page.dep);
        back.map(|page| Pointer {
            page,
            line: line.value,
        })
    }

    /// Stores that pointer, with what it waits for.
    pub(super) fn store_back<T: Trace>(
        &mut self,
        trace: &mut T,
        page: &Fixed,
        (parent, dep): (Pointer, Dep),
    ) {
        self.pool
            .store(trace, Site::PointerStore, page, BACK_PAGE, parent.page, dep);
        self.pool
            .store(trace, Site::PointerStore, page, BACK_LINE, parent.line, dep);
    }

    /// Loads the chunk that lists a leaf page, and about which slot of it does.
    pub(super) fn load_listed<T: Trace>(
        &self,
        trace: &mut T,
        page: &Fixed,
    ) -> (Loaded<u32>, Loaded<u16>) {
        let chunk = load_header(trace, &self.pool, page, CHUNK);
        (chunk, load_header(trace, &self.pool, page, SLOT_HINT))
    }

    /// Says which chunk lists a leaf page, and in which slot.
    pub(super) fn store_listed<T: Trace>(
        &mut self,
        trace: &mut T,
        page: &Fixed,
        (chunk, slot): (Loaded<u32>, usize),
    ) {
        let waits = chunk.token.after(0);
        store_header(trace, &mut self.pool, page, CHUNK, chunk.value, waits);
        let hint = slot as u16;
        store_header(trace, &mut self.pool, page, SLOT_HINT, hint, Dep::NONE);
    }
}
