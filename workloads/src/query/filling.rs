//! Strings that may outgrow their record's page, and the page that such records move to.

use super::calls::Call;
use super::delete::log_record;
use super::dirty::Dirty;
use super::log_buffer::LogBuffer;
use super::scan::loaded;
use crate::page::{Page, PageFile, Record, RecordId, Value};
use crate::tracer::Trace;

/// Another string for a record that was found.
pub(super) struct Assignment<'s> {
    pub(super) place: (Page, Record),
    pub(super) attribute: usize,
    pub(super) string: &'s [u8],
}

/// The page of a file that records move to: it stays in the buffer pool until another one is filled, and is written then.
#[derive(Clone, Debug)]
pub(super) struct Filling {
    page: Option<u32>,
    dirty: Dirty,
}

impl Filling {
    /// No page yet.
    pub(super) fn new() -> Self {
        Self {
            page: None,
            dirty: Dirty::new(1),
        }
    }

    /// Gives a record another string: where it is then. `stored` says which number a page of the file has in storage.
    pub(super) fn assign<F: PageFile, T: Trace>(
        &mut self,
        file: &mut F,
        trace: &mut T,
        assignment: &Assignment<'_>,
        log: &mut LogBuffer,
        mut stored: impl FnMut(u32) -> u64,
    ) -> RecordId {
        let Assignment {
            place: (page, record),
            attribute,
            string,
        } = *assignment;
        let mut column = file.column(trace, page, attribute);
        let old = loaded(file, trace, page, attribute, &mut column, record);
        let (old_bytes, read) = (old.value.bytes().len(), old.token.after(0));
        let value = Value::Bytes(string);
        if file.update_in_page(trace, page, record, attribute, value) {
            log.append_values(trace, old_bytes + string.len(), read);
            return RecordId {
                page: page.number(),
                slot: record.slot,
            };
        }
        let bytes = file.frames().page(page.number()).to_vec();
        let mut values = file.values(&bytes, page, record);
        values[attribute] = value;
        trace.call(Call::DeleteRecord as u16);
        let columns: Vec<_> = (0..file.schema().degree())
            .map(|each| file.column(trace, page, each))
            .collect();
        let (all, read) = log_record(file, trace, page, &columns, record, log);
        file.remove(trace, page, record);
        self.turn_to(file, trace, &values, &mut stored);
        trace.call(Call::InsertRecord as u16);
        let now = file.insert_once(trace, &values, read);
        self.page = Some(now.page);
        self.dirty.change(trace, 0, stored(now.page));
        log.append_values(trace, all - old_bytes + string.len(), read);
        now
    }

    /// Turns to the page that a record of these values will be put into, unless it is the one being filled, or new.
    fn turn_to<F: PageFile, T: Trace>(
        &self,
        file: &mut F,
        trace: &mut T,
        values: &[Value],
        mut stored: impl FnMut(u32) -> u64,
    ) {
        let Some(page) = file.page_for(values) else {
            return;
        };
        if self.page != Some(page) {
            trace.page_read(stored(page), file.frames().frame(page));
            trace.call(Call::FixPage as u16);
        }
    }

    /// Writes the page that was filled last.
    pub(super) fn write<T: Trace>(self, trace: &mut T) {
        self.dirty.write(trace);
    }
}
