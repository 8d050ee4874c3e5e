//! Where sub-partitions lie: each thread has room for those of one partition.

use super::spec::JoinWorkload;
use super::tuples::{Side, Tuples};
use crate::arena::Reservation;
use crate::join::buffers::{BufferPlaces, ENTRY_BYTES};
use crate::join::tuple::Source;

/// The sizes of all sub-partitions.
#[derive(Clone, Debug)]
pub(super) struct SubSizes {
    page_bytes: u64,
    /// Bytes of a table of output pages: no line is of two.
    table_bytes: u64,
    /// By thread: pages of build and probe tuples.
    pages: Vec<[u64; 2]>,
}

impl JoinWorkload {
    /// Pages that a thread has for sub-partitions: as many as any of its partitions takes.
    pub(super) fn sub_pages_of(&self, thread: u32) -> [u64; 2] {
        [Side::Build, Side::Probe].map(|side| {
            let own = self.partitions_of(thread);
            let pages = own.map(|number| self.sub_pages(Tuples::new(self, number, side).count()));
            pages.max().unwrap_or(0)
        })
    }
}

impl SubSizes {
    pub(super) fn new(workload: &JoinWorkload) -> Self {
        let table = u64::from(workload.sub_partitions()) * ENTRY_BYTES;
        let threads = 0..workload.threads;
        Self {
            page_bytes: workload.page_bytes.into(),
            table_bytes: table.next_multiple_of(workload.line_bytes.into()),
            pages: threads
                .map(|thread| workload.sub_pages_of(thread))
                .collect(),
        }
    }

    /// Segments for the tables and the pages.
    pub(super) fn reservations(&self) -> [Reservation; 2] {
        let tables = 2 * self.pages.len() as u64;
        let pages = self.pages.as_flattened().iter().sum();
        [
            Reservation::of("buffer table", self.table_bytes, tables),
            Reservation::of("sub-partitions", self.page_bytes, pages),
        ]
    }

    /// Where those of each thread lie, from the beginnings of the segments on.
    pub(super) fn places(&self, table: u64, first_page: u64) -> Vec<[BufferPlaces; 2]> {
        let mut next = BufferPlaces {
            table,
            first_page,
            pages: 0,
        };
        let mut place = |&pages: &u64| {
            let here = BufferPlaces { pages, ..next };
            next.table += self.table_bytes;
            next.first_page += pages * self.page_bytes;
            here
        };
        self.pages
            .iter()
            .map(|sides| sides.each_ref().map(&mut place))
            .collect()
    }
}
