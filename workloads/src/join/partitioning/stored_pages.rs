//! Where the relations and their partitions lie on storage: each relation, and behind it the extents of its partitions, those of one thread
//! after the other.

use super::spec::Input;
use super::spec::PartitionWorkload;
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
        let pages = |until: u32| -> u64 {
            (0..until)
                .map(|thread| workload.input_pages(input, thread))
                .sum()
        };
        let output = |until: u32| -> u64 {
            let most = |thread| {
                Extents::most(page_bytes, partitions, workload.output_pages(input, thread))
            };
            (0..until).map(most).sum()
        };
        let first = self.next + pages(thread);
        let outputs = self.next + pages(workload.threads);
        let first_output = outputs + output(thread);
        self.next = outputs + output(workload.threads);
        let stored = workload.output == OutputPages::Stored;
        let extents = stored.then(|| Extents::new(first_output, page_bytes, partitions));
        (first, extents)
    }
}
