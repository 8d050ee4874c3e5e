//! A B+-tree from keys to records: the index on record identifiers that decomposed relations and point queries use.

use super::node_pages::{NodesInPool, NodesOfIndex, Paged};
use super::{Geometry, RecordId};
use crate::arena::PAGE_BYTES;
use crate::relocated::Relocated;
use crate::tracer::{Dep, Trace};
use crate::tree::layout::{JumpPointers, Kind, Shape};
use crate::tree::plan::Fill;
use crate::tree::{Site, Tree};
use crate::validate::WorkloadError;
use traces::Segment;

/// Bytes of a key, of a pointer to a node and of a packed record identifier.
const WORD_BYTES: u32 = 4;
/// Nodes are whole pages, so that the line size, which a node is a multiple of, plays no part.
const LINE_BYTES: u32 = 64;

/// An index of 4-byte keys, whose nodes have the size of a page.
#[derive(Clone, Debug)]
pub struct RecordIndex {
    tree: Tree<u32>,
    /// Slots that a page may have: a record identifier is one number, page x this + slot.
    slots: u32,
    /// Bytes of a node.
    page_bytes: u64,
    /// Bytes that the tree's addresses are moved up by.
    moved: u64,
    first_site: u16,
}

impl RecordIndex {
    /// Checks that a page has room for a node.
    pub(crate) fn check_node(page_bytes: u32) -> Result<(), WorkloadError> {
        if page_bytes >= LINE_BYTES {
            return Ok(());
        }
        let message = format!("{page_bytes} bytes; an index needs at least {LINE_BYTES}");
        Err(WorkloadError::new("page_bytes", message))
    }

    /// An index of records whose keys ascend, with room for `insertions` more keys. No page has more than `slots` slots.
    #[must_use]
    pub fn bulkload(
        geometry: Geometry,
        slots: u32,
        pairs: impl ExactSizeIterator<Item = (u32, RecordId)>,
        insertions: u64,
        first_site: u16,
    ) -> Self {
        let shape = Shape {
            kind: Kind::BPlus,
            word_bytes: WORD_BYTES,
            line_bytes: LINE_BYTES,
            node_lines: geometry.page_bytes / LINE_BYTES,
            jump_pointers: JumpPointers::None,
        };
        let packed = pairs.map(|(key, id)| (key, pack(slots, id)));
        Self {
            tree: Tree::bulkload(shape, packed, Fill::FULL, insertions),
            slots,
            page_bytes: geometry.page_bytes.into(),
            moved: 0,
            first_site,
        }
    }

    /// Names of the sites, in order.
    #[must_use]
    pub fn site_names() -> Vec<String> {
        let names = Site::NAMES.iter();
        names.map(|name| format!("index: {name}")).collect()
    }

    /// Levels, leaves included: the pages that a look-up fixes.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.tree.levels()
    }

    /// Puts the index at the first possible address from `address` on.
    pub fn place(&mut self, address: u64) {
        // Segments begin one page above address 0; a whole number of pages keeps their alignment.
        self.moved = address.next_multiple_of(PAGE_BYTES);
    }

    /// Its segments, `name` in front of their names.
    #[must_use]
    pub fn segments(&self, name: &str) -> Vec<Segment> {
        let moved = |segment: &Segment| Segment {
            name: format!("{name}: {}", segment.name),
            base: segment.base + self.moved,
            size_bytes: segment.size_bytes,
        };
        self.tree.segments().iter().map(moved).collect()
    }

    /// The record of a key, and what brings its identifier.
    #[inline]
    pub fn find<T: Trace>(&self, trace: &mut T, key: u32) -> Option<(RecordId, Dep)> {
        let mut trace = Relocated::new(trace, self.moved, self.first_site);
        let (packed, token) = self.tree.lookup(&mut trace, key)?;
        Some((self.unpack(packed), token.after(1)))
    }

    /// Lays the index out in storage, behind those that the pool knows of.
    pub(crate) fn lay_out(&self, pool: &mut NodesInPool) {
        pool.add(self.tree.segments());
    }

    /// Bytes of a node.
    pub(crate) fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// As [`RecordIndex::find`], of an index in storage.
    pub fn find_stored<T: Trace>(
        &self,
        trace: &mut T,
        key: u32,
        nodes: NodesOfIndex<'_>,
    ) -> Option<(RecordId, Dep)> {
        let trace = Relocated::new(trace, self.moved, self.first_site);
        let mut trace = Paged::new(trace, nodes);
        let (packed, token) = self.tree.lookup(&mut trace, key)?;
        Some((self.unpack(packed), token.after(1)))
    }

    fn unpack(&self, packed: u32) -> RecordId {
        RecordId {
            page: packed / self.slots,
            slot: packed % self.slots,
        }
    }

    /// Gives a key a record, in place of the one it had.
    pub fn set<T: Trace>(&mut self, trace: &mut T, key: u32, id: RecordId) {
        let mut trace = Relocated::new(trace, self.moved, self.first_site);
        self.tree.insert(&mut trace, key, pack(self.slots, id));
    }

    /// As [`RecordIndex::set`], in an index in storage.
    pub fn set_stored<T: Trace>(
        &mut self,
        trace: &mut T,
        key: u32,
        id: RecordId,
        nodes: NodesOfIndex<'_>,
    ) {
        let trace = Relocated::new(trace, self.moved, self.first_site);
        let mut trace = Paged::new(trace, nodes);
        self.tree.insert(&mut trace, key, pack(self.slots, id));
    }

    /// As [`RecordIndex::remove`], from an index in storage.
    pub fn remove_stored<T: Trace>(&mut self, trace: &mut T, key: u32, nodes: NodesOfIndex<'_>) {
        let trace = Relocated::new(trace, self.moved, self.first_site);
        self.tree.delete(&mut Paged::new(trace, nodes), key);
    }

    /// Forgets a key.
    pub fn remove<T: Trace>(&mut self, trace: &mut T, key: u32) {
        let mut trace = Relocated::new(trace, self.moved, self.first_site);
        self.tree.delete(&mut trace, key);
    }
}

fn pack(slots: u32, id: RecordId) -> u32 {
    id.page
        .checked_mul(slots)
        .and_then(|first| first.checked_add(id.slot))
        .expect("fewer than 2^32 slots")
}
