//! Fills relations, and keeps the one that a later workload may want again.

use super::places::Places;
use super::spec::{PageLayout, TableOperation, TableWorkload};
use crate::kept::Kept;
use crate::page::abstraction::Levels;
use crate::page::nsm_format::{SLOT_BYTES, TAG_BYTES};
use crate::page::pax_format::END_BYTES;
use crate::page::{
    Columns, Dsm, DsmLoader, Nsm, PageFile, PageSites, Pax, PaxOptions, RecordIndex, RowStore,
    Store, SuperColumn, SuperRow, Type, Value,
};
use crate::query::Reconstruction;
use crate::query::Site;
use crate::random::Random;
use crate::tracer::Untraced;
use crate::validate::WorkloadError;
use crate::watch;
use rand_distr::Bernoulli;
use std::sync::Arc;

/// Attribute values are below this: the part keys of TPC-H at scale factor 1, whose distribution they have (PAX section
/// 6.1).
pub(super) const DOMAIN: u64 = 200_000;

/// What random choices are for.
const FOR_VALUES: u64 = 1;
const FOR_FRAMES: u64 = 2;
const FOR_NULLS: u64 = 5;

/// Number of the first site of pages: behind those of the operators.
pub(super) const PAGE_SITES: u16 = Site::NAMES.len() as u16;

/// The most that pages keep besides a value, and besides a record.
const KEPT_BYTES: u64 = END_BYTES as u64;
const RECORD_KEPT_BYTES: u64 = (TAG_BYTES + SLOT_BYTES) as u64;

/// A relation in some layout.
#[derive(Clone, Debug)]
pub(crate) enum Table {
    Nsm(Nsm, Option<RecordIndex>),
    Pax(Pax, Option<RecordIndex>),
    Dsm(Dsm),
    Columns(Columns),
    StandardRow(RowStore),
    SuperRow(SuperRow),
    SuperColumn(SuperColumn),
}

/// The relation built last, with what its workload has that determines it.
pub(crate) type Tables = Kept<TableWorkload, Arc<Table>, 1>;

/// The workload reduced to what determines its relation.
pub(super) fn identity(workload: &TableWorkload) -> TableWorkload {
    let store = workload.layout.is_store();
    let default = TableWorkload::default();
    TableWorkload {
        // Point queries need an index, deletions from minipages bits, and strings that grow frames of pages to come.
        operation: match (workload.operation, workload.layout) {
            (TableOperation::Update, _) if workload.changes_strings() => TableOperation::Update,
            (TableOperation::Delete, PageLayout::Pax) => TableOperation::Delete,
            (TableOperation::Update | TableOperation::Delete | TableOperation::Scatter, _) => {
                TableOperation::Scan
            }
            (other, _) => other,
        },
        predicates: 1,
        first_predicate: 1,
        selectivity: 0.0,
        projected: 1,
        first_projected: 1,
        aggregate: false,
        scan_order: default.scan_order,
        point_queries: 1,
        block_bytes: default.block_bytes,
        index_pages: default.index_pages,
        index_frames: default.index_frames,
        caches: default.caches,
        warm_up: default.warm_up,
        prefetch_bytes: if store {
            workload.prefetch_bytes
        } else {
            default.prefetch_bytes
        },
        ..workload.clone()
    }
}

/// Strings: a letter, repeated. Lengths are uniformly distributed from 1 to the longest.
#[derive(Clone, Debug)]
pub(super) struct Strings {
    longest: Vec<Vec<u8>>,
}

impl Strings {
    /// Strings of at most so many bytes.
    pub(super) fn new(bytes: u32) -> Self {
        let repeated = |letter| vec![letter; bytes as usize];
        Self {
            longest: (b'a'..=b'z').map(repeated).collect(),
        }
    }

    /// One of them.
    pub(super) fn any(&self, random: &mut Random) -> &[u8] {
        let letter = random.below(self.longest.len() as u64) as usize;
        let longest = &self.longest[letter];
        &longest[..1 + random.below(longest.len() as u64) as usize]
    }
}

/// Hands over every record: numbers below [`DOMAIN`], uniformly distributed; strings; and nulls, wherever they fall.
pub(super) fn records(workload: &TableWorkload, mut take: impl FnMut(&[Value])) {
    let mut random = Random::new(workload.seed, FOR_VALUES);
    let mut missing = Random::new(workload.seed, FOR_NULLS);
    let strings = Strings::new(workload.string_bytes);
    let (schema, nulls) = (workload.schema(), Bernoulli::new(workload.nulls));
    let nulls = nulls.expect("a share is a probability");
    let mut record = vec![Value::Null; workload.attributes as usize];
    for _ in 0..workload.records {
        for (value, attribute) in record.iter_mut().zip(schema.attributes()) {
            *value = match attribute.kind {
                Type::Variable(_) => Value::Bytes(strings.any(&mut random)),
                _ => Value::Int(random.below(DOMAIN) as i64),
            };
            if attribute.nullable && missing.draw(&nulls) {
                *value = Value::Null;
            }
        }
        take(&record);
        watch::step(u64::from(workload.attributes));
    }
}

/// A file with its records, and an index of them for point queries.
fn fill<F: PageFile>(workload: &TableWorkload, mut file: F) -> (F, Option<RecordIndex>) {
    let mut ids = Vec::new();
    records(workload, |record| {
        let id = file.insert(&mut Untraced, record);
        if workload.operation == TableOperation::Point {
            ids.push(id);
        }
    });
    let index = (!ids.is_empty()).then(|| {
        let first_site = PAGE_SITES + PageSites::names("", file.schema()).len() as u16;
        let slots = ids.iter().map(|id| id.slot + 1).max().unwrap_or(1);
        let pairs = ids.into_iter().enumerate();
        let pairs = pairs.map(|(number, id)| (number as u32, id));
        RecordIndex::bulkload(workload.geometry(), slots, pairs, 0, first_site)
    });
    (file, index)
}

fn store<S: Store>(workload: &TableWorkload, mut store: S) -> S {
    workload.generated().generate(|first, row| {
        store.append(first, row);
        watch::step(u64::from(workload.attributes));
    });
    store
}

/// How PAX pages are kept: with bits of deleted records where there will be some, or some that move.
fn options(workload: &TableWorkload) -> PaxOptions {
    PaxOptions {
        deletions: workload.operation == TableOperation::Delete || workload.changes_strings(),
        full_minipage: workload.full_minipage,
        ..PaxOptions::default()
    }
}

/// Checks that pages have room for their header and for the longest record, and the index of point queries for its nodes.
///
/// # Errors
/// As those who make the files; nothing is built.
pub(super) fn check_pages(workload: &TableWorkload) -> Result<(), WorkloadError> {
    let (schema, geometry) = (workload.schema(), workload.geometry());
    let sites = PageSites::from(PAGE_SITES);
    let levels = Levels::new(&workload.generated().attributes);
    match workload.layout {
        PageLayout::Nsm => Nsm::new(schema, geometry, sites).map(drop),
        PageLayout::Pax => Pax::new(schema, geometry, options(workload), sites).map(drop),
        PageLayout::Dsm if workload.reconstruction != Reconstruction::Index => {
            Columns::new(schema, geometry, PAGE_SITES).map(drop)
        }
        PageLayout::Dsm => DsmLoader::new(schema, geometry, PAGE_SITES).map(drop),
        PageLayout::StandardRow => RowStore::new(schema, levels, geometry, sites).map(drop),
        PageLayout::SuperRow => SuperRow::new(schema, levels, geometry, sites).map(drop),
        PageLayout::SuperColumn => {
            let memory = workload.prefetch_bytes;
            SuperColumn::new(schema, levels, geometry, memory, sites).map(drop)
        }
    }?;
    // Decomposed relations have an index too, and longer records.
    let indexed = workload.operation == TableOperation::Point
        && matches!(workload.layout, PageLayout::Nsm | PageLayout::Pax);
    if indexed {
        RecordIndex::check_node(workload.page_bytes)?;
    }
    Ok(())
}

impl Table {
    pub(super) fn build(workload: &TableWorkload) -> Result<Self, WorkloadError> {
        let (schema, geometry) = (workload.schema(), workload.geometry());
        let sites = PageSites::from(PAGE_SITES);
        let levels = Levels::new(&workload.generated().attributes);
        let mut table = match workload.layout {
            PageLayout::Nsm => {
                let (file, index) = fill(workload, Nsm::new(schema, geometry, sites)?);
                Self::Nsm(file, index)
            }
            PageLayout::Pax => {
                let file = Pax::new(schema, geometry, options(workload), sites)?;
                let (file, index) = fill(workload, file);
                Self::Pax(file, index)
            }
            PageLayout::Dsm if workload.reconstruction != Reconstruction::Index => {
                let mut relation = Columns::new(schema, geometry, PAGE_SITES)?;
                records(workload, |record| relation.add(&mut Untraced, record));
                Self::Columns(relation)
            }
            PageLayout::Dsm => {
                let mut loader = DsmLoader::new(schema, geometry, PAGE_SITES)?;
                records(workload, |record| loader.add(&mut Untraced, record));
                Self::Dsm(loader.finish(0))
            }
            PageLayout::StandardRow => {
                let empty = RowStore::new(schema, levels, geometry, sites)?;
                Self::StandardRow(store(workload, empty))
            }
            PageLayout::SuperRow => {
                let empty = SuperRow::new(schema, levels, geometry, sites)?;
                Self::SuperRow(store(workload, empty))
            }
            PageLayout::SuperColumn => {
                let memory = workload.prefetch_bytes;
                let empty = SuperColumn::new(schema, levels, geometry, memory, sites)?;
                Self::SuperColumn(store(workload, empty))
            }
        };
        table.place(workload);
        Ok(table)
    }

    /// Frames of each file: one for every page that there is, or may come.
    pub(super) fn frames(&self, workload: &TableWorkload) -> Vec<u32> {
        let mut frames = self.file_pages();
        if !workload.changes_strings() {
            return frames;
        }
        // As if every record were to move, and pages had room for the longest only.
        let more = |values: u64, value_bytes: u64| {
            let longest = value_bytes + KEPT_BYTES * values + RECORD_KEPT_BYTES;
            let in_page = (workload.geometry().usable_bytes() as u64 / longest).max(1);
            workload.records.div_ceil(in_page) as u32 + 1
        };
        if let Self::Dsm(relation) = self {
            for attribute in workload.wanted() {
                let schema = relation.file(attribute).schema();
                frames[attribute] += more(schema.degree() as u64, schema.most_bytes() as u64);
            }
        } else {
            frames[0] += more(workload.attributes.into(), workload.value_bytes());
        }
        frames
    }

    /// Gives every page a frame, and every index a place.
    fn place(&mut self, workload: &TableWorkload) {
        let frames = self.frames(workload);
        let places = Places::new(workload, &frames);
        let mut random = Random::new(workload.seed, FOR_FRAMES);
        // In memory: a frame for every page.
        let mut scatter = |number: usize, pages: &mut crate::page::Frames| {
            pages.scatter(places.frames(number), &mut random);
        };
        match self {
            Self::Nsm(file, _) => scatter(0, file.frames_mut()),
            Self::Pax(file, _) => scatter(0, file.frames_mut()),
            Self::StandardRow(store) => scatter(0, store.frames_mut()),
            Self::SuperRow(store) => scatter(0, store.frames_mut()),
            Self::SuperColumn(store) => {
                let columns = store.frames_mut().enumerate();
                columns.for_each(|(number, pages)| scatter(number, pages));
            }
            Self::Columns(relation) => {
                let columns = relation.frames_mut().enumerate();
                columns.for_each(|(number, pages)| scatter(number, pages));
            }
            Self::Dsm(relation) => {
                let files = relation.frames_mut().enumerate();
                files.for_each(|(number, pages)| scatter(number, pages));
            }
        }
        let mut end = places.end();
        for index in self.indexes_mut() {
            index.place(end);
            end = index
                .segments("")
                .last()
                .map_or(end, |last| last.base + last.size_bytes);
        }
    }

    /// Pages of each file.
    pub(super) fn file_pages(&self) -> Vec<u32> {
        match self {
            Self::Nsm(file, _) => vec![file.pages()],
            Self::Pax(file, _) => vec![file.pages()],
            Self::StandardRow(store) => vec![store.pages() as u32],
            Self::SuperRow(store) => vec![store.pages() as u32],
            Self::SuperColumn(store) => store.file_pages().collect(),
            Self::Dsm(relation) => (0..relation.schema().degree())
                .map(|attribute| relation.file(attribute).pages())
                .collect(),
            Self::Columns(relation) => (0..relation.schema().degree())
                .map(|attribute| relation.file(attribute).pages())
                .collect(),
        }
    }

    fn indexes_mut(&mut self) -> Vec<&mut RecordIndex> {
        match self {
            Self::Nsm(_, index) | Self::Pax(_, index) => index.iter_mut().collect(),
            Self::Dsm(relation) => relation.record_indexes_mut().collect(),
            Self::Columns(_) | Self::StandardRow(_) | Self::SuperRow(_) | Self::SuperColumn(_) => {
                Vec::new()
            }
        }
    }

    pub(super) fn indexes(&self) -> Vec<&RecordIndex> {
        match self {
            Self::Nsm(_, index) | Self::Pax(_, index) => index.iter().collect(),
            Self::Dsm(relation) => (0..relation.schema().degree())
                .map(|attribute| relation.record_index(attribute))
                .collect(),
            Self::Columns(_) | Self::StandardRow(_) | Self::SuperRow(_) | Self::SuperColumn(_) => {
                Vec::new()
            }
        }
    }
}
