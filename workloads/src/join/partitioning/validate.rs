//! Which partitioning can run.

use super::spec::{Filtering, PartitionWorkload};
use crate::bounds::{LINE_BYTES, SHARE, THREADS};
use crate::join::filter::MOST_BITS;
use crate::join::lengths::Lengths;
use crate::join::limits::{
    CACHE_BYTES, DUPLICATES, FALSE_POSITIVES, ORDER_BUFFER_PAGES, PAGE_AHEAD, PAGE_BYTES,
    PARTITIONS, SWITCH_AT, TUPLES, TUPLES_AHEAD,
};
use crate::join::stored::PAGES_ASKED_AHEAD;
use crate::validate::WorkloadError;

impl PartitionWorkload {
    /// Checks every parameter.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        TUPLES.check("tuples", self.tuples)?;
        PARTITIONS.check("partitions", self.partitions)?;
        TUPLES.check("probe_tuples", self.probe_tuples)?;
        SHARE.check("match_share", self.match_share)?;
        FALSE_POSITIVES.check("false_positive_rate", self.false_positive_rate)?;
        SWITCH_AT.check("switch_at", self.switch_at)?;
        DUPLICATES.check("duplicates", self.duplicates)?;
        SHARE.check("displaced", self.displaced)?;
        ORDER_BUFFER_PAGES.check("order_buffer_pages", self.order_buffer_pages)?;
        CACHE_BYTES.check("cache_bytes", self.cache_bytes)?;
        Lengths::check(
            self.tuple_lengths,
            self.shortest_tuple_bytes,
            self.tuple_bytes,
        )?;
        TUPLES_AHEAD.check("group_size", self.group_size)?;
        TUPLES_AHEAD.check("prefetch_distance", self.prefetch_distance)?;
        PAGE_AHEAD.check("page_ahead", self.page_ahead)?;
        PAGES_ASKED_AHEAD.check("pages_asked_ahead", self.pages_asked_ahead)?;
        THREADS.check("threads", self.threads)?;
        PAGE_BYTES.check("page_bytes", self.page_bytes)?;
        LINE_BYTES.check("line_bytes", self.line_bytes)?;
        self.filters_are_few()?;
        self.filters_are_small()
    }

    /// An id is a byte, and a row of all filters of a partition is in one line; each thread has filters of its own.
    fn filters_are_few(&self) -> Result<(), WorkloadError> {
        if self.filter != Filtering::Multiple {
            return Ok(());
        }
        let (number, most) = (self.expected_filters(), u64::from(self.most_filters()));
        if number > most {
            let message = format!(
                "{}, which makes {number} sub-partitions of each with filters of {} threads; there may be {most}: take more partitions or fewer threads",
                self.partitions, self.threads
            );
            return Err(WorkloadError::new("partitions", message));
        }
        Ok(())
    }

    fn filters_are_small(&self) -> Result<(), WorkloadError> {
        let bits = self.wanted_filter_bits();
        if self.filter == Filtering::None || bits <= MOST_BITS {
            return Ok(());
        }
        let message = format!(
            "{}, which makes a filter of {bits:.0} bits; it may have {MOST_BITS:.0}: take a higher rate or fewer tuples",
            self.false_positive_rate
        );
        Err(WorkloadError::new("false_positive_rate", message))
    }
}
