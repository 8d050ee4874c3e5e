//! Sub-partitions that stay where they are: consecutive pages of a build partition (thesis section 5.3.2).

use crate::join::joining::spec::JoinWorkload;
use crate::join::joining::sub_partitions::TABLE_BYTES_PER_TUPLE;
use std::ops::Range;

/// A slot tells their number, and each of them, by a byte.
pub(in crate::join::joining) const MOST_SUB_PARTITIONS: u64 = 255;

impl JoinWorkload {
    /// Pages of a sub-partition: as many as fit into the cache with the hash table of their tuples (equation 5.1), but at least one. Pages
    /// have as many tuples as of the mean length, if lengths differ.
    pub(in crate::join::joining) fn stationary_pages(&self) -> u64 {
        let tuples = u64::from(self.mean_format().tuples());
        let page = u64::from(self.page_bytes) + tuples * TABLE_BYTES_PER_TUPLE;
        (u64::from(self.cache_bytes) / page).max(1)
    }

    /// Sub-partitions of so many build pages.
    pub(in crate::join::joining) fn stationary_sub_partitions(&self, pages: u64) -> u64 {
        pages.div_ceil(self.stationary_pages())
    }

    /// The pages of a sub-partition.
    pub(in crate::join::joining) fn pages_of(&self, sub_partition: u64) -> Range<u64> {
        let pages = self.stationary_pages();
        sub_partition * pages..(sub_partition + 1) * pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::joining::algorithm::JoinAlgorithm;
    use crate::join::joining::tuples::Side;

    /// 76 tuples of 100 bytes with slots of 6 take a page, and 25 bytes each of hash table: 103 pages and their table fill 1 MiB.
    #[test]
    fn as_many_pages_as_fit_with_their_table() {
        let workload = JoinWorkload {
            algorithm: JoinAlgorithm::Inspector,
            build_tuples: 390_000,
            ..JoinWorkload::default()
        };
        assert_eq!(workload.partition_format().tuples(), 76);
        assert_eq!(workload.stationary_pages(), 103);
        let pages = workload.paging(0, Side::Build).pages();
        assert_eq!(workload.stationary_sub_partitions(pages), 50);
        assert_eq!(workload.pages_of(2), 206..309);
    }
}
