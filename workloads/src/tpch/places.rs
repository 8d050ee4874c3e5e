//! Where everything of a run is in the simulated address space, and the numbers of its sites.

use super::Table;
use super::spec::TpchWorkload;
use crate::arena::{Reservation, place};
use crate::page::{Frames, PageSites};
use crate::query::{Groups, JoinPlaces, LogBuffer, PARTITIONS, Site};
use traces::Segment;

/// Most groups and sums of a query: there are four groups of six sums in Query 1.
const MOST_GROUPS: u64 = 4;
const MOST_SUMS: u64 = 6;

/// Segments in the order of their addresses: the buffer pool's frames of each table, then what operators keep.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) segments: Vec<Segment>,
}

impl Places {
    /// The same for every query of a pool, a heap and pages, so that queries can share tables.
    pub(super) fn new(workload: &TpchWorkload) -> Self {
        let (page, heap) = (workload.page_bytes, workload.heap_bytes);
        let frames = workload.pool_frames();
        let one = |name: &str, object_bytes, objects| Reservation {
            name: name.into(),
            object_bytes,
            objects,
        };
        let mut reservations: Vec<_> = Table::ALL
            .map(|table| Frames::reservation(table.name(), page, frames))
            .to_vec();
        reservations.extend([
            Frames::reservation("output", page, 2 * PARTITIONS as u32),
            one("groups", Groups::bytes(1, MOST_SUMS), MOST_GROUPS),
            one("log buffer", LogBuffer::BYTES, 1),
            one("hash entries", heap, 1),
            one("hash buckets", heap, PARTITIONS as u64),
        ]);
        Self {
            segments: place(&reservations),
        }
    }

    /// First frame of a table.
    pub(super) fn table(&self, table: Table) -> u64 {
        self.segments[table as usize].base
    }

    fn after_tables(&self, number: usize) -> u64 {
        self.segments[Table::ALL.len() + number].base
    }

    /// The frame of the last page of output file `number`.
    pub(super) fn output(&self, number: u64, page_bytes: u32) -> u64 {
        self.after_tables(0) + number * u64::from(page_bytes)
    }

    /// The accumulators.
    pub(super) fn groups(&self) -> u64 {
        self.after_tables(1)
    }

    /// The log.
    pub(super) fn log(&self) -> u64 {
        self.after_tables(2)
    }

    /// The join.
    pub(super) fn join(&self, heap_bytes: u64) -> JoinPlaces {
        JoinPlaces {
            heap: self.after_tables(3),
            heap_bytes,
            directories: self.after_tables(4),
            directory_bytes: heap_bytes,
        }
    }
}

/// Names of the sites that every query has: the operators', then those of each table's pages.
pub(super) fn site_names() -> Vec<String> {
    let operators = Site::NAMES.iter().map(ToString::to_string);
    let pages = Table::ALL
        .into_iter()
        .flat_map(|table| PageSites::names(&format!("{} ", table.name()), &table.schema()));
    operators.chain(pages).collect()
}

/// Sites of a table's pages.
pub(super) fn table_sites(table: Table) -> PageSites {
    let before = Table::ALL[..table as usize].iter();
    let sites: usize = before
        .map(|table| PageSites::names("", &table.schema()).len())
        .sum();
    PageSites::from((Site::NAMES.len() + sites) as u16)
}
