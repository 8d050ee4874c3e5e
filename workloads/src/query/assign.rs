//! Updates of strings: `set a = string where predicates`. A string that grows may need more room than its record's page has (PAX section 4.2).

use super::calls::Call;
use super::change::change_selected;
use super::delete::log_record;
use super::dirty::Dirty;
use super::predicate::Predicate;
use super::scan::{ScanOrder, loaded};
use super::update::LogBuffer;
use crate::page::{PageFile, RecordId, Value};
use crate::tracer::{Dep, Trace};
use std::collections::HashSet;

/// What an update of strings did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assigned {
    /// Records that were changed.
    pub records: u64,
    /// Times that one of them moved to another page.
    pub moved: u64,
}

/// Gives the strings `attributes` of every record that passes the predicates other values, which `next` brings one after the other;
/// changed pages are written. The file begins at page `first_page` of storage.
///
/// The records of a page are found first. A record that its page has no room for moves to the first page that has, or to a new one,
/// which is read and stays in the buffer pool until another one is filled. What has moved is not changed again.
pub fn assign<'s, F: ScanOrder, T: Trace>(
    file: &mut F,
    first_page: u64,
    trace: &mut T,
    predicates: &[Predicate],
    attributes: &[usize],
    mut next: impl FnMut() -> &'s [u8],
    log: &mut LogBuffer,
) -> Assigned {
    let (mut moved, mut times) = (HashSet::new(), 0);
    let mut filling = Filling {
        first_page,
        page: None,
        dirty: Dirty::new(1),
    };
    let no_columns = std::iter::empty();
    let records = change_selected(
        file,
        first_page,
        trace,
        predicates,
        no_columns,
        |file, trace, found| {
            let page = found.page.number();
            let id = |slot| RecordId { page, slot };
            found.records.retain(|one| !moved.contains(&id(one.slot)));
            for record in &found.records {
                trace.call(Call::LockRecord as u16);
                let mut now = id(record.slot);
                for &attribute in attributes {
                    let before = now;
                    now = filling.assign(file, trace, now, attribute, next(), log);
                    times += u64::from(now != before);
                }
                if now != id(record.slot) {
                    moved.insert(now);
                }
            }
        },
    );
    filling.dirty.write(trace);
    Assigned {
        records,
        moved: times,
    }
}

/// The page that records move to.
struct Filling {
    first_page: u64,
    page: Option<u32>,
    dirty: Dirty,
}

impl Filling {
    /// Gives a record another string: where it is then.
    fn assign<F: PageFile, T: Trace>(
        &mut self,
        file: &mut F,
        trace: &mut T,
        id: RecordId,
        attribute: usize,
        string: &[u8],
        log: &mut LogBuffer,
    ) -> RecordId {
        trace.call(Call::UpdateAttribute as u16);
        // Those changed before may have moved it in its page.
        let page = file.open(trace, id.page, Dep::NONE);
        let record = file.record(trace, page, id.slot);
        let record = record.expect("the page was locked since the record was found");
        let mut column = file.column(trace, page, attribute);
        let old = loaded(file, trace, page, attribute, &mut column, record);
        let (old_bytes, read) = (old.value.bytes().len(), old.token.after(0));
        let value = Value::Bytes(string);
        if file.update_in_page(trace, page, record, attribute, value) {
            log.append_values(trace, old_bytes + string.len(), read);
            return id;
        }
        let bytes = file.frames().page(id.page).to_vec();
        let mut values = file.values(&bytes, page, record);
        values[attribute] = value;
        trace.call(Call::DeleteRecord as u16);
        let columns: Vec<_> = (0..file.schema().degree())
            .map(|each| file.column(trace, page, each))
            .collect();
        let all = log_record(file, trace, page, &columns, record, log);
        file.remove(trace, page, record);
        self.turn_to(file, trace, &values);
        trace.call(Call::InsertRecord as u16);
        let now = file.insert(trace, &values);
        self.page = Some(now.page);
        let place = self.first_page + u64::from(now.page);
        self.dirty.change(trace, 0, place);
        log.append_values(trace, all - old_bytes + string.len(), Dep::NONE);
        now
    }

    /// Turns to the page that a record of these values will be put into, unless it is the one being filled, or new.
    fn turn_to<F: PageFile, T: Trace>(&self, file: &mut F, trace: &mut T, values: &[Value]) {
        let Some(page) = file.page_for(values) else {
            return;
        };
        if self.page != Some(page) {
            let stored = self.first_page + u64::from(page);
            trace.page_read(stored, file.frames().frame(page));
            trace.call(Call::FixPage as u16);
        }
    }
}
