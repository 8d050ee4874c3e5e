//! Not recently used: one bit per line, set by its use; when all are set, all but the latest are cleared.

use super::{Policy, Position};

/// One bit per line.
#[derive(Clone, Debug)]
pub(crate) struct Nru {
    used: Box<[u64]>,
    all: u64,
}

impl Policy for Nru {
    fn new(sets: usize, ways: usize) -> Self {
        Self {
            used: vec![0; sets].into_boxed_slice(),
            all: u64::MAX >> (64 - ways),
        }
    }

    fn used(&mut self, set: usize, way: usize) {
        let used = &mut self.used[set];
        *used |= 1 << way;
        if *used == self.all {
            *used = 1 << way;
        }
    }

    fn filled(&mut self, set: usize, way: usize, position: Position) {
        match position {
            Position::Newest => self.used(set, way),
            Position::Oldest => self.used[set] &= !(1 << way),
        }
    }

    /// The first way whose line was not used. A set of one way has all its bits set, and makes room all the same.
    fn victim(&mut self, set: usize) -> usize {
        (!self.used[set] & self.all).trailing_zeros() as usize % self.all.count_ones() as usize
    }

    fn clear(&mut self) {
        self.used.fill(0);
    }
}
