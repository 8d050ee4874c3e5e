//! The keys that trees are built of, and the keys that operations use.

use super::{Operation, Operations};
use crate::random::Random;

/// Keys of the tree are multiples of this, so that there are absent keys between all of them.
const STRIDE: u64 = 8;
/// Absent keys after each key of the tree.
pub(super) const GAPS: u64 = STRIDE - 1;

/// What random choices are for: each purpose has its own sequence.
const FOR_BUILDING: u64 = 1;
const FOR_OPERATIONS: u64 = 2;
const FOR_WARM_UP: u64 = 3;

/// The tree's key of rank `rank`, counted from 0. Its tupleID is the rank.
#[must_use]
pub(crate) fn key(rank: u64) -> u64 {
    (rank + 1) * STRIDE
}

/// The largest number that a key of a tree of so many may have, or one between them.
pub(crate) fn most_number(keys: u64) -> u64 {
    key(keys - 1) + GAPS
}

/// In which order a tree gets its keys, by their ranks: some all at once, the others one by one.
pub(crate) struct BuildOrder {
    /// Those of the bulkload, ascending, and then the others; empty if the bulkload gets all.
    ranks: Vec<u32>,
    bulkloaded: usize,
}

impl BuildOrder {
    /// So many of all keys are bulkloaded: the first ones, or, with a seed, such as are drawn, whereupon the others follow in random order.
    pub(crate) fn new(keys: u64, bulkloaded: u64, seed: Option<u64>) -> Self {
        let bulkloaded = bulkloaded as usize;
        let Some(seed) = seed else {
            return Self {
                ranks: Vec::new(),
                bulkloaded,
            };
        };
        // Ranks are below 2^32: a workload has at most 200 million keys.
        let mut ranks: Vec<u32> = (0..keys as u32).collect();
        Random::new(seed, FOR_BUILDING).shuffle(&mut ranks);
        ranks[..bulkloaded].sort_unstable();
        Self { ranks, bulkloaded }
    }

    /// Keys of the bulkload.
    pub(crate) fn bulkloaded(&self) -> usize {
        self.bulkloaded
    }

    /// The rank of the bulkload's key with this number.
    pub(crate) fn rank(&self, number: usize) -> u32 {
        self.ranks.get(number).copied().unwrap_or(number as u32)
    }

    /// The ranks of the other keys.
    pub(crate) fn later(&self) -> &[u32] {
        self.ranks.get(self.bulkloaded..).unwrap_or(&[])
    }
}

impl Operations {
    /// The keys of the operations, in order.
    ///
    /// Searches draw from all keys of the tree, deletions too but none twice; insertions draw from the absent keys,
    /// none twice; scans draw from the keys that have enough keys after them.
    #[must_use]
    pub(crate) fn drawn(&self) -> Vec<u64> {
        let mut random = Random::new(self.seed, FOR_OPERATIONS);
        let (count, keys) = (self.count, self.keys);
        match self.operation {
            Operation::Search => (0..count).map(|_| key(random.below(keys))).collect(),
            Operation::Scan => (0..count)
                .map(|_| key(random.below(keys - self.range + 1)))
                .collect(),
            Operation::Delete => random.distinct(count, keys).into_iter().map(key).collect(),
            Operation::Insert => {
                let absent = random.distinct(count, keys * GAPS);
                absent.into_iter().map(absent_key).collect()
            }
        }
    }

    /// The keys of a warm-up, without end: of the same kinds as those of the operations, but any of them may come again.
    pub(crate) fn warm_up_keys(&self) -> impl FnMut() -> u64 + use<> {
        let mut random = Random::new(self.seed, FOR_WARM_UP);
        let (operation, keys, range) = (self.operation, self.keys, self.range);
        move || match operation {
            Operation::Search | Operation::Delete => key(random.below(keys)),
            Operation::Scan => key(random.below(keys - range + 1)),
            Operation::Insert => absent_key(random.below(keys * GAPS)),
        }
    }
}

/// The absent key of number `choice`, counted from 0.
fn absent_key(choice: u64) -> u64 {
    key(choice / GAPS) + 1 + choice % GAPS
}

/// The key of the tree that comes so many after another one.
#[must_use]
pub(crate) fn later_key(key: u64, later: u64) -> u64 {
    key + later * STRIDE
}
