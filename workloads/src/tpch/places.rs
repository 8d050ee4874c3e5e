//! Where everything of a run is in the simulated address space, and the numbers of its sites.

use super::Table;
use super::queries::PRICING;
use super::spec::{TableLayout, TpchWorkload};
use crate::arena::{Reservation, place};
use crate::page::{Dsm, PageSites, Pool};
use crate::query::Reconstruction;
use crate::query::{Groups, JoinPlaces, LogBuffer, PARTITIONS, Site, StoredDsm};
use std::ops::Range;
use traces::Segment;

/// Most groups of a query, and most sums of a group: those of Query 1.
const MOST_GROUPS: u64 = 4;
const MOST_SUMS: u64 = PRICING.len() as u64;

/// Segments in the order of their addresses: the buffer pool's frames of each table, then what operators keep.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) segments: Vec<Segment>,
    page_bytes: u32,
}

impl Places {
    /// The same for every query of a pool, a heap and pages, so that queries can share tables.
    pub(super) fn new(workload: &TpchWorkload) -> Self {
        let (page, heap) = (workload.page_bytes, workload.heap_bytes);
        let frames = workload.pool_frames();
        let list = StoredDsm::list_bytes(Table::most_records(workload.scale_factor));
        let one = |name: &str, object_bytes, objects| Reservation {
            name: name.into(),
            object_bytes,
            objects,
        };
        let mut reservations: Vec<_> = Table::ALL
            .map(|table| Pool::reservation(table.name(), page, frames))
            .to_vec();
        reservations.extend([
            Pool::reservation("output", page, 2 * PARTITIONS as u32),
            one("groups", Groups::bytes(1, MOST_SUMS), MOST_GROUPS),
            one("log buffer", LogBuffer::BYTES, 1),
            one("lists", list, 2),
            one("hash entries", heap, 1),
            one("hash buckets", heap, PARTITIONS as u64),
            one("data file", page.into(), 1),
            one("record that was read", Table::longest_record(), 1),
        ]);
        Self {
            segments: place(&reservations),
            page_bytes: page,
        }
    }

    /// The frames of a table.
    pub(super) fn table(&self, table: Table) -> Pool {
        Pool::of(&self.segments[table as usize], self.page_bytes)
    }

    fn after_tables(&self, number: usize) -> &Segment {
        &self.segments[Table::ALL.len() + number]
    }

    /// The frame, one, of the last page of output file `number`.
    pub(super) fn output(&self, number: u32) -> Pool {
        Pool::of(self.after_tables(0), self.page_bytes).part(number, 1)
    }

    /// The accumulators.
    pub(super) fn groups(&self) -> &Segment {
        self.after_tables(1)
    }

    /// The log.
    pub(super) fn log(&self) -> u64 {
        self.after_tables(2).base
    }

    /// The list of record numbers of the workload's table number `number`.
    pub(super) fn list(&self, number: usize) -> u64 {
        let lists = self.after_tables(3);
        lists.base + number as u64 * (lists.size_bytes / 2)
    }

    /// The join.
    pub(super) fn join(&self, heap_bytes: u64) -> JoinPlaces {
        JoinPlaces {
            heap: self.after_tables(4).base,
            heap_bytes,
            directories: self.after_tables(5).base,
            directory_bytes: heap_bytes,
        }
    }

    /// The buffer of the data file that a load reads.
    pub(super) fn data_file(&self) -> Range<u64> {
        let buffer = self.after_tables(6);
        buffer.base..buffer.base + buffer.size_bytes
    }

    /// The record that a load has read.
    pub(super) fn parsed(&self) -> u64 {
        self.after_tables(7).base
    }
}

/// Number of the site where a load reads data files; the next one is of the record that was read, behind those of the tables' pages.
pub(super) fn data_file_site(workload: &TpchWorkload) -> u16 {
    site_names(workload).len() as u16
}

/// First address of a table's indexes: beyond everything else, with 64 GiB for each table.
pub(super) fn index_base(table: Table) -> u64 {
    (1 << 40) + ((table as u64) << 36)
}

/// Names of the sites of a table's pages.
fn page_sites(workload: &TpchWorkload, table: Table) -> Vec<String> {
    let (prefix, schema) = (format!("{} ", table.name()), table.schema());
    match (workload.layout, workload.reconstruction) {
        (TableLayout::Dsm, Reconstruction::Index) => Dsm::site_names(&prefix, &schema),
        _ => PageSites::names(&prefix, &schema),
    }
}

/// Names of the sites that every query of a layout has: the operators', then those of each table's pages.
pub(super) fn site_names(workload: &TpchWorkload) -> Vec<String> {
    let operators = Site::NAMES.iter().map(ToString::to_string);
    let pages = Table::ALL
        .into_iter()
        .flat_map(|table| page_sites(workload, table));
    operators.chain(pages).collect()
}

/// Number of the first site of a table's pages.
pub(super) fn table_sites(workload: &TpchWorkload, table: Table) -> u16 {
    let before = Table::ALL[..table as usize].iter();
    let sites: usize = before.map(|&table| page_sites(workload, table).len()).sum();
    (Site::NAMES.len() + sites) as u16
}
