//! Where the node groups of a CSB+-tree lie: a memory allocator for one level of the tree.
//!
//! These are plain CSB+-trees: a group has exactly the nodes that it needs, and is copied whenever it gets one more. Full CSB+-trees,
//! which give every group room for the most nodes at once, copy less and take up to twice the memory; what the thesis compares with
//! (and bulkloads) has no such room.
//!
//! The allocator rounds what it is asked for up to a size class, as allocators do; the tree does not know. Each class has its list of
//! free blocks, kept outside the simulated address space. A block stays in its class, which bounds the memory of every level.

/// Nodes of the blocks of each size class, ascending: the largest group halved again and again, so that both halves of a divided
/// group fit the class below.
fn classes(largest: usize) -> Vec<usize> {
    let mut classes = vec![largest];
    while classes[classes.len() - 1] > 1 {
        classes.push(classes[classes.len() - 1].div_ceil(2));
    }
    classes.reverse();
    classes
}

/// Most nodes of all blocks of a level that are taken besides bulkloaded groups: there are never more than `groups` at once, and
/// `allocations` in all.
pub(super) fn most_nodes(largest: usize, groups: u64, allocations: u64) -> u64 {
    // A group is copied before its old block is free. A new block is taken only while all of its class are in use.
    let blocks = allocations.min(groups + 1);
    let by_class = classes(largest)
        .iter()
        .map(|&nodes| nodes as u64 * blocks)
        .sum();
    allocations.saturating_mul(largest as u64).min(by_class)
}

/// The blocks of one level.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    classes: Vec<usize>,
    /// Address and class of each block, ascending. Bulkloaded groups lie before the first.
    taken: Vec<(u64, u8)>,
    /// Free blocks, by class; the next allocation takes the last.
    free: Vec<Vec<u64>>,
}

impl Blocks {
    /// Blocks for groups of at most `largest` nodes.
    pub(super) fn new(largest: usize) -> Self {
        let classes = classes(largest);
        Self {
            free: vec![Vec::new(); classes.len()],
            classes,
            taken: Vec::new(),
        }
    }

    /// A block for `nodes` nodes; `extend` gives memory for so many at the end of the level.
    pub(super) fn allocate(&mut self, nodes: usize, extend: impl FnOnce(usize) -> u64) -> u64 {
        let class = self.classes.partition_point(|&room| room < nodes);
        self.free[class].pop().unwrap_or_else(|| {
            let address = extend(self.classes[class]);
            self.taken.push((address, class as u8));
            address
        })
    }

    /// Takes back the block of a group that has `nodes` nodes now.
    ///
    /// What a bulkloaded group has beyond a class is lost: at most what the bulkload built.
    pub(super) fn release(&mut self, address: u64, nodes: usize) {
        let class = match self.find(address) {
            Some(class) => class,
            None => self.classes.partition_point(|&room| room <= nodes) - 1,
        };
        self.free[class].push(address);
    }

    /// Nodes that the block at `address` has room for; none for a bulkloaded group.
    pub(super) fn room(&self, address: u64) -> Option<usize> {
        self.find(address).map(|class| self.classes[class])
    }

    fn find(&self, address: u64) -> Option<usize> {
        let place = self
            .taken
            .binary_search_by_key(&address, |&(block, _)| block);
        place.ok().map(|place| usize::from(self.taken[place].1))
    }

    /// Address and nodes of the free blocks.
    pub(super) fn free(&self) -> impl Iterator<Item = (u64, usize)> {
        self.free
            .iter()
            .zip(&self.classes)
            .flat_map(|(free, &nodes)| free.iter().map(move |&address| (address, nodes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_halves() {
        assert_eq!(classes(15), [1, 2, 4, 8, 15]);
        assert_eq!(classes(79), [1, 2, 3, 5, 10, 20, 40, 79]);
        assert_eq!(classes(1), [1]);
    }

    #[test]
    fn blocks_are_used_again_by_class() {
        let mut next = 1000;
        let mut extend = |nodes: usize| {
            next += nodes as u64;
            next - nodes as u64
        };
        let mut blocks = Blocks::new(15);
        let nine = blocks.allocate(9, &mut extend);
        assert_eq!((nine, blocks.room(nine)), (1000, Some(15)));
        let three = blocks.allocate(3, &mut extend);
        assert_eq!(three, 1015);
        // It is one of 15 even if its group has shrunk.
        blocks.release(nine, 2);
        assert_eq!(blocks.allocate(2, &mut extend), 1019);
        assert_eq!(blocks.allocate(14, &mut extend), nine);
        // A bulkloaded group of 9 nodes has room for 8.
        blocks.release(16, 9);
        assert_eq!(blocks.free().collect::<Vec<_>>(), [(16, 8)]);
        assert_eq!(blocks.allocate(9, &mut extend), 1021);
        assert_eq!(blocks.allocate(8, &mut extend), 16);
    }

    #[test]
    fn few_allocations_take_little() {
        assert_eq!(most_nodes(15, 1000, 0), 0);
        assert_eq!(most_nodes(15, 1000, 3), 45);
        assert_eq!(most_nodes(15, 9, 1000), 10 * 30);
    }
}
