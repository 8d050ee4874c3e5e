//! Cache partitioning (thesis section 4.7.5): a partition is partitioned again in memory, so that the caches hold a part of it.

use super::spec::JoinWorkload;
use super::table::HEADER_BYTES;
use crate::arena::{Arena, Far};
use crate::join::algorithm::Order;
use crate::join::buffers::{BufferPlaces, BufferSpec, Buffers};
use crate::join::distribute::Distribute;
use crate::join::pages::PageFormat;
use crate::join::relation::Relation;
use crate::join::scan::Inputs;
use crate::shared::fence;
use crate::tracer::Trace;

/// Bytes of cell arrays that a build tuple takes on average, where there are as many buckets as keys, and of the table in all.
const CELLS_PER_TUPLE: u64 = 9;
pub(super) const TABLE_BYTES_PER_TUPLE: u64 = HEADER_BYTES + CELLS_PER_TUPLE;

impl JoinWorkload {
    /// Sub-partitions of each partition; one if they are not partitioned again.
    ///
    /// At least so many that the largest build partition's share and its hash table fit into the cache, and relatively prime to the number
    /// of partitions. All hash codes of a partition have one remainder by that number, and so they fill all sub-partitions. Hash codes need
    /// not be divided twice.
    pub(super) fn sub_partitions(&self) -> u32 {
        if !self.algorithm.repartitions() {
            return 1;
        }
        let format = self.sub_format().of_length(self.lengths().mean());
        let page_share = u64::from(self.page_bytes).div_ceil(format.tuples().max(1).into());
        let tuple = page_share + TABLE_BYTES_PER_TUPLE;
        // The last partition is as large as any.
        let largest = self.share(self.build_tuples, self.partitions - 1);
        let least = (largest * tuple).div_ceil(self.cache_bytes.into()).max(1);
        let mut candidate = u32::try_from(least).unwrap_or(u32::MAX / 2);
        while !relatively_prime(candidate, self.partitions) {
            candidate += 1;
        }
        candidate
    }

    /// Pages that the sub-partitions of so many tuples take at most: those that are full, and one of each.
    pub(super) fn sub_pages(&self, tuples: u64) -> u64 {
        if !self.algorithm.repartitions() {
            return 0;
        }
        tuples / u64::from(self.sub_format().tuples()) + u64::from(self.sub_partitions())
    }

    /// What pages of sub-partitions look like.
    fn sub_format(&self) -> PageFormat {
        PageFormat::new(self.page_bytes, self.lengths()).with_codes()
    }

    fn sub_buffers(&self) -> BufferSpec {
        let in_groups = self.repartitioning_order().algorithm.interleaves();
        BufferSpec {
            format: self.sub_format(),
            partitions: self.sub_partitions(),
            reused: false,
            // In groups, each tuple's place is prefetched.
            whole_pages: !in_groups,
            // Nobody waits in a pipeline.
            waiting_closes: false,
            non_temporal: self.non_temporal && in_groups,
            line_bytes: self.line_bytes,
        }
    }
}

/// Whether no number but 1 divides both.
fn relatively_prime(one: u32, other: u32) -> bool {
    let (mut greater, mut smaller) = (one, other);
    while smaller != 0 {
        (greater, smaller) = (smaller, greater % smaller);
    }
    greater == 1
}

/// Memory for the sub-partitions of one side, of one partition after the other.
#[derive(Debug)]
pub(super) struct SubPartitions {
    spec: BufferSpec,
    places: BufferPlaces,
    /// Nobody's, unless a partition's sub-partitions are in it.
    memory: Option<Arena<Far>>,
}

impl SubPartitions {
    pub(super) fn new(workload: &JoinWorkload, places: BufferPlaces) -> Self {
        let spec = workload.sub_buffers();
        Self {
            memory: Some(places.memory(spec.format)),
            spec,
            places,
        }
    }

    fn buffers(&mut self) -> Buffers {
        let memory = self.memory.take();
        let memory = memory.unwrap_or_else(|| self.places.memory(self.spec.format));
        Buffers::new(self.spec, self.places, memory)
    }

    /// Touches the memory: for a native run, which is not to wait for the operating system.
    pub(super) fn touch(&mut self) {
        let mut buffers = self.buffers();
        buffers.touch();
        self.memory = Some(buffers.into_pages().0);
    }

    /// Partitions a partition again. Returns a relation for its sub-partitions, and the pages of each.
    pub(super) fn fill<T: Trace, I: Inputs>(
        &mut self,
        trace: &mut T,
        order: Order,
        (from, inputs): (&mut Relation, &mut I),
        states: u64,
    ) -> (Relation, Vec<Vec<u32>>) {
        let mut buffers = self.buffers();
        buffers.open(trace);
        let mut distribute = Distribute {
            buffers: &mut buffers,
            interleaved: order.algorithm.interleaves(),
        };
        order.go_through_inputs(&mut distribute, trace, (from, inputs), states);
        if self.spec.non_temporal {
            fence::<T>();
        }
        let (memory, pages) = buffers.into_pages();
        let relation = Relation::written(self.spec.format, memory, self.places.first_page);
        (relation, pages)
    }

    /// Takes the memory back when all sub-partitions have been joined.
    pub(super) fn take_back(&mut self, relation: Relation) {
        self.memory = Some(relation.into_memory());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::joining::algorithm::JoinAlgorithm;
    use crate::join::joining::tuples::{Side, Tuples};
    use crate::join::tuple::Source;

    fn of(partitions: u32, cache_bytes: u32) -> JoinWorkload {
        JoinWorkload {
            algorithm: JoinAlgorithm::CachePartitioning,
            build_tuples: 60_000,
            partitions,
            cache_bytes,
            ..JoinWorkload::default()
        }
    }

    /// Of 100 bytes, 76 tuples take a page: 133 bytes each, with header and cells.
    #[test]
    fn sub_partitions_fit_into_the_cache_and_fill_evenly() {
        for (partitions, cache_bytes, number) in [(1, 1 << 20, 8), (4, 1 << 20, 3), (6, 1 << 18, 7)]
        {
            let workload = of(partitions, cache_bytes);
            assert_eq!(workload.sub_partitions(), number);
            let tuples = Tuples::new(&workload, partitions - 1, Side::Build);
            let mut filled = vec![0; number as usize];
            for place in 0..tuples.count() {
                filled[(tuples.at(place).code % number) as usize] += 1;
            }
            let fair = tuples.count() / u64::from(number);
            assert!(
                filled
                    .iter()
                    .all(|&one| 10 * one > 9 * fair && 10 * one < 11 * fair),
                "{filled:?}"
            );
        }
        assert_eq!(JoinWorkload::default().sub_partitions(), 1);
    }
}
