//! What changes of records have in common: which pages and records they reach, and a number that is added to.

use super::log_buffer::LogBuffer;
use super::predicate::Predicate;
use super::scan::{OpenPage, ScanOrder};
use crate::page::{Column, Page, PageFile, Record, Value};
use crate::tracer::Trace;

/// Records of a page that pass, with the places of the attributes that are changed.
pub(super) struct Selected {
    pub(super) page: Page,
    pub(super) columns: Vec<Column>,
    pub(super) records: Vec<Record>,
}

/// Finds the records that pass the predicates, page by page, and hands those of a page with the places of `attributes` to `change`; the
/// page is then written, unless `change` keeps none of them. Returns how many records were changed. The file begins at page `first_page` of storage.
pub(super) fn change_selected<F: ScanOrder, T: Trace>(
    file: &mut F,
    first_page: u64,
    trace: &mut T,
    predicates: &[Predicate],
    attributes: impl Iterator<Item = usize> + Clone,
    mut change: impl FnMut(&mut F, &mut T, &mut Selected),
) -> u64 {
    let mut changed = 0;
    for number in 0..file.pages() {
        if trace.failed() {
            break;
        }
        let stored = first_page + u64::from(number);
        let mut open = OpenPage::turn(&*file, trace, number, stored);
        let mut records = Vec::new();
        open.select(trace, predicates, |_, _, record| records.push(record));
        if records.is_empty() {
            continue;
        }
        let columns = attributes.clone();
        let mut selected = Selected {
            columns: columns.map(|wanted| *open.column(trace, wanted)).collect(),
            page: open.page,
            records,
        };
        change(file, trace, &mut selected);
        if selected.records.is_empty() {
            continue;
        }
        trace.page_write(stored);
        changed += selected.records.len() as u64;
    }
    changed
}

/// Adds to a number of a record, if there is one, and logs the change.
pub(super) fn add<F: PageFile, T: Trace>(
    file: &mut F,
    trace: &mut T,
    page: Page,
    column: &mut Column,
    record: Record,
    summand: i64,
    log: &mut LogBuffer,
) {
    let Some(old) = file.int(trace, page, column, record) else {
        return;
    };
    trace.work(1);
    let new = Value::Int(old.value + summand);
    file.set(trace, page, column, record, new, old.token.after(1));
    log.append(trace, old.token.after(1));
}
