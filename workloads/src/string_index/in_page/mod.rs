//! Pages with a tree in each, disk-first, whose nodes are small slotted pages of some cache lines (thesis Figure 3.30).
//!
//! Nodes have numbers from 1, and all the same size. Leaf nodes hold the page's entries and are chained, non-leaf nodes hold keys and the
//! numbers of their children, the root always is node 1. Where node 1 lies follows from the pageID, and the others behind it and around,
//! so that no page header has to be read to find the root and the roots of pages do not compete for cache sets (section 3.4.1). All
//! lines of a node are prefetched when it is reached, and leaf nodes ahead of scans.

#[cfg(test)]
mod check;
mod insert;
mod nodes;
mod scan;
mod whole;

use self::whole::Source;
use super::Site;
use super::area::{Area, AreaFormat, HEADER_BYTES, LEVEL, STEP};
use super::format::{Filling, Format, Position, Scan};
use super::sites::NODE;
use super::text::Text;
use super::wanted::Wanted;
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Trace};
use crate::tree::plan::truncated_share;

/// Number of the root.
const ROOT: u32 = 1;
/// Byte of a node from its number: add the page's first, compare, subtract, multiply (shift), add.
const PLACE: u32 = 5;
/// Fewest leaf nodes of a page.
const FEWEST_LEAVES: u32 = 4;
/// Fewest keys of a node: a half, when it is split, has room for one more.
const FEWEST_ENTRIES: u32 = 4;

/// The format of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InPageTree {
    node: AreaFormat,
    line_bytes: u32,
    node_lines: u32,
    /// Nodes of a page.
    nodes: u32,
    /// Leaf nodes for which a page has enough others, whatever their keys.
    leaves: u32,
    /// Children of a non-leaf node, whatever their keys.
    children: u32,
    /// Bytes that the longest key takes.
    longest: u32,
}

/// Sizes of a page with a tree in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub page_bytes: u32,
    pub line_bytes: u32,
    pub node_lines: u32,
    pub longest_key: u32,
}

/// Non-leaf nodes over so many leaf nodes.
fn nonleaf_nodes(leaves: u32, children: u32) -> u32 {
    let (mut level, mut all) = (leaves, 0);
    loop {
        level = level.div_ceil(children);
        all += level;
        if level <= 1 {
            return all;
        }
    }
}

impl InPageTree {
    /// Pages of such sizes; none if they have no room for it.
    pub(super) fn new(sizes: &Sizes) -> Option<Self> {
        let bytes = sizes.node_lines * sizes.line_bytes;
        let nodes = sizes.page_bytes.checked_sub(sizes.line_bytes)? / bytes;
        let node = AreaFormat {
            first: HEADER_BYTES,
            bytes,
            prefix: 0,
            parts: &NODE,
        };
        let longest = node.needs(sizes.longest_key);
        let children = node.capacity() / longest;
        if children < FEWEST_ENTRIES {
            return None;
        }
        let fits = |leaves: &u32| leaves + nonleaf_nodes(*leaves, children) <= nodes;
        let leaves = (FEWEST_LEAVES..nodes).take_while(fits).last()?;
        let format = Self {
            node,
            line_bytes: sizes.line_bytes,
            node_lines: sizes.node_lines,
            nodes,
            leaves,
            children,
            longest,
        };
        (format.insertions_after_split() >= 2).then_some(format)
    }

    /// Leaf nodes of a page, and the bytes of entries that each has room for.
    pub(super) fn leaf_nodes(&self) -> (u32, u32) {
        (self.leaves, self.node.capacity())
    }

    /// Nodes on the way through a page.
    pub(super) fn levels(&self) -> u32 {
        let (mut level, mut levels) = (self.leaves, 1);
        while level > 1 {
            level = level.div_ceil(self.children);
            levels += 1;
        }
        levels
    }

    /// The bytes of entries from which on a page is split, not reorganized: less than room for two keys of the longest is left in a leaf
    /// node, in the mean.
    fn full(&self) -> u32 {
        self.leaves * (self.node.capacity() - 2 * self.longest)
    }

    /// Fewest insertions that make a page full that has come out of a split: the larger half has half of the bytes and a node more.
    fn insertions_after_split(&self) -> i64 {
        let capacity = i64::from(self.node.capacity());
        let larger = i64::from(self.leaves) * capacity / 2 + capacity;
        (i64::from(self.full()) - larger) / i64::from(self.longest)
    }

    /// A node by its number.
    #[inline]
    fn node(&self, page: &Fixed, number: u32, dep: Dep) -> Area {
        let place = (number - 1 + page.page) % self.nodes;
        Area {
            page: *page,
            format: self.node,
            base: self.line_bytes + place * self.node.bytes,
            dep,
        }
    }

    /// A node by a number that was loaded.
    #[inline]
    fn node_of(&self, page: &Fixed, number: Loaded<u32>) -> Area {
        self.node(page, number.value, number.token.after(PLACE as u8))
    }

    /// Prefetches all lines of a node.
    #[inline]
    fn prefetch<T: Trace>(&self, trace: &mut T, pool: &Pool, node: &Area) {
        let lines = (node.base, self.node_lines, self.line_bytes);
        pool.prefetch(trace, Site::NodePrefetch, &node.page, lines, node.dep);
    }

    /// A node by its number, prefetched, and whether it is a leaf node.
    #[inline]
    fn reach<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        (number, dep): (u32, Dep),
    ) -> (Area, bool) {
        trace.work(PLACE);
        let node = self.node(page, number, dep);
        self.prefetch(trace, pool, &node);
        let level: Loaded<u16> = node.load_header(trace, pool, LEVEL);
        trace.work(STEP);
        trace.branch(Site::InPageLevel, level.value > 0, level.token.after(1));
        (node, level.value == 0)
    }

    /// The leaf node that has or would have a key. `visit` is told every non-leaf node on the way, and how many of its children are not
    /// above the key.
    #[inline]
    fn descend<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        wanted: &Wanted<'_>,
        mut visit: impl FnMut(u32, usize),
    ) -> (u32, Area) {
        let (mut number, mut dep) = (ROOT, page.dep);
        loop {
            let (node, leaf) = self.reach(trace, pool, page, (number, dep));
            if leaf {
                return (number, node);
            }
            let slot = node.search(trace, pool, wanted, 1);
            let child = node.id(trace, pool, slot - 1);
            visit(number, slot);
            (number, dep) = (child.value, child.token.after(PLACE as u8));
        }
    }

    /// The first leaf node of a page.
    fn first_leaf<T: Trace>(&self, trace: &mut T, pool: &Pool, page: &Fixed) -> (Loaded<u32>, Dep) {
        let (mut number, mut dep) = (Loaded::constant(ROOT), page.dep);
        loop {
            let (node, leaf) = self.reach(trace, pool, page, (number.value, dep));
            if leaf {
                return (number, dep);
            }
            number = node.id(trace, pool, 0);
            dep = number.token.after(PLACE as u8);
        }
    }
}

/// The leaf nodes of a page that are left to fill.
pub(crate) struct InPageFilling {
    format: InPageTree,
    /// Bytes that a node is filled to.
    target: u32,
    /// Bytes that are left of it in the latest node, and nodes behind that.
    left: u32,
    nodes: u32,
}

impl InPageFilling {
    /// Whether a key of so many bytes goes into the latest node.
    fn same_node(&mut self, length: u32) -> bool {
        let needed = self.format.node.needs(length);
        let fits = needed <= self.left;
        if fits {
            self.left -= needed;
        }
        fits
    }

    /// Goes on to another node.
    fn next_node(&mut self) {
        self.nodes -= 1;
        self.left = self.target;
    }
}

impl Filling for InPageFilling {
    fn takes(&mut self, length: u32) -> bool {
        if self.same_node(length) {
            return true;
        }
        if self.nodes == 0 {
            return false;
        }
        self.next_node();
        self.same_node(length)
    }
}

impl Format for InPageTree {
    type Filling = InPageFilling;

    fn filling(&self, fill: f64) -> InPageFilling {
        let share = truncated_share(self.node.capacity() as usize, fill) as u32;
        self.filling_to(share.max(self.longest))
    }

    fn room_after_split(&self) -> usize {
        self.insertions_after_split() as usize
    }

    fn build<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        entries: &[(Text, u32)],
        fill: f64,
    ) {
        let filling = self.filling(fill);
        self.build_page(trace, pool, page, entries, filling, Source::Registers);
    }

    #[inline]
    fn find<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        wanted: &Wanted<'_>,
        first: usize,
    ) -> Position {
        let (node, leaf) = self.descend(trace, pool, page, wanted, |_, _| ());
        Position {
            node,
            slot: leaf.search(trace, pool, wanted, first),
            dep: leaf.dep,
        }
    }

    #[inline]
    fn holds<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
        wanted: &Wanted<'_>,
    ) -> bool {
        let node = self.node(page, position.node, position.dep);
        node.holds(trace, pool, position.slot, wanted)
    }

    #[inline]
    fn id<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
    ) -> Loaded<u32> {
        let node = self.node(page, position.node, position.dep);
        node.id(trace, pool, position.slot - 1)
    }

    fn set_id<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        position: Position,
        id: u32,
    ) {
        let node = self.node(page, position.node, position.dep);
        node.set_id(trace, pool, position.slot - 1, id);
    }

    fn insert<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        position: Position,
        entry: (Loaded<&[u8]>, u32),
    ) -> bool {
        self.insert_entry(trace, pool, page, position, entry)
    }

    fn split<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        right: &Fixed,
    ) -> Loaded<Text> {
        self.split_page(trace, pool, page, right)
    }

    fn remove<T: Trace>(&self, trace: &mut T, pool: &mut Pool, page: &Fixed, position: Position) {
        let node = self.node(page, position.node, position.dep);
        node.remove(trace, pool, position.slot - 1);
    }

    fn begin<T: Trace>(&self, trace: &mut T, pool: &Pool, page: &Fixed) -> Position {
        let (node, dep) = self.first_leaf(trace, pool, page);
        Position {
            node: node.value,
            slot: 0,
            dep,
        }
    }

    fn scan<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        from: Position,
        scan: &mut Scan<'_, '_>,
    ) -> bool {
        self.scan_page(trace, pool, page, from, scan)
    }

    #[cfg(test)]
    fn entries(&self, pool: &Pool, page: &Fixed) -> Vec<(Vec<u8>, u32)> {
        self.checked_page(pool, page)
    }
}
