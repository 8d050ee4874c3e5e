//! Runs an operation on a relation.

use super::build::{DOMAIN, PAGE_SITES, Strings, Table, Tables, identity};
use super::output::Output;
use super::places::Places;
use super::scatter::{SITE_NAMES, Scattered};
use super::spec::{PageLayout, TableOperation, TableWorkload};
use crate::family::{Family, Kernel};
use crate::outcome::{Checksum, Outcome};
use crate::page::{
    Columns, Dsm, Loaded, NodesInPool, PageFile, PageSites, RecordIndex, Store, Value, store,
};
use crate::query::Reconstruction;
use crate::query::{
    Assigned, Call, ChangedDsm, Fetcher, LogBuffer, Predicate, Scan, Site, Stored, StoredColumns,
    StoredDsm, assign, delete, point, point_decomposed, point_in_columns, update, update_columns,
};
use crate::random::Random;
use crate::tracer::{Trace, Untraced};
use crate::validate::WorkloadError;
use crate::warm_up::{self, CacheState, WarmUp};
use std::sync::Arc;
use traces::{Layout, OpClass};

/// Phase of the operation; phase 0 is what comes before.
const OPERATION_PHASE: u16 = 1;
/// What the random choice of point queries is for.
const FOR_QUERIES: u64 = 3;
/// What that of the point queries before the measurement is for.
const FOR_WARM_UP: u64 = 4;
/// What that of the strings after an update is for.
const FOR_UPDATES: u64 = 6;
/// Adding a value to a sum.
const ADD: u32 = 1;

/// A workload with its relation.
#[derive(Clone, Debug)]
pub(crate) struct TableRun {
    workload: TableWorkload,
    table: Arc<Table>,
    places: Places,
}

/// What a run found.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    records: u64,
    checksum: Checksum,
    /// How often records moved to other pages, where they may.
    moved: Option<u64>,
}

impl Found {
    fn add(&mut self, words: impl Iterator<Item = u64>) {
        self.records += 1;
        words.for_each(|word| self.checksum.add(word));
    }
}

impl Kernel for TableRun {
    fn layout(&self) -> Layout {
        let schema = self.workload.schema();
        let mut sites: Vec<String> = Site::NAMES.iter().map(ToString::to_string).collect();
        debug_assert_eq!(sites.len(), usize::from(PAGE_SITES));
        sites.extend(match (self.workload.layout, self.workload.reconstruction) {
            (PageLayout::Dsm, Reconstruction::Index) => Dsm::site_names("", &schema),
            _ => PageSites::names("", &schema),
        });
        let mut segments = self.places.segments.clone();
        let indexes = self.table.indexes();
        if !indexes.is_empty() && self.workload.layout != PageLayout::Dsm {
            sites.extend(RecordIndex::site_names());
        }
        if self.workload.operation == TableOperation::Scatter {
            sites.extend(SITE_NAMES.map(String::from));
        }
        for (number, index) in (1..).zip(&indexes) {
            let name = match self.workload.layout {
                PageLayout::Dsm => format!("index of a{number}"),
                _ => "index".into(),
            };
            segments.extend(index.segments(&name));
        }
        let operation = match self.workload.operation {
            TableOperation::Scan => "scan",
            TableOperation::Point => "point query",
            TableOperation::Update => "update",
            TableOperation::Delete => "deletion",
            TableOperation::Scatter => "scattering",
        };
        let calls: &[&str] = if self.workload.layout.is_store() {
            &store::Call::NAMES
        } else {
            Call::NAMES
        };
        Layout {
            segments,
            sites,
            phases: vec!["start".into(), operation.into()],
            calls: calls.iter().map(ToString::to_string).collect(),
        }
    }

    fn run<T: Trace>(&self, _thread: u32, trace: &mut T) -> Outcome {
        trace.flush();
        let mut found = Found::default();
        let mut changed = None;
        match self.workload.operation {
            TableOperation::Scan => {
                self.warm(trace);
                trace.mark(OPERATION_PHASE);
                self.scan(trace, &mut found);
            }
            TableOperation::Point => self.query(trace, &mut found),
            TableOperation::Update => {
                self.warm(trace);
                changed = Some(self.update(trace, &mut found));
            }
            TableOperation::Delete => {
                self.warm(trace);
                changed = Some(self.delete(trace, &mut found));
            }
            TableOperation::Scatter => {
                warm_up::run(self.workload.warm_up(), trace, |trace, _| {
                    self.scatter(trace);
                });
                trace.mark(OPERATION_PHASE);
                found.records = self.scatter(trace);
            }
        }
        trace.end();
        let mut outcome = Outcome::default();
        let table = changed.as_ref().unwrap_or(&self.table);
        let pages = table.file_pages().into_iter().map(u64::from);
        outcome.set("pages", pages.sum());
        let mut records = self.workload.records;
        if changed.is_some() {
            let left = self.contents(table);
            (records, found.checksum) = (left.records, left.checksum);
        }
        outcome.set("records", records);
        // An operation is a point query, or a record that is looked at.
        outcome.set(
            "operations",
            match self.workload.operation {
                TableOperation::Point => self.workload.point_queries,
                _ => self.workload.records,
            },
        );
        if let Some(warm_up) = self.workload.warm_up() {
            outcome.set("warm_up_operations", WarmUp::operations(Some(warm_up)));
        }
        outcome.set("returned", found.records);
        if self.workload.operation != TableOperation::Scatter {
            outcome.set("checksum", found.checksum.value());
        }
        if let Some(moved) = found.moved {
            outcome.set("moved_records", moved);
        }
        outcome
    }
}

impl TableRun {
    /// A run on the relation that the workload wants, kept or built.
    ///
    /// # Errors
    /// If a page has no room for a record.
    pub(super) fn new(
        workload: &TableWorkload,
        tables: &mut Tables,
    ) -> Result<Self, WorkloadError> {
        let table = tables.get(identity(workload), |_| Table::build(workload).map(Arc::new))?;
        Ok(Self {
            places: Places::new(workload, &table.frames(workload)),
            workload: workload.clone(),
            table,
        })
    }

    /// The predicates: the first holds for the asked share of the values, from 0 on; the others hold always.
    fn predicates(&self) -> Vec<Predicate> {
        let end = (self.workload.selectivity * DOMAIN as f64).round() as i64;
        let tested = self.workload.tested().into_iter().enumerate();
        let bound = |(number, attribute)| {
            let end = if number == 0 { end } else { DOMAIN as i64 };
            Predicate::within(attribute, 0, end - 1)
        };
        tested.map(bound).collect()
    }

    /// Copies blocks to their pages; returns how many.
    fn scatter<T: Trace>(&self, trace: &mut T) -> u64 {
        let Table::Pax(file, _) = &*self.table else {
            unreachable!("validation asks for another layout");
        };
        let own = PageSites::names("", &self.workload.schema()).len() as u16;
        let scattered = Scattered {
            frames: file.frames(),
            pages: file.pages(),
            attributes: self.workload.attributes,
            block_bytes: self.workload.block_bytes,
            buffer: self.places.blocks_read(),
            first_site: PAGE_SITES + own,
        };
        scattered.copy(trace)
    }

    /// What is in a relation: how many records, and the sum of all their values.
    fn contents(&self, table: &Table) -> Found {
        let mut found = Found::default();
        let every: Vec<usize> = (0..self.workload.attributes as usize).collect();
        let take = |_: &mut Untraced, row: &[Loaded<Value>]| {
            found.add(row.iter().map(|value| value.value.summed()));
        };
        match table {
            Table::Nsm(file, _) => {
                let stored = Stored {
                    file,
                    first_page: 0,
                };
                stored.scan(&mut Untraced, &[], &every, take);
            }
            Table::Pax(file, _) => {
                let stored = Stored {
                    file,
                    first_page: 0,
                };
                stored
                    .in_order(self.workload.scan_order)
                    .scan(&mut Untraced, &[], &every, take);
            }
            Table::Dsm(relation) => {
                self.decomposed(relation)
                    .scan(&mut Untraced, &[], &every, take);
            }
            Table::Columns(relation) => {
                self.in_columns(relation)
                    .scan(&mut Untraced, &[], &every, take);
            }
            Table::StandardRow(_) | Table::SuperRow(_) | Table::SuperColumn(_) => {
                unreachable!("validation asks for another layout")
            }
        }
        found
    }

    /// Warms up by scans, which leave the relation as it is.
    fn warm<T: Trace>(&self, trace: &mut T) {
        warm_up::run(self.workload.warm_up(), trace, |trace, _| {
            self.scan(trace, &mut Found::default());
        });
    }

    fn scan<T: Trace>(&self, trace: &mut T, found: &mut Found) {
        match &*self.table {
            Table::Nsm(file, _) => self.select(
                trace,
                Stored {
                    file,
                    first_page: 0,
                },
                found,
            ),
            Table::Pax(file, _) => self.select(
                trace,
                Stored {
                    file,
                    first_page: 0,
                }
                .in_order(self.workload.scan_order),
                found,
            ),
            Table::Dsm(relation) => {
                self.select(trace, self.decomposed(relation), found);
            }
            Table::Columns(relation) => {
                self.select(trace, self.in_columns(relation), found);
            }
            Table::StandardRow(store) => self.read(trace, store, found),
            Table::SuperRow(store) => self.read(trace, store, found),
            Table::SuperColumn(store) => self.read(trace, store, found),
        }
    }

    /// Selects records, and sums up or returns attributes of theirs.
    fn select<'f, T: Trace>(&self, trace: &mut T, scanned: impl Scan<'f>, found: &mut Found) {
        let mut output = Output::new(self.places.output());
        let aggregate = self.workload.aggregate;
        let take = |trace: &mut T, row: &[Loaded<Value>]| {
            found.add(row.iter().map(|value| value.value.summed()));
            if aggregate {
                let numbers = |value: &&Loaded<Value>| matches!(value.value, Value::Int(_));
                for number in row.iter().filter(numbers) {
                    trace.call(Call::Aggregate as u16);
                    trace.op(Site::Sum, OpClass::Add, number.token.after(0));
                }
            } else {
                output.add(trace, row);
            }
        };
        scanned.scan(trace, &self.predicates(), &self.workload.wanted(), take);
    }

    /// Reads attributes of every row of a store.
    fn read<T: Trace>(&self, trace: &mut T, store: &impl Store, found: &mut Found) {
        let columns = self.workload.wanted();
        store.scan(trace, &columns, |trace, row| {
            trace.work(row.len() as u32 * ADD);
            found.add(row.iter().copied());
        });
    }

    fn in_columns<'f>(&self, relation: &'f Columns) -> StoredColumns<'f> {
        StoredColumns {
            relation,
            first_page: 0,
            reconstruction: self.workload.reconstruction,
        }
    }

    fn decomposed<'f>(&self, relation: &'f Dsm) -> StoredDsm<'f> {
        StoredDsm {
            relation,
            first_page: 0,
            list: self.places.list(),
            index_nodes: self.workload.index_nodes(),
        }
    }

    /// What the buffer pool has of an index in storage, behind `pages` of the file.
    fn nodes(&self, index: &RecordIndex, pages: u32) -> Option<NodesInPool> {
        self.workload.index_nodes().of([index], pages.into())
    }

    fn query<T: Trace>(&self, trace: &mut T, found: &mut Found) {
        let wanted = self.workload.wanted();
        match &*self.table {
            Table::Nsm(file, Some(index)) => self.query_pages(file, index, trace, found),
            Table::Pax(file, Some(index)) => self.query_pages(file, index, trace, found),
            Table::Dsm(relation) => {
                let mut fetcher = Fetcher::new(self.decomposed(relation));
                self.queries(trace, found, |trace, number| {
                    point_decomposed(&mut fetcher, trace, number, &wanted)
                });
            }
            Table::Columns(relation) => self.queries(trace, found, |trace, number| {
                point_in_columns(self.in_columns(relation), trace, number, &wanted)
            }),
            _ => {}
        }
    }

    /// Looks up random records of a file of whole records through its index.
    fn query_pages<F: PageFile, T: Trace>(
        &self,
        file: &F,
        index: &RecordIndex,
        trace: &mut T,
        found: &mut Found,
    ) {
        let wanted = self.workload.wanted();
        let mut nodes = self.nodes(index, file.pages());
        self.queries(trace, found, |trace, number| {
            let nodes = nodes.as_mut().map(|nodes| nodes.of(0));
            point(file, index, nodes, 0, trace, number, &wanted)
        });
    }

    /// Looks up random records and returns what `look_up` finds.
    fn queries<'f, T: Trace>(
        &self,
        trace: &mut T,
        found: &mut Found,
        mut look_up: impl FnMut(&mut T, u32) -> Vec<Loaded<Value<'f>>>,
    ) {
        let records = self.workload.records;
        let mut random = Random::new(self.workload.seed, FOR_WARM_UP);
        let mut output = Output::new(self.places.output());
        warm_up::run(self.workload.warm_up(), trace, |trace, _| {
            let row = look_up(trace, random.below(records) as u32);
            output.add(trace, &row);
        });
        let mut random = Random::new(self.workload.seed, FOR_QUERIES);
        let mut output = Output::new(self.places.output());
        for number in 0..self.workload.point_queries {
            if trace.failed() {
                return;
            }
            if self.workload.caches == CacheState::Cold && number > 0 {
                trace.flush();
            }
            trace.mark(OPERATION_PHASE);
            let row = look_up(trace, random.below(records) as u32);
            found.add(row.iter().map(|value| value.value.summed()));
            output.add(trace, &row);
        }
    }

    fn to_be_changed<'r>(&self, relation: &'r mut Dsm) -> ChangedDsm<'r> {
        ChangedDsm {
            relation,
            first_page: 0,
            list: self.places.list(),
            index_nodes: self.workload.index_nodes(),
        }
    }

    /// Adds 1 to attributes of the records that are selected, or gives them other strings; returns the changed copy.
    fn update<T: Trace>(&self, trace: &mut T, found: &mut Found) -> Table {
        let mut log = LogBuffer::new(self.places.log());
        let (predicates, changed) = (self.predicates(), self.workload.wanted());
        // The relation is kept for later runs: what is changed is a copy's, which is made before the operation begins.
        let mut table = Table::clone(&self.table);
        trace.mark(OPERATION_PHASE);
        if self.workload.changes_strings() {
            self.assign(trace, &mut table, &predicates, &changed, &mut log, found);
            return table;
        }
        let log = &mut log;
        found.records = match (&*self.table, &mut table) {
            // The scan reads each value before it is changed, and no value twice.
            (Table::Columns(relation), Table::Columns(written)) => {
                let stored = self.in_columns(relation);
                update_columns(stored, trace, &predicates, &changed, 1, log, written)
            }
            (_, Table::Nsm(file, _)) => update(file, 0, trace, &predicates, &changed, 1, log),
            (_, Table::Pax(file, _)) => update(file, 0, trace, &predicates, &changed, 1, log),
            (_, Table::Dsm(relation)) => {
                let stored = self.to_be_changed(relation);
                stored.update(trace, &predicates, &changed, 1, log)
            }
            _ => 0,
        };
        table
    }

    /// Gives the records of a table that are selected other strings.
    fn assign<T: Trace>(
        &self,
        trace: &mut T,
        table: &mut Table,
        predicates: &[Predicate],
        changed: &[usize],
        log: &mut LogBuffer,
        found: &mut Found,
    ) {
        let strings = Strings::new(self.workload.updated_string_bytes);
        let mut random = Random::new(self.workload.seed, FOR_UPDATES);
        let next = || strings.any(&mut random);
        let assigned = match table {
            Table::Nsm(file, _) => assign(file, 0, trace, predicates, changed, next, log),
            Table::Pax(file, _) => assign(file, 0, trace, predicates, changed, next, log),
            Table::Dsm(relation) => {
                let stored = self.to_be_changed(relation);
                stored.assign(trace, predicates, changed, next, log)
            }
            _ => Assigned::default(),
        };
        found.records = assigned.records;
        found.moved = Some(assigned.moved);
    }

    /// Deletes the records that are selected; returns the changed copy.
    fn delete<T: Trace>(&self, trace: &mut T, found: &mut Found) -> Table {
        let mut log = LogBuffer::new(self.places.log());
        let predicates = self.predicates();
        // The relation is kept for later runs: what is deleted is a copy's.
        let mut table = Table::clone(&self.table);
        trace.mark(OPERATION_PHASE);
        found.records = match &mut table {
            Table::Nsm(file, _) => delete(file, 0, trace, &predicates, &mut log),
            Table::Pax(file, _) => delete(file, 0, trace, &predicates, &mut log),
            Table::Dsm(relation) => {
                let changed = self.to_be_changed(relation);
                changed.delete(trace, &predicates, &mut log)
            }
            _ => 0,
        };
        table
    }
}
