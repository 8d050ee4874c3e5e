//! How many probe tuples each sub-partition has: the join phase makes arrays of them, and whether keys are duplicates is seen from it.

use crate::arena::{Arena, Far};
use crate::join::filter::{Row, Site};
use crate::place::Place;
use crate::tracer::{Dep, Trace};
use crate::word::Word;
use traces::OpClass;

/// A thread's counts.
#[derive(Debug)]
pub(super) struct Counts {
    memory: Arena<Far>,
    base: u64,
    /// Sub-partitions of a partition at most; none if nothing is counted.
    most: u32,
    /// All counts together.
    sum: u64,
    /// By partition: tuples that were counted, which whoever fills its pages knows.
    tuples: Vec<u64>,
}

impl Counts {
    /// Those of so many partitions, from an address on.
    pub(super) fn new(base: u64, partitions: u32, most: u32) -> Self {
        Self {
            memory: Arena::of(base, bytes(partitions, most)),
            base,
            most,
            sum: 0,
            tuples: vec![0; partitions as usize],
        }
    }

    fn word(&self, partition: u32, id: u32) -> Place<u32> {
        Place::new(0, self.base).element((partition * self.most + id) as usize)
    }

    /// Counts a probe tuple in sub-partitions of its partition, when these are known.
    pub(super) fn count<T: Trace>(&mut self, trace: &mut T, partition: u32, ids: Row, known: Dep) {
        self.tuples[partition as usize] += 1;
        for id in ids.ids() {
            let place = self.word(partition, id.into());
            let count = self.memory.load(trace, Site::Counted, place, known);
            let (more, counted) = (count.value + 1, count.token.after(1));
            self.memory
                .store(trace, Site::CountedChange, place, more, counted);
            self.sum += 1;
        }
    }

    /// Adds up the counts of a partition's sub-partitions: by their average over probe tuples one sees whether build keys are
    /// duplicates (thesis section 5.6.5). Returns the sum and the tuples.
    pub(super) fn add_up<T: Trace>(
        &self,
        trace: &mut T,
        partition: u32,
        filters: u32,
    ) -> (u64, u64) {
        let (mut last, mut sum) = (Dep::NONE, 0);
        for id in 0..filters {
            let place = self.word(partition, id);
            let count = self.memory.load(trace, Site::Counted, place, Dep::NONE);
            trace.work(1);
            last = count.token.after(1);
            sum += u64::from(count.value);
        }
        trace.op(Site::Duplicates, OpClass::Divide, last);
        (sum, self.tuples[partition as usize])
    }

    /// All counts together.
    pub(super) fn sum(&self) -> u64 {
        self.sum
    }
}

/// Bytes of the counts of so many partitions.
pub(super) fn bytes(partitions: u32, most: u32) -> u64 {
    u64::from(partitions) * u64::from(most) * u32::BYTES as u64
}
