//! Updates of strings: `set a = string where predicates`. A string that grows may need more room than its record's page has (PAX section 4.2).

use super::calls::Call;
use super::change::change_selected;
use super::filling::{Assignment, Filling};
use super::log_buffer::LogBuffer;
use super::predicate::Predicate;
use super::scan::ScanOrder;
use crate::page::RecordId;
use crate::tracer::{Dep, Trace};
use std::collections::HashSet;

/// What an update of strings did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assigned {
    /// Records that were changed.
    pub records: u64,
    /// Times that one of them moved to another page; of a decomposed relation, that a value did.
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
    let mut filling = Filling::new();
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
                    trace.call(Call::UpdateAttribute as u16);
                    let before = now;
                    // Those changed before may have moved it in its page.
                    let page = file.open(trace, now.page, Dep::NONE);
                    let record = file.record(trace, page, now.slot);
                    let assignment = Assignment {
                        place: (page, record.expect("its page is locked")),
                        attribute,
                        string: next(),
                    };
                    let stored = |page| first_page + u64::from(page);
                    now = filling.assign(file, trace, &assignment, log, stored);
                    times += u64::from(now != before);
                }
                if now != id(record.slot) {
                    moved.insert(now);
                }
            }
        },
    );
    filling.write(trace);
    Assigned {
        records,
        moved: times,
    }
}
