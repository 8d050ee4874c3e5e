//! Insertion into the tree of a page: into a leaf node, by splitting nodes, or after reorganizing the page.

use super::InPageTree;
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::string_index::Site;
use crate::string_index::area::{Area, LEVEL, LINK, STEP};
use crate::string_index::format::{Format, Position};
use crate::string_index::text::Text;
use crate::string_index::wanted::Wanted;
use crate::tracer::{Dep, Trace};
use crate::tree::path::RECORD;

/// The way from the root of a page down: nodes, and how many of their children are not above the key.
type Way = [(u32, usize)];

/// A key, and a tupleID, pageID or child: from where they were loaded.
type Entry<'k> = (Loaded<&'k [u8]>, Loaded<u32>);

impl InPageTree {
    /// Inserts an entry; `false` if there are too few nodes and the page is nearly full.
    pub(super) fn insert_entry<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        position: Position,
        (key, id): (Loaded<&[u8]>, u32),
    ) -> bool {
        let leaf = self.node(page, position.node, position.dep);
        let entry = (key, Loaded::constant(id));
        if leaf.insert(trace, pool, position.slot, entry) {
            return true;
        }
        let wanted = Wanted::new(key.value);
        let mut way = Vec::new();
        self.descend(trace, pool, page, &wanted, |node, slot| {
            way.push((node, slot));
        });
        trace.work(RECORD * way.len() as u32);
        let nodes = self.nodes_to_split(trace, pool, page, &way);
        if self.has_free(trace, pool, page, nodes) {
            self.split_leaf(trace, pool, page, (&way, position), entry);
            return true;
        }
        let leaves = self.leaves(trace, pool, page);
        let living: u32 = leaves.iter().map(|leaf| leaf.living).sum();
        trace.work(2 * STEP);
        trace.branch(Site::Full, living > self.full(), Dep::NONE);
        if living > self.full() {
            return false;
        }
        self.reorganize(trace, pool, page, &leaves);
        // Where an entry is known not to be above the key, the same one is now.
        let first = usize::from(position.slot > 0);
        let position = self.find(trace, pool, page, &wanted, first);
        let leaf = self.node(page, position.node, position.dep);
        put(trace, pool, &leaf, position.slot, entry);
        true
    }

    /// Nodes that a split of the leaf node at the end of a way may take.
    fn nodes_to_split<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        way: &Way,
    ) -> usize {
        let mut full = 0;
        for &(number, _) in way.iter().rev() {
            let node = self.node(page, number, Dep::NONE);
            let room = self.node.capacity() - node.living(trace, pool);
            trace.work(STEP);
            trace.branch(Site::Full, room < self.longest, Dep::NONE);
            if room >= self.longest {
                break;
            }
            full += 1;
        }
        // A root moves its contents to two nodes.
        1 + full + usize::from(full == way.len())
    }

    /// Splits a full leaf node and inserts the entry into the half where it belongs.
    fn split_leaf<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        (way, position): (&Way, Position),
        entry: Entry<'_>,
    ) {
        let left = self.node(page, position.node, position.dep);
        let number = self.take(trace, pool, page);
        let right = self.node_of(page, number);
        right.reset(trace, pool, (0, Dep::NONE));
        let keep = left.split(trace, pool, &right);
        let next: Loaded<u16> = left.load_header(trace, pool, LINK);
        let waits = next.token.after(0);
        right.store_header(trace, pool, LINK, next.value.into(), waits);
        let waits = number.token.after(0);
        left.store_header(trace, pool, LINK, number.value, waits);
        let separator = right.key(trace, pool, 0);
        put_into_half(trace, pool, (&left, &right), (position.slot, keep), entry);
        self.add_child(trace, pool, page, way, (separator, number));
    }

    /// Puts a child behind the one that a way leads to, splitting nodes upwards.
    fn add_child<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        way: &Way,
        (mut key, mut child): (Loaded<Text>, Loaded<u32>),
    ) {
        for (depth, &(number, slot)) in way.iter().enumerate().rev() {
            let node = self.node(page, number, Dep::NONE);
            let entry = (key.bytes(), child);
            if node.insert(trace, pool, slot, entry) {
                return;
            }
            let level: Loaded<u16> = node.load_header(trace, pool, LEVEL);
            let (level, waits) = (u32::from(level.value), level.token.after(0));
            let half = self.take(trace, pool, page);
            let right = self.node_of(page, half);
            right.reset(trace, pool, (level, waits));
            let keep = node.split(trace, pool, &right);
            let up = right.key(trace, pool, 0);
            if depth > 0 {
                put_into_half(trace, pool, (&node, &right), (slot, keep), entry);
                (key, child) = (up, half);
                continue;
            }
            // The root stays where it is, over its two halves.
            let first = self.take(trace, pool, page);
            let left = self.node_of(page, first);
            left.reset(trace, pool, (level, waits));
            node.append_to(trace, pool, &left, (0, Loaded::constant(keep)));
            put_into_half(trace, pool, (&left, &right), (slot, keep), entry);
            node.reset(trace, pool, (level + 1, waits.later(1)));
            put(trace, pool, &node, 0, (Loaded::constant(&[]), first));
            put(trace, pool, &node, 1, (up.bytes(), half));
        }
    }
}

/// Inserts an entry into a node that has room.
fn put<T: Trace>(trace: &mut T, pool: &mut Pool, node: &Area, slot: usize, entry: Entry<'_>) {
    let inserted = node.insert(trace, pool, slot, entry);
    assert!(inserted, "a node of page {} has no room", node.page.page);
}

/// Inserts an entry that belongs at a slot of a node of which `keep` entries stay in the left half.
fn put_into_half<T: Trace>(
    trace: &mut T,
    pool: &mut Pool,
    (left, right): (&Area, &Area),
    (slot, keep): (usize, usize),
    entry: Entry<'_>,
) {
    let goes_left = slot <= keep;
    trace.work(STEP);
    trace.branch(Site::Side, !goes_left, Dep::NONE);
    if goes_left {
        put(trace, pool, left, slot, entry);
    } else {
        put(trace, pool, right, slot - keep, entry);
    }
}
