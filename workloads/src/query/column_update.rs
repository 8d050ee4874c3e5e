//! Updates of numbers in place in a relation in columns: a file's page is written when the scan turns away from it.

use super::calls::Call;
use super::column_scan::{Cursors, StoredColumns, VALUE};
use super::dirty::Dirty;
use super::predicate::Predicate;
use super::update::LogBuffer;
use crate::page::{PageFile, Value};
use crate::tracer::Trace;

/// As [`super::update`]: every attribute is changed in its own file. The relation itself stays as it is.
pub(crate) fn update_columns<T: Trace>(
    stored: StoredColumns<'_>,
    trace: &mut T,
    predicates: &[Predicate],
    attributes: &[usize],
    summand: i64,
    log: &mut LogBuffer,
) -> u64 {
    // The scan reads each value before it is changed, and no value twice.
    let mut written = stored.relation.clone();
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
            let (page, column) = (open.page, open.column(trace, VALUE));
            let file = stored.relation.file(attribute);
            let record = file
                .record(trace, page, slot)
                .expect("columns keep every record");
            let Some(old) = file.int(trace, page, &column, record) else {
                continue;
            };
            trace.work(1);
            let new = Value::Int(old.value + summand);
            let file = written.file_mut(attribute);
            file.set(trace, page, &column, record, new, old.token.after(1));
            log.append(trace);
            let place = cursors.files[attribute].first_page + u64::from(page.number());
            dirty.change(trace, attribute, place);
        }
        changed += 1;
    }
    dirty.write(trace);
    changed
}
