//! The keys that trees are built of, and the keys that operations use.

use super::{Operation, Operations};
use crate::permutation::Permutation;
use crate::random::Random;
use crate::ranks::Frequencies;
use crate::watch;

/// Keys of the tree are multiples of this, so that there are absent keys between all of them.
const STRIDE: u64 = 8;
/// Absent keys after each key of the tree.
pub(super) const GAPS: u64 = STRIDE - 1;

/// What random choices are for: each purpose has its own sequence.
const FOR_BUILDING: u64 = 1;
const FOR_OPERATIONS: u64 = 2;
const FOR_WARM_UP: u64 = 3;
const FOR_POPULARITY: u64 = 4;
pub(super) const FOR_MIX: u64 = 5;
pub(super) const FOR_LENGTHS: u64 = 6;

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

/// Which keys operations are done to: all are as popular, or some are by Zipf's law, which lie anywhere among the others.
struct Popular {
    frequencies: Frequencies,
    places: Option<Permutation>,
}

impl Popular {
    /// Of so many keys.
    fn new(keys: u64, operations: &Operations) -> Self {
        let Operations { skew, seed, .. } = *operations;
        Self {
            frequencies: Frequencies::new(keys, skew),
            places: (skew > 0.0).then(|| Permutation::new(keys, seed, FOR_POPULARITY)),
        }
    }

    /// Draws a key.
    #[inline]
    fn draw(&self, random: &mut Random) -> u64 {
        let rank = self.frequencies.draw(random);
        key(self.places.map_or(rank, |places| places.at(rank)))
    }
}

impl Operations {
    /// Those that operations may be done to again and again: all that the tree has, or those that have enough keys after them.
    fn popular(&self) -> Popular {
        let behind = if self.operation.scans() {
            self.range - 1
        } else {
            0
        };
        Popular::new(self.keys - behind, self)
    }

    /// The keys of the operations, in order.
    ///
    /// Searches draw from all keys of the tree, deletions too but none twice; insertions draw from the absent keys,
    /// none twice; scans draw from the keys that have enough keys after them.
    ///
    /// Threads draw the same keys, and each keeps those of its own operations.
    #[must_use]
    pub(crate) fn drawn(&self) -> Vec<u64> {
        let mut random = Random::new(self.seed, FOR_OPERATIONS);
        let (count, keys) = (self.count, self.keys);
        match self.operation {
            Operation::Search | Operation::Scan => {
                let popular = self.popular();
                self.own((0..count).map(|_| popular.draw(&mut random)))
            }
            Operation::Delete => {
                let changed = random.distinct(self.changes(), keys);
                self.own(self.mixed_in(changed.into_iter().map(key)))
            }
            Operation::Insert | Operation::ScanAndInsert => {
                let absent = random.distinct(self.changes(), keys * GAPS);
                self.own(self.mixed_in(absent.into_iter().map(absent_key)))
            }
        }
    }

    /// How many operations change the index.
    fn changes(&self) -> u64 {
        let changes = |&number: &u64| {
            watch::look_at(number);
            self.kind(number).changes()
        };
        (0..self.count).filter(changes).count() as u64
    }

    /// The keys of all operations, of which those that change the index have these.
    fn mixed_in(&self, mut changed: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
        let mut random = Random::new(self.seed, FOR_MIX);
        let popular = self.popular();
        (0..self.count).map_while(move |number| {
            if self.kind(number).changes() {
                changed.next()
            } else {
                Some(popular.draw(&mut random))
            }
        })
    }

    /// The keys of the thread's own operations, of those of all.
    fn own(&self, keys: impl Iterator<Item = u64>) -> Vec<u64> {
        let numbered = (0_u64..).zip(keys);
        let own = numbered.filter(|&(number, _)| {
            watch::look_at(number);
            self.does(number)
        });
        own.map(|(_, key)| key).collect()
    }

    /// What operation `number` of a warm-up stands for: those that would change the index are searches.
    pub(super) fn warm_up_kind(&self, number: u64) -> Operation {
        self.kind_for(number, FOR_WARM_UP)
    }

    /// The keys of a warm-up, without end: of the same kinds as those of the operations, but any of them may come again.
    pub(crate) fn warm_up_keys(&self) -> impl FnMut() -> u64 + use<> {
        let mut random = Random::new(self.seed, FOR_WARM_UP);
        let (operations, popular) = (*self, self.popular());
        let mut number = 0;
        move || {
            let kind = operations.warm_up_kind(number);
            number += 1;
            match kind {
                Operation::Insert => absent_key(random.below(operations.keys * GAPS)),
                Operation::Delete => key(random.below(operations.keys)),
                _ => popular.draw(&mut random),
            }
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

#[cfg(test)]
mod tests {
    use super::super::Thread;
    use super::*;
    use crate::operations::ScanLengths;
    use std::collections::HashMap;

    fn operations(operation: Operation, skew: f64) -> Operations {
        Operations {
            operation,
            keys: 10_000,
            count: 50_000,
            range: 100,
            scan_lengths: ScanLengths::Fixed,
            skew,
            search_share: 0.0,
            insert_share: 0.05,
            seed: 1,
            thread: Thread::ALONE,
        }
    }

    /// How often keys come, the most popular first.
    fn popular(keys: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
        let mut times: HashMap<u64, u64> = HashMap::new();
        keys.into_iter()
            .for_each(|key| *times.entry(key).or_default() += 1);
        let mut times: Vec<_> = times.into_iter().collect();
        times.sort_unstable_by_key(|&(key, times)| (std::cmp::Reverse(times), key));
        times
    }

    #[test]
    fn keys_are_as_popular_as_zipf_says() {
        let found = popular(operations(Operation::Search, 1.0).drawn());
        let harmonic: f64 = (1..=10_000).map(|rank| 1.0 / f64::from(rank)).sum();
        for rank in [1, 2, 5] {
            let expected = 50_000.0 / harmonic / f64::from(rank);
            let times = found[rank as usize - 1].1 as f64;
            assert!(
                (times - expected).abs() < 5.0 * expected.sqrt(),
                "{rank}: {times} {expected}"
            );
        }
        let alike = popular(operations(Operation::Search, 0.0).drawn());
        assert!(alike[0].1 < 30);
    }

    #[test]
    fn popular_keys_lie_anywhere() {
        let found = popular(operations(Operation::Search, 1.0).drawn());
        let mut hundred: Vec<_> = found[..100].iter().map(|(key, _)| key / STRIDE).collect();
        hundred.sort_unstable();
        assert!(hundred[0] < 1000 && hundred[99] > 9000);
        let tenths = |share: usize| {
            hundred
                .iter()
                .filter(|&&key| key < share as u64 * 1000)
                .count()
        };
        assert!((35..65).contains(&tenths(5)));
    }

    /// Else a warm-up would bring others into caches and pool than are wanted.
    #[test]
    fn a_warm_up_has_the_same_popular_keys() {
        for operation in [Operation::Search, Operation::Scan] {
            let operations = operations(operation, 1.0);
            let measured = popular(operations.drawn());
            let mut next = operations.warm_up_keys();
            let before = popular((0..50_000).map(|_| next()));
            for rank in 0..3 {
                assert_eq!(measured[rank].0, before[rank].0);
            }
        }
    }

    #[test]
    fn scans_begin_where_enough_keys_follow() {
        for skew in [0.0, 0.5, 1.5] {
            let starts = operations(Operation::Scan, skew).drawn();
            let last = starts.iter().max().unwrap() / STRIDE;
            assert!((9_700..=9_901).contains(&last), "{skew}: {last}");
        }
    }

    #[test]
    fn a_seed_says_who_is_popular() {
        let most = |seed| {
            let operations = Operations {
                seed,
                ..operations(Operation::Search, 1.0)
            };
            popular(operations.drawn())[0].0
        };
        assert_ne!(most(1), most(2));
        assert_eq!(most(1), most(1));
    }

    #[test]
    fn searches_are_mixed_in_by_chance() {
        for operation in [Operation::Insert, Operation::Delete] {
            let mixed = Operations {
                count: 5000,
                search_share: 0.3,
                ..operations(operation, 1.2)
            };
            assert!(mixed.check().is_ok());
            let numbered: Vec<_> = mixed.numbers().zip(mixed.drawn()).collect();
            assert_eq!(numbered.len(), 5000);
            let (searched, changed): (Vec<_>, Vec<_>) = numbered
                .into_iter()
                .partition(|&(number, _)| mixed.kind(number) == Operation::Search);
            assert!((1350..1650).contains(&searched.len()), "{}", searched.len());
            // Popular keys of the index are searched for; no key is changed twice.
            let searched = popular(searched.into_iter().map(|(_, key)| key));
            assert!(searched.iter().all(|(key, _)| key % STRIDE == 0));
            assert!(searched[0].1 > 100, "{:?}", searched[0]);
            let changed = popular(changed.into_iter().map(|(_, key)| key));
            assert_eq!(changed[0].1, 1);
            let is_of_index = changed[0].0 % STRIDE == 0;
            assert_eq!(is_of_index, operation == Operation::Delete);
            // Before them, too.
            let mut next = mixed.warm_up_keys();
            let before = popular((0..5000).map(|_| next()));
            assert_eq!(before[0].0, searched[0].0);
        }
    }

    #[test]
    fn threads_have_the_keys_of_all_together() {
        let all = Operations {
            count: 1000,
            search_share: 0.5,
            ..operations(Operation::Insert, 0.0)
        };
        let together: Vec<u64> = all.drawn();
        let mut of_threads: Vec<_> = (0..3)
            .map(|number| Operations {
                thread: Thread { number, of: 3 },
                ..all
            })
            .flat_map(|own| own.numbers().zip(own.drawn()).collect::<Vec<_>>())
            .collect();
        of_threads.sort_unstable();
        let expected: Vec<_> = (0..1000).zip(together).collect();
        assert_eq!(of_threads, expected);
    }

    /// Millions of keys take seconds, in which somebody may want to stop.
    #[test]
    fn drawing_is_stopped_by_who_watches() {
        for operation in [
            Operation::Search,
            Operation::Scan,
            Operation::Insert,
            Operation::Delete,
        ] {
            let drawn = watch::stopped(|| operations(operation, 0.0).drawn());
            assert_eq!(drawn, Err(watch::Stopped), "{operation:?}");
        }
    }

    #[test]
    fn nobody_is_popular_among_keys_that_come_once() {
        for operation in [Operation::Insert, Operation::Delete] {
            let refused = Operations {
                count: 5,
                ..operations(operation, 0.5)
            };
            assert_eq!(refused.check().unwrap_err().path, "skew");
            assert!(
                Operations {
                    skew: 0.0,
                    ..refused
                }
                .check()
                .is_ok()
            );
        }
        let error = operations(Operation::Search, 2.5).check().unwrap_err();
        assert_eq!(error.path, "skew");
    }
}
