//! Tree pseudo-LRU: a binary tree over the ways whose bits point away from the latest use.

/// One tree per set.
#[derive(Clone, Debug)]
pub(crate) struct TreePlru {
    /// Bit `n` is the node numbered `n` from 1 in breadth-first order: 0 points to the lower half of its ways.
    trees: Box<[u64]>,
    ways: usize,
}

impl TreePlru {
    /// `ways` is a power of two up to 64.
    pub(crate) fn new(sets: usize, ways: usize) -> Self {
        Self {
            trees: vec![0; sets].into_boxed_slice(),
            ways,
        }
    }

    /// Turns every node above `way` away from it.
    pub(crate) fn used(&mut self, set: usize, way: usize) {
        let tree = &mut self.trees[set];
        let mut node = self.ways + way;
        while node > 1 {
            let upper_half = (node & 1) as u64;
            node /= 2;
            *tree = *tree & !(1 << node) | (1 - upper_half) << node;
        }
    }

    /// The way that the nodes point to.
    pub(crate) fn victim(&self, set: usize) -> usize {
        let tree = self.trees[set];
        let mut node = 1;
        while node < self.ways {
            node = 2 * node + (tree >> node & 1) as usize;
        }
        node - self.ways
    }

    pub(crate) fn clear(&mut self) {
        self.trees.fill(0);
    }
}
