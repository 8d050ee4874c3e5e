//! Which joins can run.

use super::inspector::MOST_SUB_PARTITIONS;
use super::output;
use super::spec::JoinWorkload;
use super::tuples::codes;
use crate::bounds::{LINE_BYTES, SHARE, THREADS};
use crate::join::lengths::Lengths;
use crate::join::limits::{
    CACHE_BYTES, DUPLICATES, PAGE_AHEAD, PAGE_BYTES, PARTITIONS, SWITCH_AT, TUPLES, TUPLES_AHEAD,
};
use crate::join::stored::PAGES_ASKED_AHEAD;
use crate::ranks::SKEW;
use crate::validate::WorkloadError;

/// Bytes that pointers of four bytes tell apart, and so of a partition's build tuples or cells.
const MOST_PARTITION_BYTES: u64 = 1 << 32;

impl JoinWorkload {
    /// Checks every parameter, last whether partitions are not too large.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        TUPLES.check("build_tuples", self.build_tuples)?;
        TUPLES.check("probe_tuples", self.probe_tuples)?;
        Lengths::check(
            self.tuple_lengths,
            self.shortest_tuple_bytes,
            self.tuple_bytes,
        )?;
        DUPLICATES.check("duplicates", self.duplicates)?;
        SHARE.check("match_share", self.match_share)?;
        SKEW.check("skew", self.skew)?;
        SHARE.check("false_positives", self.false_positives)?;
        SWITCH_AT.check("switch_at", self.switch_at)?;
        SHARE.check("displaced", self.displaced)?;
        TUPLES_AHEAD.check("group_size", self.group_size)?;
        TUPLES_AHEAD.check("prefetch_distance", self.prefetch_distance)?;
        CACHE_BYTES.check("cache_bytes", self.cache_bytes)?;
        PAGE_AHEAD.check("page_ahead", self.page_ahead)?;
        PAGE_AHEAD.check("output_ahead", self.output_ahead)?;
        PAGES_ASKED_AHEAD.check("pages_asked_ahead", self.pages_asked_ahead)?;
        PARTITIONS.check("partitions", self.partitions)?;
        THREADS.check("threads", self.threads)?;
        PAGE_BYTES.check("page_bytes", self.page_bytes)?;
        LINE_BYTES.check("line_bytes", self.line_bytes)?;
        if self.partitions < self.threads {
            let message = format!(
                "{}, but each of {} threads needs one; it must be at least {}",
                self.partitions, self.threads, self.threads
            );
            return Err(WorkloadError::new("partitions", message));
        }
        if output::format(self).tuples() == 0 {
            let message = format!(
                "{}; an output tuple of twice {} bytes has no room in a page of {}",
                self.tuple_bytes, self.tuple_bytes, self.page_bytes
            );
            return Err(WorkloadError::new("tuple_bytes", message));
        }
        self.sub_partitions_are_few()?;
        self.stationary_sub_partitions_are_few()?;
        self.partitions_are_small()
    }

    /// Each of them has a page in memory, and they are as many as partitions may be.
    fn sub_partitions_are_few(&self) -> Result<(), WorkloadError> {
        let (number, most) = (self.sub_partitions(), PARTITIONS.most);
        if number <= most {
            return Ok(());
        }
        let message = format!(
            "{}, which makes {number} sub-partitions of each of {} partitions; there may be {most}: take more bytes or more partitions",
            self.cache_bytes, self.partitions
        );
        Err(WorkloadError::new("cache_bytes", message))
    }

    /// Slots tell them by a byte each.
    fn stationary_sub_partitions_are_few(&self) -> Result<(), WorkloadError> {
        // The last partition is as large as any. If lengths differ, all tuples might be of the longest.
        let largest = self.share(self.build_tuples, self.partitions - 1);
        let pages = self.partition_format().pages(largest);
        let number = self.stationary_sub_partitions(pages);
        if !self.algorithm.inspects() || number <= MOST_SUB_PARTITIONS {
            return Ok(());
        }
        let message = format!(
            "{}, which makes {number} sub-partitions of each of {} partitions; there may be {MOST_SUB_PARTITIONS}: take more bytes or more partitions",
            self.cache_bytes, self.partitions
        );
        Err(WorkloadError::new("cache_bytes", message))
    }

    fn partitions_are_small(&self) -> Result<(), WorkloadError> {
        // The last partition is as large as any.
        let last = self.partitions - 1;
        let largest = self
            .share(self.build_tuples, last)
            .max(self.share(self.probe_tuples, last))
            + 1;
        let keys = 2 * largest;
        // The open pages of sub-partitions, too, are where pointers lead.
        let open = self.sub_pages(0) * u64::from(self.page_bytes);
        let bytes = largest * u64::from(2 * self.tuple_bytes.max(16)) + open;
        if keys <= codes(self.partitions) && bytes <= MOST_PARTITION_BYTES {
            return Ok(());
        }
        let message = format!(
            "{}, which makes partitions of {largest} tuples; one may hold {} of so many bytes: take more partitions",
            self.partitions,
            (codes(self.partitions) / 2)
                .min(MOST_PARTITION_BYTES / u64::from(2 * self.tuple_bytes.max(16)))
        );
        Err(WorkloadError::new("partitions", message))
    }
}
