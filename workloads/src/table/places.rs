//! Where everything of a run is in the simulated address space.

use super::output::OUTPUT_BYTES;
use super::spec::{PageLayout, TableOperation, TableWorkload};
use crate::arena::{Reservation, place};
use crate::page::Pool;
use crate::query::Reconstruction;
use crate::query::{LogBuffer, StoredDsm};
use traces::Segment;

/// Segments: the frames of each file, then what operators keep. Indexes follow.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) segments: Vec<Segment>,
    files: usize,
    page_bytes: u32,
}

impl Places {
    /// Places for files of so many frames each.
    pub(super) fn new(workload: &TableWorkload, frames: &[u32]) -> Self {
        let one = |name: &str, object_bytes| Reservation {
            name: name.into(),
            object_bytes,
            objects: 1,
        };
        let mut reservations: Vec<Reservation> = (1..)
            .zip(frames)
            .map(|(file, &frames)| {
                let name = match workload.layout {
                    PageLayout::Dsm | PageLayout::SuperColumn => format!("frames of a{file}"),
                    _ => "frames".into(),
                };
                Pool::reservation(&name, workload.page_bytes, frames)
            })
            .collect();
        let list = match (workload.layout, workload.reconstruction) {
            (PageLayout::Dsm, Reconstruction::Index) => workload.records,
            _ => 1,
        };
        reservations.extend([
            one("returned records", OUTPUT_BYTES),
            one("log buffer", LogBuffer::BYTES),
            one("list of record numbers", StoredDsm::list_bytes(list)),
        ]);
        if workload.operation == TableOperation::Scatter {
            let bytes = u64::from(frames[0]) * u64::from(workload.page_bytes);
            reservations.push(one("blocks read", bytes));
        }
        Self {
            segments: place(&reservations),
            files: frames.len(),
            page_bytes: workload.page_bytes,
        }
    }

    /// The frames of a file.
    pub(super) fn frames(&self, file: usize) -> Pool {
        Pool::of(&self.segments[file], self.page_bytes)
    }

    /// The buffer that records are returned in.
    pub(super) fn output(&self) -> u64 {
        self.segments[self.files].base
    }

    /// The log's buffer.
    pub(super) fn log(&self) -> u64 {
        self.segments[self.files + 1].base
    }

    /// The list of records of a decomposed relation.
    pub(super) fn list(&self) -> u64 {
        self.segments[self.files + 2].base
    }

    /// Blocks that are not in their pages yet.
    pub(super) fn blocks_read(&self) -> u64 {
        self.segments[self.files + 3].base
    }

    /// The first address behind all that.
    pub(super) fn end(&self) -> u64 {
        self.segments
            .last()
            .map_or(0, |last| last.base + last.size_bytes)
    }
}
