//! How many filters there are, and how large they are.

use super::spec::Input;
use super::spec::{Filtering, PartitionWorkload};
use crate::join::algorithm::PassAlgorithm;
use crate::join::filter::{MOST_FILTERS, Merge, bits_for};

/// Bytes of a hash table for every key, H in equation 5.1: a bucket's header, and cell arrays, where there are as many buckets as keys.
const TABLE_BYTES: u32 = 16 + 9;

impl PartitionWorkload {
    /// Pages of a sub-partition, K: as many as fit into the cache with their hash table (equation 5.1), or one.
    pub(super) fn pages_per_filter(&self) -> u32 {
        let page = self.page_bytes + self.tuples_on_page() * TABLE_BYTES;
        (self.cache_bytes / page).max(1)
    }

    /// Build tuples on a page, n; of the mean length, if lengths differ.
    fn tuples_on_page(&self) -> u32 {
        let format = self.output_format().of_length(self.lengths().mean());
        self.slots(Input::Build).tuples(format, 0)
    }

    /// Those at least.
    fn least_tuples_on_page(&self) -> u32 {
        self.slots(Input::Build).tuples(self.output_format(), 0)
    }

    /// Tuples of a build partition that a thread puts there, on average.
    fn tuples_of_partition(&self) -> u64 {
        let parts = u64::from(self.threads) * u64::from(self.partitions);
        self.tuples.div_ceil(parts)
    }

    /// Build tuples that a filter is made for: all of them, or those of a sub-partition. What a thread's partition holds is known beforehand,
    /// and may be less.
    fn keys_of_filter(&self) -> u64 {
        match self.filter {
            Filtering::Multiple => {
                let pages = u64::from(self.pages_per_filter());
                (pages * u64::from(self.tuples_on_page())).min(self.tuples_of_partition())
            }
            Filtering::None | Filtering::Single => self.tuples,
        }
    }

    /// Bits of a filter, which may be more than can be.
    pub(super) fn wanted_filter_bits(&self) -> f64 {
        bits_for(
            self.keys_of_filter(),
            self.false_positive_rate,
            self.line_bytes,
        )
    }

    pub(super) fn filter_bits(&self) -> u32 {
        self.wanted_filter_bits() as u32
    }

    /// Filters of a partition, S, if its tuples are as many as on average.
    pub(super) fn expected_filters(&self) -> u64 {
        let keys = u64::from(self.pages_per_filter()) * u64::from(self.tuples_on_page());
        u64::from(self.threads) * self.tuples_of_partition().div_ceil(keys)
    }

    /// Filters that a partition may have: as many as there are ids, and as a line has bits.
    pub(super) fn most_filters(&self) -> u32 {
        match self.filter {
            Filtering::Multiple => MOST_FILTERS.min(self.line_bytes * u8::BITS),
            Filtering::None | Filtering::Single => 0,
        }
    }

    /// Those of them that are a thread's.
    pub(super) fn own_filters(&self) -> u32 {
        self.most_filters() / self.threads
    }

    /// Filters of a thread at most, of all partitions together.
    pub(super) fn filters_of_thread(&self) -> u32 {
        match self.filter {
            Filtering::None => 0,
            Filtering::Single => 1,
            Filtering::Multiple => {
                // Each partition's last one need not be full, and tuples out of order begin with pages of their own.
                let last = 1 + u64::from(self.looks_for_order());
                let tuples = self.tuples.div_ceil(self.threads.into());
                let least = self.least_tuples_on_page();
                let keys = u64::from(self.pages_per_filter()) * u64::from(least);
                let most = u64::from(self.own_filters()) * u64::from(self.partitions);
                (tuples / keys + last * u64::from(self.partitions)).min(most) as u32
            }
        }
    }

    /// Whether lines of filters are prefetched where the next ones are known.
    pub(super) fn filters_ahead(&self) -> bool {
        self.algorithm != PassAlgorithm::Grace
    }

    /// Whether there are filters to be merged.
    pub(super) fn merges(&self) -> bool {
        self.filter == Filtering::Single && self.threads > 1
    }

    /// How the filters of threads become one, which lies at an address.
    pub(super) fn merge(&self, base: u64) -> Merge {
        Merge {
            base,
            bits: self.filter_bits(),
            threads: self.threads,
            line_bytes: self.line_bytes,
            ahead: self.filters_ahead(),
        }
    }
}
