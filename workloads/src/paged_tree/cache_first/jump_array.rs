//! The external jump-pointer array: pageIDs of all leaf pages in the order of keys (thesis section 3.3.5, Figure 3.11).
//!
//! As in chapter 2 (section 2.3.2) it is a chain of chunks with empty slots among the filled ones. A chunk is a page. A leaf page knows
//! its chunk, and a slot near which it is listed: neighbours that move do not tell it.

use super::{ARRAY_PAGES, At, CacheFirstTree};
use crate::paged_tree::Site;
use crate::paged_tree::format::Listing;
use crate::paged_tree::geometry::{CacheFirst, ID_BYTES, PageSizes};
use crate::paged_tree::key::Key;
use crate::paged_tree::page::{Array, NEXT, Position, STEP};
use crate::paged_tree::page_jumps::{PageJumps, RangeEnd};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Trace, Untraced};
use crate::tree::ELEMENT;
use crate::tree::plan::Fill;
use crate::tree::slots::{outward, spread};

/// Share of a chunk's slots that the bulkload fills at most, as in chapter 2 (thesis section 2.4.3).
const CHUNK_FILL: f64 = 0.8;

/// Leaf pages that the bulkload lists in a chunk, where it fills nodes up to `fill`.
pub(super) fn bulkloaded_slots(geometry: &CacheFirst, fill: f64) -> usize {
    let fill = Fill {
        nodes: fill,
        chunks: CHUNK_FILL,
    };
    fill.jump_pointers(geometry.chunk_slots as usize)
}

/// How chunks list leaf pages. PageID 0 is an empty slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunks {
    pub ids: Array,
    pub slots: usize,
}

impl Chunks {
    fn new(sizes: &PageSizes, geometry: &CacheFirst) -> Self {
        Self {
            ids: Array {
                base: sizes.line,
                bytes: ID_BYTES,
            },
            slots: geometry.chunk_slots as usize,
        }
    }

    /// Loads the pageID in a slot.
    pub(super) fn load<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        chunk: &Fixed,
        slot: usize,
    ) -> Loaded<u32> {
        trace.work(ELEMENT);
        let place = self.ids.at(slot);
        pool.load(trace, Site::ArrayId, chunk, place, chunk.dep.later(1))
    }

    /// The slot that lists a page, looked for in both directions from `hint`.
    ///
    /// # Panics
    /// If none does.
    pub(super) fn find<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        chunk: &Fixed,
        hint: usize,
        page: u32,
    ) -> usize {
        for (_, slot) in outward(hint, self.slots) {
            let found = self.load(trace, pool, chunk, slot);
            trace.work(2 * STEP);
            let another = found.value != page;
            trace.branch(Site::AnotherPage, another, found.token.after(1));
            if !another {
                return slot;
            }
        }
        panic!("chunk {} does not list leaf page {page}", chunk.page);
    }
}

impl Listing for Chunks {
    fn following<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
    ) -> Option<Position> {
        for slot in position.slot..self.slots {
            let listed = self.load(trace, pool, page, slot);
            trace.work(2 * STEP);
            let filled = listed.value != 0;
            trace.branch(Site::AnotherPage, filled, listed.token.after(1));
            if filled {
                return Some(Position {
                    slot: slot + 1,
                    ..position
                });
            }
        }
        None
    }

    fn id<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
    ) -> Loaded<u32> {
        self.load(trace, pool, page, position.slot - 1)
    }
}

impl<K: Key> CacheFirstTree<K> {
    pub(super) fn chunks(&self) -> Chunks {
        Chunks::new(&self.sizes, &self.geometry)
    }

    /// Builds the array of leaf pages, given in order, with empty slots spread evenly.
    pub(super) fn build_array(&mut self, leaf_pages: &[u32], fill: f64) {
        let chunks = self.chunks();
        let mut before: Option<Fixed> = None;
        for listed in leaf_pages.chunks(bulkloaded_slots(&self.geometry, fill)) {
            let chunk = self.create(&mut Untraced, ARRAY_PAGES);
            for (number, &page) in listed.iter().enumerate() {
                let slot = spread(number, listed.len(), chunks.slots);
                self.pool.poke(&chunk, chunks.ids.at(slot), page);
                let listed = (Loaded::constant(chunk.page), slot);
                self.tell_listed(&mut Untraced, Loaded::constant(page), listed);
            }
            if let Some(before) = before.replace(chunk) {
                self.pool.poke(&before, NEXT, chunk.page);
                self.pool.unfix(&mut Untraced, &before, true);
            }
        }
        let last = before.expect("a tree has a leaf page");
        self.pool.unfix(&mut Untraced, &last, true);
    }

    /// Begins to ask for leaf pages behind the one of a leaf node. A hint that is not exact stays so: the page would have to be written.
    pub(super) fn page_jumps<T: Trace>(
        &mut self,
        trace: &mut T,
        leaf: &At,
        end: RangeEnd,
    ) -> PageJumps {
        let (chunk, hint) = self.load_listed(trace, &leaf.page);
        let chunk = self.pool.fix(trace, chunk.value, chunk.token.after(0));
        let page = leaf.page.page;
        let slot = self
            .chunks()
            .find(trace, &self.pool, &chunk, hint.value.into(), page);
        let at = Position {
            node: 0,
            slot: slot + 1,
            dep: chunk.dep,
        };
        PageJumps::new(trace, &mut self.pool, (chunk, at), page, end)
    }
}
