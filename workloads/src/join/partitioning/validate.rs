//! Which partitioning can run.

use super::spec::PartitionWorkload;
use crate::bounds::LINE_BYTES;
use crate::join::limits::{
    PAGE_AHEAD, PAGE_BYTES, PARTITIONS, THREADS, TUPLE_BYTES, TUPLES, TUPLES_AHEAD, whole_words,
};
use crate::validate::WorkloadError;

impl PartitionWorkload {
    /// Checks every parameter.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        TUPLES.check("tuples", self.tuples)?;
        PARTITIONS.check("partitions", self.partitions)?;
        TUPLE_BYTES.check("tuple_bytes", self.tuple_bytes)?;
        TUPLES_AHEAD.check("group_size", self.group_size)?;
        TUPLES_AHEAD.check("prefetch_distance", self.prefetch_distance)?;
        PAGE_AHEAD.check("page_ahead", self.page_ahead)?;
        THREADS.check("threads", self.threads)?;
        PAGE_BYTES.check("page_bytes", self.page_bytes)?;
        LINE_BYTES.check("line_bytes", self.line_bytes)?;
        whole_words(self.tuple_bytes)
    }
}
