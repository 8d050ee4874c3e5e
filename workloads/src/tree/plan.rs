//! How many nodes a tree has and may come to have: known before the first node is built.

use super::groups;
use super::layout::{JumpPointers, Kind, Shape};
use crate::arena::Reservation;

/// How full nodes and chunks are after the bulkload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fill {
    /// Share of a node's keys.
    pub nodes: f64,
    /// Share of a chunk's slots; the smaller of the two holds (thesis section 2.4.3).
    pub chunks: f64,
}

impl Fill {
    /// Everything full.
    pub const FULL: Self = Self {
        nodes: 1.0,
        chunks: 1.0,
    };

    /// Keys of a node that has room for `max_keys`: truncated to an integer (section 2.4.5), at least 1.
    #[must_use]
    pub fn keys(&self, max_keys: usize) -> usize {
        truncated_share(max_keys, self.nodes)
    }

    /// Jump pointers of a chunk that has room for `slots`.
    #[must_use]
    pub fn jump_pointers(&self, slots: usize) -> usize {
        truncated_share(slots, self.nodes.min(self.chunks))
    }
}

/// `share` of `whole`, truncated, at least 1.
pub(crate) fn truncated_share(whole: usize, share: f64) -> usize {
    // 0.29 x 100 is 28.999... in floating point: what is an integer on paper must not lose one.
    const ROUNDING: f64 = 1e-9;
    ((whole as f64 * share + ROUNDING) as usize).max(1)
}

/// Nodes per level of a bulkloaded tree, leaves first.
#[must_use]
pub fn level_nodes(shape: &Shape, keys: u64, fill: Fill) -> Vec<u64> {
    let mut levels = vec![
        keys.div_ceil(fill.keys(shape.node(0).max_keys) as u64)
            .max(1),
    ];
    while levels[levels.len() - 1] > 1 {
        let children = fill.keys(shape.node(levels.len()).max_keys) as u64 + 1;
        levels.push(levels[levels.len() - 1].div_ceil(children));
    }
    levels
}

/// Most objects there can be after `insertions` into `objects` of room `capacity`, all of which may be full.
///
/// An object that came out of a split is half empty and takes half its capacity in insertions until the next.
pub(crate) fn most(objects: u64, capacity: usize, insertions: u64) -> u64 {
    let half = capacity.div_ceil(2).max(1) as u64;
    objects + insertions.min(objects + insertions / half)
}

/// What to reserve for a tree and `insertions` into it: one segment per level, and the jump-pointer array.
#[must_use]
pub fn reservations(shape: &Shape, keys: u64, fill: Fill, insertions: u64) -> Vec<Reservation> {
    let built = level_nodes(shape, keys, fill);
    let node_bytes = u64::from(shape.node_bytes());
    let mut reserved: Vec<Reservation> = Vec::new();
    let mut arriving = insertions;
    let mut leaf_splits = 0;
    while reserved.len() < built.len() || arriving > 0 {
        let level = reserved.len();
        let objects = built.get(level).copied().unwrap_or(1);
        let capacity = shape.node(level).max_keys;
        // A level above today's root starts as one node with one key: it is not full.
        let splittable = if level < built.len() { objects } else { 0 };
        let splits = most(splittable, capacity, arriving) - splittable;
        if level == 0 {
            leaf_splits = splits;
        }
        let name = if level == 0 {
            "level 0 (leaves)".into()
        } else {
            format!("level {level}")
        };
        reserved.push(Reservation {
            name,
            object_bytes: node_bytes,
            objects: objects + splits,
        });
        arriving = splits;
    }
    if shape.kind == Kind::CsbPlus {
        reserve_blocks(shape, &built, &mut reserved);
    }
    if let JumpPointers::External { .. } = shape.jump_pointers {
        let slots = shape.chunk_slots();
        let chunks = built[0].div_ceil(fill.jump_pointers(slots) as u64);
        reserved.push(Reservation {
            name: "jump-pointer array".into(),
            object_bytes: u64::from(shape.chunk_lines() * shape.line_bytes),
            objects: most(chunks, slots, leaf_splits),
        });
    }
    reserved
}

/// Turns the most nodes of each level of a CSB+-tree into those of its bulkload and of all blocks that groups may then be copied to.
fn reserve_blocks(shape: &Shape, built: &[u64], reserved: &mut [Reservation]) {
    for level in 0..reserved.len() {
        let nodes = reserved[level].objects;
        let bulkloaded = built.get(level).copied().unwrap_or(0);
        // A split makes or enlarges a group; one more is that of a new root. A group has one parent, and the root none.
        let splits = nodes - bulkloaded;
        let allocations = if splits > 0 { splits + 1 } else { 0 };
        let groups = reserved.get(level + 1).map_or(1, |above| above.objects);
        let largest = shape.max_children(level + 1);
        reserved[level].objects = bulkloaded + groups::most_nodes(largest, groups, allocations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::layout::Kind;

    fn levels(kind: Kind, node_lines: u32, keys: u64) -> usize {
        let shape = Shape {
            kind,
            word_bytes: 4,
            line_bytes: 64,
            node_lines,
            jump_pointers: JumpPointers::None,
        };
        level_nodes(&shape, keys, Fill::FULL).len()
    }

    #[test]
    fn levels_are_those_of_table_2_4() {
        let b_plus: Vec<_> = (1..=16)
            .map(|lines| levels(Kind::BPlus, lines, 10_000_000))
            .collect();
        assert_eq!(b_plus, [8, 6, 6, 5, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4]);
        let csb_plus: Vec<_> = (1..=16)
            .map(|lines| levels(Kind::CsbPlus, lines, 10_000_000))
            .collect();
        assert_eq!(csb_plus, [7, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]);
    }

    #[test]
    fn levels_are_those_of_table_2_5() {
        let row = |kind, lines| {
            [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
                .map(|keys| levels(kind, lines, keys))
        };
        assert_eq!(row(Kind::BPlus, 1), [6, 7, 7, 8, 8]);
        assert_eq!(row(Kind::CsbPlus, 1), [5, 5, 6, 6, 7]);
        assert_eq!(row(Kind::BPlus, 8), [3, 4, 4, 4, 4]);
        assert_eq!(row(Kind::CsbPlus, 5), [3, 4, 4, 4, 4]);
    }

    #[test]
    fn fill_applies_to_keys_truncated() {
        let fill = |nodes| Fill { nodes, chunks: 0.8 };
        assert_eq!(
            [0.6, 0.7, 0.8, 0.9, 1.0].map(|share| fill(share).keys(7)),
            [4, 4, 5, 6, 7]
        );
        assert_eq!(fill(0.29).keys(100), 29);
        assert_eq!(
            (fill(1.0).jump_pointers(46), fill(0.6).jump_pointers(46)),
            (36, 27)
        );
    }
}
