//! A table of TPC-H in pages of some layout.

use super::places::{Places, table_sites};
use super::spec::{TableLayout, TpchWorkload};
use super::{Table, for_each_record};
use crate::outcome::Outcome;
use crate::page::{Geometry, Loaded, Nsm, PageFile, PageSites, Pax, PaxOptions, Schema, Value};
use crate::query::{Predicate, Scan, ScanOrder, Stored};
use crate::random::Random;
use crate::tracer::{Trace, Untraced};
use crate::validate::WorkloadError;

/// Bytes that the storage manager keeps at the beginning of a page: what gives the published 125 records of eight
/// 8-byte attributes in a PAX page of 8 KB (PAX section 6.2.2).
const HEADER_BYTES: u32 = 32;

/// The pages of a table.
#[derive(Clone, Debug)]
pub(crate) enum Relation {
    Nsm(Nsm),
    Pax(Pax),
}

/// A file of pages as a workload wants them.
pub(super) trait Create: ScanOrder + Sized {
    /// An empty file.
    ///
    /// # Errors
    /// If a page has no room for the longest record.
    fn create(
        workload: &TpchWorkload,
        schema: Schema,
        sites: PageSites,
    ) -> Result<Self, WorkloadError>;
}

fn geometry(workload: &TpchWorkload) -> Geometry {
    Geometry {
        page_bytes: workload.page_bytes,
        header_bytes: HEADER_BYTES,
    }
}

impl Create for Nsm {
    fn create(
        workload: &TpchWorkload,
        schema: Schema,
        sites: PageSites,
    ) -> Result<Self, WorkloadError> {
        Self::new(schema, geometry(workload), sites)
    }
}

impl Create for Pax {
    fn create(
        workload: &TpchWorkload,
        schema: Schema,
        sites: PageSites,
    ) -> Result<Self, WorkloadError> {
        let options = PaxOptions {
            threshold: workload.threshold,
            ..PaxOptions::default()
        };
        Self::new(schema, geometry(workload), options, sites)
    }
}

impl Relation {
    /// A table without records, in frames of the buffer pool.
    ///
    /// # Errors
    /// If a page has no room for the longest record.
    pub(crate) fn new(workload: &TpchWorkload, table: Table) -> Result<Self, WorkloadError> {
        let (schema, sites) = (table.schema(), table_sites(table));
        let mut relation = match workload.layout {
            TableLayout::Nsm | TableLayout::Dsm => Self::Nsm(Nsm::create(workload, schema, sites)?),
            TableLayout::Pax => Self::Pax(Pax::create(workload, schema, sites)?),
        };
        let base = Places::new(workload).table(table);
        let mut random = Random::new(workload.seed, table as u64);
        let frames = match &mut relation {
            Self::Nsm(file) => file.frames_mut(),
            Self::Pax(file) => file.frames_mut(),
        };
        frames.scatter(base, workload.pool_frames(), &mut random);
        Ok(relation)
    }

    /// Fills the table with all its records.
    pub(crate) fn fill(&mut self, workload: &TpchWorkload, table: Table) {
        for_each_record(table, workload.scale_factor, |record| {
            self.insert(&mut Untraced, record);
        });
    }

    /// Adds a record; returns its page.
    pub(super) fn insert<T: Trace>(&mut self, trace: &mut T, record: &[Value]) -> u32 {
        match self {
            Self::Nsm(file) => file.insert(trace, record).page,
            Self::Pax(file) => file.insert(trace, record).page,
        }
    }

    /// Pages there are.
    pub(super) fn pages(&self) -> u32 {
        match self {
            Self::Nsm(file) => file.pages(),
            Self::Pax(file) => file.pages(),
        }
    }

    /// Records there are.
    pub(super) fn records(&self) -> u64 {
        match self {
            Self::Nsm(file) => file.records(),
            Self::Pax(file) => file.records(),
        }
    }

    /// Sets how large the table is, and what filling it took.
    pub(super) fn describe(&self, table: Table, outcome: &mut Outcome) {
        let name = table.name();
        outcome.set(&format!("{name}_records"), self.records());
        outcome.set(&format!("{name}_pages"), self.pages().into());
        if let Self::Pax(file) = self {
            let loading = file.loading();
            outcome.set(&format!("{name}_reorganizations"), loading.reorganizations);
            outcome.set(
                &format!("{name}_reorganizations_for_last_record"),
                loading.for_last_record,
            );
            outcome.set(
                &format!("{name}_reorganized_pages"),
                loading.reorganized_pages,
            );
            let fill = loading.fill_at_first / loading.reorganized_pages.max(1) as f64;
            let per_mille = (1000.0 * fill).round() as u64;
            outcome.set(&format!("{name}_fill_at_first_per_mille"), per_mille);
        }
    }

    /// The table, to be scanned; its first page is number `first_page` in storage.
    pub(super) fn stored(&self, first_page: u64) -> StoredRelation<'_> {
        match self {
            Self::Nsm(file) => StoredRelation::Nsm(Stored { file, first_page }),
            Self::Pax(file) => StoredRelation::Pax(Stored { file, first_page }),
        }
    }
}

/// A table and where it is in storage.
#[derive(Clone, Copy, Debug)]
pub(super) enum StoredRelation<'f> {
    Nsm(Stored<'f, Nsm>),
    Pax(Stored<'f, Pax>),
}

impl<'f> Scan<'f> for StoredRelation<'f> {
    fn scan<T: Trace>(
        self,
        trace: &mut T,
        predicates: &[Predicate],
        project: &[usize],
        take: impl FnMut(&mut T, &[Loaded<Value<'f>>]),
    ) {
        match self {
            Self::Nsm(stored) => stored.scan(trace, predicates, project, take),
            Self::Pax(stored) => stored.scan(trace, predicates, project, take),
        }
    }
}
