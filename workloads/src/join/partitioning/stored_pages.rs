//! Where the relations and their partitions lie on storage: each relation, and behind it the extents of its partitions.

use super::spec::PartitionWorkload;
use super::tuples::Input;
use crate::join::algorithm::OutputPages;
use crate::join::stored::Extents;

/// Hands out pages of storage, one relation after the other.
#[derive(Debug, Default)]
pub(super) struct StoredPages {
    next: u64,
}

impl StoredPages {
    /// The first page of a thread's part of a relation, and extents for its partitions, if they are stored.
    pub(super) fn relation(
        &mut self,
        workload: &PartitionWorkload,
        input: Input,
        thread: u32,
    ) -> (u64, Option<Extents>) {
        let (page_bytes, partitions) = (workload.page_bytes, workload.partitions);
        let first = self.next;
        let first_output = first + workload.input_pages(input, thread);
        let output = workload.output_pages(input, thread);
        self.next = first_output + Extents::most(page_bytes, partitions, output);
        let stored = workload.output == OutputPages::Stored;
        let extents = stored.then(|| Extents::new(first_output, page_bytes, partitions));
        (first, extents)
    }
}
