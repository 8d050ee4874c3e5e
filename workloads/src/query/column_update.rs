//! Updates of numbers in place in a relation in columns: a file's page is written when the scan turns away from it.

use super::calls::Call;
use super::change::add;
use super::column_scan::{Cursors, StoredColumns, VALUE};
use super::dirty::Dirty;
use super::log_buffer::LogBuffer;
use super::predicate::Predicate;
use crate::page::{Columns, PageFile};
use crate::tracer::Trace;

/// As [`super::update`]: every attribute is changed in its own file. The relation is read; what is changed is `written`, a copy of it.
pub(crate) fn update_columns<T: Trace>(
    stored: StoredColumns<'_>,
    trace: &mut T,
    predicates: &[Predicate],
    attributes: &[usize],
    summand: i64,
    log: &mut LogBuffer,
    written: &mut Columns,
) -> u64 {
    let mut cursors = Cursors::new(stored);
    let moving = stored.moving(predicates, attributes);
    let mut dirty = Dirty::new(stored.relation.schema().degree());
    let mut changed = 0;
    for number in 0..stored.relation.records() {
        if trace.failed() {
            return changed;
        }
        if !cursors.passes(trace, &moving, predicates, number) {
            continue;
        }
        trace.call(Call::LockRecord as u16);
        for &attribute in attributes {
            let (open, slot) = cursors.turn_to(trace, attribute, number);
            trace.call(Call::UpdateAttribute as u16);
            let page = open.page;
            let column = open.column(trace, VALUE);
            let file = written.file_mut(attribute);
            let record = file
                .record(trace, page, slot)
                .expect("columns keep every record");
            add(file, trace, page, column, record, summand, log);
            let place = cursors.files[attribute].first_page + u64::from(page.number());
            dirty.change(trace, attribute, place);
        }
        changed += 1;
    }
    dirty.write(trace);
    changed
}
