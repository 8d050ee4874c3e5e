//! Files of pages, as a workload wants them, and how they are filled.

use super::Table;
use super::blocks::for_each_generated;
use super::intake::Intake;
use super::places::{Places, index_base};
use super::spec::TpchWorkload;
use crate::page::dsm::NUMBER_TYPE;
use crate::page::{
    Columns, Dsm, DsmLoader, Frames, Geometry, Nsm, PageFile, PageSites, Pax, PaxOptions, Pool,
    Schema, Source, Value, assert_apart,
};
use crate::query::{Call, ScanOrder};
use crate::random::Random;
use crate::tracer::Trace;
use crate::validate::WorkloadError;

/// Bytes that the storage manager keeps at the beginning of a page: what gives the published 125 records of eight
/// 8-byte attributes in a PAX page of 8 KB (PAX section 6.2.2).
const HEADER_BYTES: u32 = 32;

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

/// Pages as a workload wants them.
pub(super) fn geometry(workload: &TpchWorkload) -> Geometry {
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

/// Fills a file with the records of a table.
pub(super) fn fill<F: Create, T: Trace>(
    workload: &TpchWorkload,
    table: Table,
    mut file: F,
    first_page: u64,
    intake: &mut Intake,
    trace: &mut T,
) -> F {
    let mut random = Random::new(workload.seed, table as u64);
    let pool = Places::new(workload).table(table);
    file.frames_mut().scatter(pool, &mut random);
    let mut written = 0;
    let mut write_to = |trace: &mut T, end: u32| {
        (written..end).for_each(|page| trace.page_write(first_page + u64::from(page)));
        written = written.max(end);
    };
    let schema = table.schema();
    for_each_generated(table, workload.scale_factor, trace, |trace, record| {
        if !trace.failed() {
            intake.read(trace, &schema, record);
            trace.call(Call::InsertRecord as u16);
            let id = file.insert_from(trace, record, intake.source());
            let attributes = schema.attributes().iter().zip(record);
            let bytes = attributes.map(|(attribute, &value)| attribute.kind.bytes_of(value));
            intake.log(trace, bytes.sum(), intake.source());
            write_to(trace, id.page);
        }
    });
    write_to(trace, file.pages());
    file
}

/// Fills the files of a decomposed relation with the records of a table, and builds its indexes.
///
/// Each file has an equal part of the buffer pool; the pages are written at the end.
pub(super) fn decompose<T: Trace>(
    workload: &TpchWorkload,
    table: Table,
    mut loader: DsmLoader,
    first_page: u64,
    intake: &mut Intake,
    trace: &mut T,
) -> Dsm {
    scatter(workload, table, loader.frames_mut());
    let numbers = NUMBER_TYPE.most_bytes();
    add_pieces(
        workload,
        table,
        numbers,
        intake,
        trace,
        |trace, record, from| {
            loader.add_from(trace, record, from);
        },
    );
    let mut relation = loader.finish(0);
    let degree = relation.schema().degree();
    let pages = (0..degree).map(|attribute| relation.file(attribute).pages());
    write_pages(trace, first_page, pages);
    let mut address = index_base(table);
    for index in relation.record_indexes_mut() {
        index.place(address);
        let last = index.segments("").pop();
        address = last.map_or(address, |last| last.base + last.size_bytes);
    }
    relation
}

/// Fills the files of a relation in columns with the records of a table, as [`decompose`] does.
pub(super) fn divide<T: Trace>(
    workload: &TpchWorkload,
    table: Table,
    mut columns: Columns,
    first_page: u64,
    intake: &mut Intake,
    trace: &mut T,
) -> Columns {
    scatter(workload, table, columns.frames_mut());
    add_pieces(workload, table, 0, intake, trace, |trace, record, from| {
        columns.add_from(trace, record, from);
    });
    let degree = columns.schema().degree();
    let pages = (0..degree).map(|attribute| columns.file(attribute).pages());
    write_pages(trace, first_page, pages);
    columns
}

/// Gives each of a table's files an equal part of the buffer pool.
fn scatter<'a>(workload: &TpchWorkload, table: Table, files: impl Iterator<Item = &'a mut Frames>) {
    let pool = Places::new(workload).table(table);
    let mut random = Random::new(workload.seed, table as u64);
    let parts = pool.parts(table.schema().degree() as u32);
    let scatter = |(file, part): (&'a mut Frames, Pool)| {
        file.scatter(part, &mut random);
        &*file
    };
    let files: Vec<&Frames> = files.zip(parts).map(scatter).collect();
    assert_apart(&files);
}

/// Hands over the records of a table, of each of which every file gets a value, with so many bytes beside it.
fn add_pieces<T: Trace>(
    workload: &TpchWorkload,
    table: Table,
    beside: usize,
    intake: &mut Intake,
    trace: &mut T,
    mut add: impl FnMut(&mut T, &[Value], Source),
) {
    let schema = table.schema();
    for_each_generated(table, workload.scale_factor, trace, |trace, record| {
        if !trace.failed() {
            intake.read(trace, &schema, record);
            record
                .iter()
                .for_each(|_| trace.call(Call::InsertRecord as u16));
            add(trace, record, intake.source());
            let mut before = 0;
            for (attribute, &value) in schema.attributes().iter().zip(record) {
                let bytes = attribute.kind.bytes_of(value);
                let from = intake.source().part(before, bytes);
                before += bytes;
                intake.log(trace, beside + bytes, from);
            }
        }
    });
}

/// Writes files of so many pages each.
fn write_pages<T: Trace>(trace: &mut T, first_page: u64, pages: impl Iterator<Item = u32>) {
    let end = first_page + pages.map(u64::from).sum::<u64>();
    (first_page..end).for_each(|page| trace.page_write(page));
}
