//! What the filters of the partition phase have found: in which sub-partitions a probe tuple may have matches.

use super::spots::{Room, Spot};
use crate::join::joining::sites::Site;
use crate::join::joining::spec::JoinWorkload;
use crate::join::joining::tuples::{Side, Tuples};
use crate::join::paging::Paging;
use crate::join::tuple::Source;
use crate::random::Random;
use crate::tracer::{Dep, Trace};
use crate::watch;
use traces::OpClass;

/// Random choices are made below this: a probability's digits.
const CERTAIN: u64 = 1 << 53;

/// The filters of a partition, a sub-partition's each.
#[derive(Debug)]
pub(in crate::join::joining) struct Filters {
    /// All probe tuples, also those that no filter lets pass.
    pub(super) probe: Tuples,
    /// By place of a build tuple: its sub-partition. Tuples of one key are together.
    sub_partitions: Vec<u8>,
    number: u8,
    /// Build tuples of the largest sub-partition.
    largest: u64,
    duplicates: u64,
    /// How many of `CERTAIN` keys that are not there pass.
    false_positives: u64,
    seed: u64,
    partition: u32,
}

/// What of a partition has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::join::joining) struct Passed {
    /// Pages of probe tuples.
    pub(in crate::join::joining) pages: u64,
    /// By sub-partition: its probe tuples.
    pub(in crate::join::joining) tuples: Vec<u64>,
    /// Build tuples of the largest sub-partition.
    pub(in crate::join::joining) largest: u64,
    /// Probe tuples of all sub-partitions, each once.
    all: u64,
}

impl Passed {
    /// Whether tuples match so many sub-partitions that the partition is to be partitioned again: whole ones, on average.
    pub(in crate::join::joining) fn switches(&self, workload: &JoinWorkload) -> bool {
        let sum: u64 = self.tuples.iter().sum();
        let average = sum.checked_div(self.all).unwrap_or(0);
        workload.algorithm.repartitions() && average >= workload.switch_at.into()
    }

    /// Adds up the counts of all sub-partitions, divides the sum by the number of tuples, and chooses (thesis section 5.6.5).
    pub(in crate::join::joining) fn choose<T: Trace>(
        &self,
        trace: &mut T,
        workload: &JoinWorkload,
    ) -> bool {
        let switches = self.switches(workload);
        if workload.algorithm.repartitions() {
            trace.work(self.tuples.len() as u32);
            let average = trace.op(Site::Average, OpClass::Divide, Dep::NONE);
            trace.branch(Site::IsSwitched, switches, average.after(0));
        }
        switches
    }
}

impl Filters {
    pub(in crate::join::joining) fn new(workload: &JoinWorkload, partition: u32) -> Self {
        let build = Tuples::new(workload, partition, Side::Build);
        let mut sub_partitions = vec![0; build.count() as usize];
        let paging = Paging::new(workload.partition_format(), &build);
        let number = workload.stationary_sub_partitions(paging.pages());
        let mut largest = 0;
        for sub_partition in 0..number {
            let pages = workload.pages_of(sub_partition);
            let pages = pages.start..pages.end.min(paging.pages());
            let (first, tuples) = (paging.first(pages.start), |page| {
                u64::from(paging.on_page(page))
            });
            let tuples = pages.map(tuples).sum::<u64>();
            largest = largest.max(tuples);
            for number in first..first + tuples {
                watch::look_at(number);
                sub_partitions[build.place(number) as usize] = sub_partition as u8;
            }
        }
        Self {
            probe: Tuples::new(workload, partition, Side::Probe),
            sub_partitions,
            number: number as u8,
            largest,
            duplicates: workload.duplicates.into(),
            false_positives: (workload.false_positives * CERTAIN as f64) as u64,
            seed: workload.seed,
            partition,
        }
    }

    /// Tests a key against all filters: those of the sub-partitions that it is in, and some others, are positive.
    fn test(&self, key: u64, positive: &mut Vec<u8>) {
        let tuples = self.sub_partitions.len() as u64;
        let place = |key: u64| (key * self.duplicates).min(tuples) as usize;
        let mut holds = [false; 1 << u8::BITS];
        for &sub_partition in &self.sub_partitions[place(key)..place(key + 1)] {
            holds[usize::from(sub_partition)] = true;
        }
        // Filters know keys, and so all tuples of a key fare alike.
        let mut random = Random::new(self.seed, u64::from(self.partition + 1) << 32 | key);
        positive.clear();
        let positives = (0..self.number).filter(|&one| {
            let mistaken = random.below(CERTAIN) < self.false_positives;
            mistaken || holds[usize::from(one)]
        });
        positive.extend(positives);
    }

    /// Goes through the probe tuples that pass: their numbers, where they and their slots lie, and their sub-partitions.
    pub(super) fn each_passed(
        &self,
        workload: &JoinWorkload,
        mut take: impl FnMut(u64, Spot, &[u8]),
    ) {
        let mut room = Room::of_page(workload, 0);
        let mut positive = Vec::new();
        for number in 0..self.probe.count() {
            watch::look_at(number);
            self.test(self.probe.key(number), &mut positive);
            if !positive.is_empty() {
                let bytes = self.probe.bytes(number);
                let spot = room.take(workload, bytes, positive.len());
                take(number, spot, &positive);
            }
        }
    }

    /// How many tuples pass, and the pages that they take.
    pub(in crate::join::joining) fn passed(&self, workload: &JoinWorkload) -> Passed {
        let mut passed = Passed {
            pages: 0,
            tuples: vec![0; self.number.into()],
            largest: self.largest,
            all: 0,
        };
        self.each_passed(workload, |_, spot, sub_partitions| {
            passed.pages = spot.page + 1;
            passed.all += 1;
            for &one in sub_partitions {
                passed.tuples[usize::from(one)] += 1;
            }
        });
        passed
    }
}
