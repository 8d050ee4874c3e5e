//! Updates of numbers in place: `set a = a + b where predicates` (PAX section 7.1).

use super::calls::Call;
use super::change::{add, change_selected};
use super::log_buffer::LogBuffer;
use super::predicate::Predicate;
use super::scan::ScanOrder;
use crate::tracer::Trace;

/// Adds `summand` to the numbers `attributes` of every record that passes the predicates; changed pages are written.
/// Returns how many records changed. The file begins at page `first_page` of storage.
pub fn update<F: ScanOrder, T: Trace>(
    file: &mut F,
    first_page: u64,
    trace: &mut T,
    predicates: &[Predicate],
    attributes: &[usize],
    summand: i64,
    log: &mut LogBuffer,
) -> u64 {
    let attributes = attributes.iter().copied();
    change_selected(
        file,
        first_page,
        trace,
        predicates,
        attributes,
        |file, trace, found| {
            for &record in &found.records {
                trace.call(Call::LockRecord as u16);
                for column in &mut found.columns {
                    trace.call(Call::UpdateAttribute as u16);
                    add(file, trace, found.page, column, record, summand, log);
                }
            }
        },
    )
}
