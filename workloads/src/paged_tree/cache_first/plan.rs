//! How many nodes and pages a tree has and may come to have, and where the bulkload places non-leaf nodes.

use super::GROUPS;
use super::check::Fullness;
use super::jump_array::bulkloaded_slots;
use crate::arena::Reservation;
use crate::paged_tree::geometry::CacheFirst;
use crate::paged_tree::plan::Room;
use crate::tree::plan::{most, truncated_share};

/// What the bulkload makes.
#[derive(Clone, Debug)]
pub(in crate::paged_tree) struct Bulkload {
    /// Entries of a leaf node, children of a leaf parent, children of other non-leaf nodes.
    pub entries: usize,
    pub parent_children: usize,
    pub children: usize,
    /// Nodes by level, leaf nodes first.
    pub nodes: Vec<u64>,
}

/// The nodes of `keys` entries, filled up to `fill`.
pub(in crate::paged_tree) fn bulkloaded(geometry: &CacheFirst, keys: u64, fill: f64) -> Bulkload {
    let share = |most: u32, least: usize| truncated_share(most as usize, fill).max(least);
    let (entries, parent_children, children) = (
        share(geometry.leaf_fanout, 1),
        share(geometry.parent_fanout, 2),
        share(geometry.fanout, 2),
    );
    let mut nodes = vec![keys.div_ceil(entries as u64).max(1)];
    while nodes[nodes.len() - 1] > 1 {
        let each = if nodes.len() == 1 {
            parent_children
        } else {
            children
        };
        nodes.push(nodes[nodes.len() - 1].div_ceil(each as u64));
    }
    Bulkload {
        entries,
        parent_children,
        children,
        nodes,
    }
}

/// Which non-leaf nodes the bulkload places in the pages of their parents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    /// Levels of a full subtree that fit a page.
    pub levels: usize,
    /// Children of each node of the lowest of them that have room besides.
    more: usize,
    children: usize,
}

impl Placement {
    /// For nodes with so many children.
    pub(super) fn new(geometry: &CacheFirst, children: usize) -> Self {
        let room = geometry.nodes as usize;
        let (mut levels, mut lowest, mut all) = (1, 1, 1);
        while all + lowest * children <= room {
            lowest *= children;
            all += lowest;
            levels += 1;
        }
        Self {
            levels,
            more: (room - all) / lowest,
            children,
        }
    }

    /// Whether child `number` of a node is placed with it, which would make it so manyth level of the page, counted from 0. Children for
    /// which there is room besides are spread evenly.
    pub(super) fn stays(&self, number: usize, level: usize) -> bool {
        let bit = |number: usize| number * self.more / self.children;
        level < self.levels || level == self.levels && bit(number + 1) > bit(number)
    }
}

/// Pages of each group that there may come to be: after the bulkload of `keys` entries and `room` insertions.
pub(in crate::paged_tree) fn most_pages(
    geometry: &CacheFirst,
    keys: u64,
    fill: f64,
    room: Room,
) -> [u64; GROUPS] {
    let built = bulkloaded(geometry, keys, fill);
    let nodes = u64::from(geometry.nodes);
    let leaf_pages = built.nodes[0].div_ceil(nodes);
    let split = |objects: u64, capacity: u32, arriving: u64| {
        most(objects, capacity as usize, arriving) - objects
    };
    let leaves = split(built.nodes[0], geometry.leaf_fanout / 2 * 2, room);
    let new_pages = split(leaf_pages, geometry.nodes / 2 * 2, leaves);
    let chunks = leaf_pages.div_ceil(bulkloaded_slots(geometry, fill) as u64);
    let chunks = chunks + split(chunks, geometry.chunk_slots / 2 * 2, new_pages);
    let leaf_pages = leaf_pages + new_pages;
    let parents = built.nodes.get(1).copied().unwrap_or(0);
    let new_parents = split(parents, geometry.parent_fanout / 2 * 2, leaves) + 1;
    // One not full, and those that are filled one after the other.
    let overflow_pages = (parents + new_parents).div_ceil(nodes) + 1;
    let mut arriving = new_parents;
    let mut nonleaf_pages = 1 + built.nodes.iter().skip(2).sum::<u64>();
    for level in 2..super::MOST_LEVELS {
        let objects = built.nodes.get(level).copied().unwrap_or(0);
        arriving = split(objects, geometry.fanout / 2 * 2, arriving) + 1;
        nonleaf_pages += arriving;
        if objects == 0 && arriving <= 1 {
            break;
        }
    }
    [leaf_pages, nonleaf_pages, overflow_pages, chunks]
}

/// Pages of each group that a tree of so many may come to have by `room` insertions, and levels.
pub(in crate::paged_tree) fn grown_pages(
    geometry: &CacheFirst,
    pages: [u64; GROUPS],
    fullness: &Fullness,
    room: Room,
) -> ([u64; GROUPS], usize) {
    let half = |entries: u32| u64::from(entries / 2);
    let nodes = u64::from(geometry.nodes);
    let mut levels = fullness.nodes.len();
    let [
        mut leaf_pages,
        mut nonleaf_pages,
        mut overflow_pages,
        mut chunks,
    ] = pages;
    let mut arriving = room;
    for level in 0.. {
        let capacity = match level {
            0 => geometry.leaf_fanout,
            1 => geometry.parent_fanout,
            _ => geometry.fanout,
        };
        if level == levels {
            // A root comes over what was one, if that is split.
            if arriving == 0 {
                break;
            }
            levels += 1;
            nonleaf_pages += 1;
        }
        let there = fullness.nodes.get(level).copied().unwrap_or_default();
        arriving = there.splits(arriving, half(capacity));
        match level {
            0 => {
                let new_pages = fullness.pages.splits(arriving, half(geometry.nodes));
                leaf_pages += new_pages;
                chunks += fullness
                    .chunks
                    .splits(new_pages, half(geometry.chunk_slots));
            }
            1 => {
                overflow_pages += arriving
                    .saturating_sub(fullness.overflow_room)
                    .div_ceil(nodes)
            }
            _ => nonleaf_pages += arriving,
        }
    }
    ([leaf_pages, nonleaf_pages, overflow_pages, chunks], levels)
}

/// Groups of pages.
pub(in crate::paged_tree) fn reservations(
    pages: [u64; GROUPS],
    page_bytes: u32,
) -> Vec<Reservation> {
    let names = [
        "leaf pages",
        "non-leaf pages",
        "overflow pages",
        "jump-pointer array",
    ];
    let groups = names.into_iter().zip(pages);
    groups
        .map(|(name, pages)| Reservation {
            name: name.into(),
            object_bytes: page_bytes.into(),
            objects: pages,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paged_tree::geometry::PageSizes;

    /// Section 3.6.2: 6 of 57 children stay in the 4 KB page of their parent, spread evenly.
    #[test]
    fn children_stay_as_there_is_room() {
        let sizes = PageSizes {
            page: 4096,
            key: 4,
            line: 64,
        };
        let placement = Placement::new(&CacheFirst::new(&sizes, 9).unwrap(), 57);
        let stay: Vec<usize> = (0..57)
            .filter(|&number| placement.stays(number, 1))
            .collect();
        assert_eq!((placement.levels, stay.len()), (1, 6));
        assert!(
            stay.windows(2)
                .all(|pair| (9..=10).contains(&(pair[1] - pair[0])))
        );
        assert!(!(0..57).any(|number| placement.stays(number, 2)));
    }
}
