//! Deletions: `delete where predicates` (PAX section 4.2).

use super::calls::Call;
use super::change::change_selected;
use super::log_buffer::LogBuffer;
use super::predicate::Predicate;
use super::scan::{ScanOrder, loaded};
use crate::page::{Column, Page, PageFile, Record};
use crate::tracer::{Dep, Trace};

/// Deletes every record that passes the predicates; pages that lose some are written. Returns how many records that were.
///
/// The records of a page are found first. Each is locked, copied into the log, so that it can be brought back, and deleted. The
/// file begins at page `first_page` of storage.
pub fn delete<F: ScanOrder, T: Trace>(
    file: &mut F,
    first_page: u64,
    trace: &mut T,
    predicates: &[Predicate],
    log: &mut LogBuffer,
) -> u64 {
    let attributes = 0..file.schema().degree();
    change_selected(
        file,
        first_page,
        trace,
        predicates,
        attributes,
        |file, trace, found| {
            for record in &found.records {
                trace.call(Call::LockRecord as u16);
                trace.call(Call::DeleteRecord as u16);
                // Those deleted before may have moved it.
                let page = file.open(trace, found.page.number(), Dep::NONE);
                let record = file.record(trace, page, record.slot);
                let record = record.expect("the page was locked since the record was found");
                log_record(file, trace, page, &found.columns, record, log);
                file.remove(trace, page, record);
            }
        },
    )
}

/// Copies all values of a record into the log. Returns their bytes, and what brought the last one.
pub(super) fn log_record<F: PageFile, T: Trace>(
    file: &F,
    trace: &mut T,
    page: Page,
    columns: &[Column],
    record: Record,
    log: &mut LogBuffer,
) -> (usize, Dep) {
    let (mut bytes, mut dep) = (0, Dep::NONE);
    // What was gone through of them is no longer so where records were deleted.
    for (attribute, mut column) in columns.iter().copied().enumerate() {
        let found = loaded(file, trace, page, attribute, &mut column, record);
        let kind = file.schema().attributes()[attribute].kind;
        bytes += kind.bytes_of(found.value);
        dep = found.token.after(0).or(dep);
    }
    log.append_values(trace, bytes, dep);
    (bytes, dep)
}
