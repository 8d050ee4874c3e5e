//! A table of TPC-H in pages of some layout.

use super::Table;
use super::files::{self, Create};
use super::intake::Intake;
use super::places::table_sites;
use super::spec::{TableLayout, TpchWorkload};
use crate::outcome::Outcome;
use crate::page::nsm_format::SLOT_BYTES;
use crate::page::{Columns, Dsm, DsmLoader, Loaded, Loading, Nsm, PageFile, PageSites, Pax, Value};
use crate::query::{
    InOrder, IndexNodes, Order, Predicate, Reconstruction, Scan, ScanOrder, Stored, StoredColumns,
    StoredDsm,
};
use crate::tracer::Trace;
use crate::validate::WorkloadError;
use traces::Segment;

/// The pages of a table.
#[derive(Clone, Debug)]
pub(crate) enum Relation {
    Nsm(Nsm),
    Pax(Pax),
    Dsm(Dsm),
    /// Columns, and how records are put together.
    Columns(Columns, Reconstruction),
}

impl Relation {
    /// A table with all its records, in frames of the buffer pool. Pages that are full are written to storage; the
    /// first has the number `first_page` there.
    ///
    /// # Errors
    /// If a page has no room for the longest record.
    pub(super) fn load<T: Trace>(
        workload: &TpchWorkload,
        table: Table,
        first_page: u64,
        intake: &mut Intake,
        trace: &mut T,
    ) -> Result<Self, WorkloadError> {
        let (schema, sites) = (table.schema(), table_sites(workload, table));
        Ok(match workload.layout {
            TableLayout::Nsm => {
                let file = Nsm::create(workload, schema, PageSites::from(sites))?;
                Self::Nsm(files::fill(
                    workload, table, file, first_page, intake, trace,
                ))
            }
            TableLayout::Pax => {
                let file = Pax::create(workload, schema, PageSites::from(sites))?;
                Self::Pax(files::fill(
                    workload, table, file, first_page, intake, trace,
                ))
            }
            TableLayout::Dsm if workload.reconstruction != Reconstruction::Index => {
                let columns = Columns::new(schema, files::geometry(workload), sites)?;
                let columns = files::divide(workload, table, columns, first_page, intake, trace);
                Self::Columns(columns, workload.reconstruction)
            }
            TableLayout::Dsm => {
                let loader = DsmLoader::new(schema, files::geometry(workload), sites)?;
                let relation = Self::Dsm(files::decompose(
                    workload, table, loader, first_page, intake, trace,
                ));
                if !trace.failed() {
                    let indexes = first_page + relation.pages()
                        ..relation.end(first_page, workload.index_nodes());
                    indexes.for_each(|page| trace.page_write(page));
                }
                relation
            }
        })
    }

    /// Pages there are, those of indexes left out.
    pub(super) fn pages(&self) -> u64 {
        match self {
            Self::Nsm(file) => file.pages().into(),
            Self::Pax(file) => file.pages().into(),
            Self::Dsm(relation) => (0..relation.schema().degree())
                .map(|attribute| u64::from(relation.file(attribute).pages()))
                .sum(),
            Self::Columns(relation, _) => (0..relation.schema().degree())
                .map(|attribute| u64::from(relation.file(attribute).pages()))
                .sum(),
        }
    }

    /// Records there are.
    fn records(&self) -> u64 {
        match self {
            Self::Nsm(file) => file.records(),
            Self::Pax(file) => file.records(),
            Self::Dsm(relation) => relation.records(),
            Self::Columns(relation, _) => relation.records().into(),
        }
    }

    /// Segments besides the buffer pool.
    pub(super) fn index_segments(&self, table: Table) -> Vec<Segment> {
        let Self::Dsm(relation) = self else {
            return Vec::new();
        };
        let attributes = relation.schema().attributes().iter().enumerate();
        attributes
            .flat_map(|(place, attribute)| {
                let name = format!(
                    "{} index on the numbers of {}",
                    table.name(),
                    attribute.name
                );
                relation.record_index(place).segments(&name)
            })
            .collect()
    }

    /// Number of the first page in storage behind the table, whose own first is `first_page`.
    pub(super) fn end(&self, first_page: u64, index_nodes: IndexNodes) -> u64 {
        match self.stored(first_page, 0, index_nodes) {
            StoredRelation::Dsm(stored) => stored.end(),
            _ => first_page + self.pages(),
        }
    }

    /// What filling it took, where minipages can be moved.
    pub(super) fn loading(&self) -> Option<&Loading> {
        match self {
            Self::Pax(file) => Some(file.loading()),
            Self::Nsm(_) | Self::Dsm(_) | Self::Columns(..) => None,
        }
    }

    /// Sets how large the table is, and what filling it took.
    pub(super) fn describe(&self, table: Table, outcome: &mut Outcome) {
        let mut set = |name: &str, value| outcome.set(&format!("{}_{name}", table.name()), value);
        set("records", self.records());
        set("pages", self.pages());
        if let Self::Nsm(file) = self {
            let page_bytes = file.frames().page_bytes() as u64;
            set("bytes", self.pages() * page_bytes);
            set("slot_bytes", self.records() * SLOT_BYTES as u64);
        }
        if let Some(loading) = self.loading() {
            set("reorganizations", loading.reorganizations);
            set("reorganizations_for_last_record", loading.for_last_record);
            set("reorganized_pages", loading.reorganized_pages);
            set("fill_at_first_percent", loading.fill_at_first_percent());
        }
    }

    /// The table, to be scanned: its first page is number `first_page` in storage, lists of record numbers are at `list`.
    pub(super) fn stored(
        &self,
        first_page: u64,
        list: u64,
        index_nodes: IndexNodes,
    ) -> StoredRelation<'_> {
        match self {
            Self::Nsm(file) => StoredRelation::Nsm(Stored { file, first_page }),
            Self::Pax(file) => {
                StoredRelation::Pax(Stored { file, first_page }.in_order(Pax::ORDER))
            }
            Self::Dsm(relation) => StoredRelation::Dsm(StoredDsm {
                index_nodes,
                relation,
                first_page,
                list,
            }),
            &Self::Columns(ref relation, reconstruction) => {
                StoredRelation::Columns(StoredColumns {
                    relation,
                    first_page,
                    reconstruction,
                })
            }
        }
    }
}

/// A table and where it is in storage.
#[derive(Clone, Copy, Debug)]
pub(super) enum StoredRelation<'f> {
    Nsm(Stored<'f, Nsm>),
    Pax(InOrder<Stored<'f, Pax>>),
    Dsm(StoredDsm<'f>),
    Columns(StoredColumns<'f>),
}

impl StoredRelation<'_> {
    /// The same, whose minipages are scanned in another order.
    pub(super) fn in_order(self, order: Order) -> Self {
        match self {
            Self::Pax(pax) => Self::Pax(pax.stored.in_order(order)),
            other => other,
        }
    }
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
            Self::Dsm(stored) => stored.scan(trace, predicates, project, take),
            Self::Columns(stored) => stored.scan(trace, predicates, project, take),
        }
    }
}
