//! What a load does besides storing records: it reads them from data files, and logs those that it inserts, as recovery is on (PAX
//! section 7.1).

use super::data_file::DataFile;
use super::parsed::Parsed;
use super::places::{Places, data_file_site};
use super::spec::TpchWorkload;
use crate::page::{Schema, Source, Value};
use crate::query::LogBuffer;
use crate::tracer::Trace;

/// Where records come from, and where they are logged. In storage the data files lie first, then the log; the tables follow.
#[derive(Clone, Debug)]
pub(super) struct Intake {
    file: DataFile,
    record: Parsed,
    log: LogBuffer,
    data_pages: u64,
}

impl Intake {
    /// An empty log behind data files of so many pages, the first of which is open.
    pub(super) fn new(workload: &TpchWorkload, data_pages: u64) -> Self {
        let places = Places::new(workload);
        Self {
            file: DataFile::new(places.data_file(), data_file_site(workload)),
            record: Parsed::new(places.parsed(), data_file_site(workload) + 1),
            log: LogBuffer::stored(places.log(), data_pages, workload.page_bytes.into()),
            data_pages,
        }
    }

    /// Turns to the data file that begins at a page.
    pub(super) fn open(&mut self, first_page: u64) {
        self.file.open(first_page);
    }

    /// Number of the first page in storage behind data files and log.
    pub(super) fn end(&self) -> u64 {
        self.data_pages + LogBuffer::PAGES
    }

    /// Reads the next record, and keeps its values.
    pub(super) fn read<T: Trace>(&mut self, trace: &mut T, schema: &Schema, record: &[Value<'_>]) {
        let read = self.file.read_line(trace, schema, record);
        self.record.store(trace, schema, record, read);
    }

    /// Where the record's values are copied from.
    pub(super) fn source(&self) -> Source {
        self.record.source()
    }

    /// Logs an inserted record of so many bytes, with values of the one that was read.
    pub(super) fn log<T: Trace>(&mut self, trace: &mut T, bytes: usize, from: Source) {
        self.log.append_record(trace, bytes, from);
    }

    /// Writes the last page of the log. Returns how many pages that were in all.
    pub(super) fn finish<T: Trace>(&mut self, trace: &mut T) -> u64 {
        self.log.finish(trace)
    }
}
