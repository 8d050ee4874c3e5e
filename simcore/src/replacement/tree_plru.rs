//! Tree pseudo-LRU: a binary tree over the ways whose bits point away from the latest use.

use super::{Policy, Position};

/// One tree per set.
#[derive(Clone, Debug)]
pub(crate) struct TreePlru {
    /// Bit `n` is the node numbered `n` from 1 in breadth-first order: 0 points to the lower half of its ways.
    trees: Box<[u64]>,
    ways: usize,
}

impl TreePlru {
    /// Turns every node above `way` away from it, or towards it.
    fn turn(&mut self, set: usize, way: usize, away: bool) {
        let tree = &mut self.trees[set];
        let mut node = self.ways + way;
        while node > 1 {
            let upper_half = (node & 1) as u64;
            node /= 2;
            *tree = *tree & !(1 << node) | (upper_half ^ u64::from(away)) << node;
        }
    }
}

impl Policy for TreePlru {
    /// `ways` is a power of two.
    fn new(sets: usize, ways: usize) -> Self {
        Self {
            trees: vec![0; sets].into_boxed_slice(),
            ways,
        }
    }

    fn used(&mut self, set: usize, way: usize) {
        self.turn(set, way, true);
    }

    /// The tree points to a line that goes next: also where that has got a free way, to which it did not point before.
    fn filled(&mut self, set: usize, way: usize, position: Position) {
        self.turn(set, way, position == Position::Newest);
    }

    /// The way that the nodes point to.
    fn victim(&mut self, set: usize) -> usize {
        let tree = self.trees[set];
        let mut node = 1;
        while node < self.ways {
            node = 2 * node + (tree >> node & 1) as usize;
        }
        node - self.ways
    }

    fn clear(&mut self) {
        self.trees.fill(0);
    }
}
