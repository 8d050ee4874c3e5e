//! Which tuples a partition holds: computed from their numbers, so that nobody has to keep them.

use super::spec::{JoinWorkload, MatchedKeys};
use crate::join::hash::key_of;
use crate::join::lengths::Drawn;
use crate::join::nearly_sorted::{TupleOrder, nearly_sorted};
use crate::join::tuple::{Source, Tuple};
use crate::permutation::Permutation;
use crate::ranks::Ranks;
use std::sync::OnceLock;

/// What the random orders are for; each partition has its own.
const FOR_CODES: u64 = 1;
const FOR_BUILD: u64 = 2;
const FOR_PROBE: u64 = 3;
const PURPOSES: u64 = 4;
/// Purpose of the first random key of a partition: they are fewer than this.
const FOR_RANKS: u64 = 1 << 32;

/// Which of the two inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Build,
    Probe,
}

/// The tuples of one partition of a relation.
///
/// Its keys are those whose hash codes have the partition's number as remainder: the first of them, in a random order, belong to build
/// tuples, and of those the first ones to probe tuples, too. Keys of probe tuples without matches come behind all of these.
#[derive(Clone, Debug)]
pub(super) struct Tuples {
    side: Side,
    partition: u32,
    partitions: u32,
    /// Tuples there are.
    count: u64,
    duplicates: u64,
    /// Keys of build tuples, and those among them that have matches.
    build_keys: u64,
    matching_keys: u64,
    /// Probe tuples that have matches.
    matching: u64,
    /// Which of the matching keys each of them has, if not all are alike.
    ranks: Option<Ranks>,
    /// The order of hash codes, and that of the tuples.
    codes: Permutation,
    order: Order,
    lengths: Drawn,
}

/// In which order tuples are.
#[derive(Clone, Debug)]
enum Order {
    Random(Permutation),
    /// By their keys, but for a share of them. The list is made when it is first asked for.
    NearlySorted {
        displaced: f64,
        seed: u64,
        list: OnceLock<Vec<u32>>,
    },
}

impl Tuples {
    /// Those of one side of a partition.
    pub(super) fn new(workload: &JoinWorkload, partition: u32, side: Side) -> Self {
        let build = workload.share(workload.build_tuples, partition);
        let probe = workload.share(workload.probe_tuples, partition);
        let duplicates = u64::from(workload.duplicates);
        let build_keys = build.div_ceil(duplicates);
        let matching_keys = match workload.matched_keys {
            // Where tuples have matches, some key has.
            MatchedKeys::Share => {
                rounded(build_keys, workload.match_share).clamp(1, build_keys.max(1))
            }
            MatchedKeys::All => build_keys,
        };
        let (matching, passed) = if build > 0 {
            matching_and_passed(workload, partition)
        } else {
            (0, rounded(probe, workload.false_positives))
        };
        let (count, purpose) = match side {
            Side::Build => (build, FOR_BUILD),
            // What an inspector's filters let pass depends on the build tuples (`inspector/`).
            Side::Probe if workload.algorithm.inspects() => (probe, FOR_PROBE),
            Side::Probe => (matching + passed, FOR_PROBE),
        };
        let order = |bound, purpose| {
            Permutation::new(
                bound,
                workload.seed,
                u64::from(partition) * PURPOSES + purpose,
            )
        };
        Self {
            side,
            partition,
            partitions: workload.partitions,
            count,
            duplicates,
            build_keys,
            matching_keys,
            matching,
            ranks: (workload.skew > 0.0 && matching > 0).then(|| {
                let purpose = (u64::from(partition) + 1) * FOR_RANKS;
                Ranks::new(matching_keys, workload.skew, workload.seed, purpose)
            }),
            codes: order(codes(workload.partitions), FOR_CODES),
            lengths: Drawn::new(
                workload.lengths(),
                (workload.seed, number_of(partition, side)),
            ),
            order: match workload.order {
                TupleOrder::Random => Order::Random(order(count, purpose)),
                TupleOrder::NearlySorted => Order::NearlySorted {
                    displaced: workload.displaced,
                    seed: workload.seed,
                    list: OnceLock::new(),
                },
            },
        }
    }

    /// The place of a tuple among those of its side; build tuples of one key are together.
    pub(super) fn place(&self, number: u64) -> u64 {
        match &self.order {
            Order::Random(order) => order.at(number),
            Order::NearlySorted {
                displaced,
                seed,
                list,
            } => {
                let side = number_of(self.partition, self.side);
                let key = |place| key_of(self.code(self.key_at(place)));
                let make = || nearly_sorted(self.count, key, *displaced, (*seed, side));
                list.get_or_init(make)[number as usize].into()
            }
        }
    }

    /// The number of a tuple's key: build tuples have the first ones.
    pub(super) fn key(&self, number: u64) -> u64 {
        self.key_at(self.place(number))
    }

    /// The keys of all tuples, one after the other.
    pub(super) fn keys(&self) -> impl Iterator<Item = u32> {
        (0..self.count).map(|number| self.at(number).key)
    }

    /// The hash code of a key.
    fn code(&self, key: u64) -> u32 {
        (self.codes.at(key) * u64::from(self.partitions)) as u32 + self.partition
    }

    fn key_at(&self, place: u64) -> u64 {
        match self.side {
            Side::Build => place / self.duplicates,
            Side::Probe if place < self.matching => match &self.ranks {
                Some(ranks) => ranks.at(place),
                None => place % self.matching_keys,
            },
            Side::Probe => self.build_keys + place - self.matching,
        }
    }
}

/// Tells the sides of all partitions apart.
fn number_of(partition: u32, side: Side) -> u64 {
    2 * u64::from(partition) + u64::from(side == Side::Probe)
}

/// Probe tuples of a partition that have matches, and those without that the partition's one filter let pass.
///
/// Both are rounded for this partition and those before it together: else small partitions would all lose or gain as much.
fn matching_and_passed(workload: &JoinWorkload, partition: u32) -> (u64, u64) {
    let before = |partition| {
        let all = workload.before(workload.probe_tuples, partition);
        let matching = rounded(all, workload.match_share);
        let passed = rounded(all - matching, workload.false_positives);
        (matching, passed)
    };
    let (first, next) = (before(partition), before(partition + 1));
    (next.0 - first.0, next.1 - first.1)
}

/// So large a share of them, to the nearest whole number.
fn rounded(all: u64, share: f64) -> u64 {
    (all as f64 * share).round() as u64
}

impl Source for Tuples {
    fn count(&self) -> u64 {
        self.count
    }

    fn bytes(&self, number: u64) -> u32 {
        self.lengths.of(number)
    }

    fn at(&self, number: u64) -> Tuple {
        let code = self.code(self.key(number));
        Tuple {
            code,
            key: key_of(code),
            number: number as u32,
            bytes: self.bytes(number),
        }
    }
}

/// Hash codes that each partition has at least.
pub(super) fn codes(partitions: u32) -> u64 {
    (1 << 32) / u64::from(partitions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::hash::hash;
    use std::collections::{BTreeMap, BTreeSet};

    /// Tuples of each key of a side, and the partitions that they are in.
    fn keys(workload: &JoinWorkload, side: Side) -> BTreeMap<u32, u32> {
        let mut keys = BTreeMap::new();
        for partition in 0..workload.partitions {
            let tuples = Tuples::new(workload, partition, side);
            for number in 0..tuples.count() {
                let tuple = tuples.at(number);
                assert_eq!(tuple.code, hash(tuple.key));
                assert_eq!(tuple.code % workload.partitions, partition);
                *keys.entry(tuple.key).or_default() += 1;
            }
        }
        keys
    }

    #[test]
    fn skewed_probe_tuples_match_as_often_and_some_keys_oftener() {
        let workload = JoinWorkload {
            build_tuples: 1000,
            probe_tuples: 4000,
            match_share: 0.5,
            partitions: 2,
            skew: 1.0,
            ..JoinWorkload::default()
        };
        let (build, probe) = (keys(&workload, Side::Build), keys(&workload, Side::Probe));
        let matching = || probe.iter().filter(|(key, _)| build.contains_key(key));
        assert_eq!(matching().map(|(_, tuples)| tuples).sum::<u32>(), 2000);
        // Of 250 matching keys of a partition, with 1000 probe tuples, the first has 1 / 6.1 by Zipf's law.
        let most = matching().map(|(_, &tuples)| tuples).max().unwrap();
        assert!((130..200).contains(&most), "{most}");
        assert!(matching().count() < 500);
    }

    #[test]
    fn matches_are_as_many_as_asked_in_partitions_of_a_few_tuples() {
        // Each partition alone would round to none or to all.
        for (build_tuples, duplicates, partitions, match_share, passed) in [
            (1000, 1, 1000, 0.4, 0.3),
            (1000, 1000, 1, 0.4, 1.0),
            (1000, 1, 1000, 0.6, 0.0),
            (1000, 1, 500, 0.3, 0.5),
        ] {
            let workload = JoinWorkload {
                build_tuples,
                probe_tuples: 1000,
                duplicates,
                match_share,
                partitions,
                false_positives: passed,
                ..JoinWorkload::default()
            };
            let (build, probe) = (keys(&workload, Side::Build), keys(&workload, Side::Probe));
            let found = |(key, tuples): (&u32, &u32)| build.contains_key(key).then_some(*tuples);
            let matching = probe.iter().filter_map(found).sum::<u32>();
            let without = probe.values().sum::<u32>() - matching;
            assert_eq!(f64::from(matching), 1000.0 * match_share);
            let expected = 1000.0 * (1.0 - match_share) * passed;
            assert_eq!(f64::from(without), expected.round());
        }
    }

    #[test]
    fn matches_are_as_many_as_asked() {
        let workload = JoinWorkload {
            build_tuples: 1000,
            probe_tuples: 2000,
            duplicates: 4,
            match_share: 0.5,
            partitions: 5,
            ..JoinWorkload::default()
        };
        let (build, probe) = (keys(&workload, Side::Build), keys(&workload, Side::Probe));
        assert!(build.len() == 250 && build.values().all(|&tuples| tuples == 4));
        let both: BTreeSet<_> = build.keys().filter(|key| probe.contains_key(key)).collect();
        assert_eq!(both.len(), 125);
        assert!(both.iter().all(|key| probe[key] == 8));
        assert_eq!(probe.len(), 125 + 1000, "no key twice without a match");
    }
}
