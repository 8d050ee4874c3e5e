//! Range selections on Lineitem: which records they select (PAX section 7.1).

use super::Table;
use super::queries::at;
use super::spec::TpchWorkload;
use crate::query::{Predicate, Scan};
use crate::tracer::Untraced;

/// The predicates of a workload: the first holds for the asked share of the records, from the lowest value on; the
/// others for all.
pub(super) fn predicates<'f>(workload: &TpchWorkload, lineitem: impl Scan<'f>) -> Vec<Predicate> {
    let mut places = workload
        .predicates
        .iter()
        .map(|name| at(Table::Lineitem, name));
    let Some(first) = places.next() else {
        return Vec::new();
    };
    let (low, high) = range(lineitem, first, workload.selectivity);
    let others = places.map(|place| Predicate::within(place, i64::MIN, i64::MAX));
    std::iter::once(Predicate::within(first, low, high))
        .chain(others)
        .collect()
}

/// The least range from the lowest value of an attribute on that holds at least so large a share of the records.
fn range<'f>(lineitem: impl Scan<'f>, attribute: usize, selectivity: f64) -> (i64, i64) {
    let mut values = Vec::new();
    lineitem.scan(&mut Untraced, &[], &[attribute], |_, row| {
        values.push(row[0].value.int())
    });
    let wanted = (values.len() as f64 * selectivity).round() as usize;
    let Some(last) = wanted.min(values.len()).checked_sub(1) else {
        return (0, -1);
    };
    let (_, &mut high, _) = values.select_nth_unstable(last);
    (i64::MIN, high)
}
