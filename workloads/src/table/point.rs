//! Point queries by record number (PAX section 7.5).

use super::build::Table;
use crate::page::{Loaded, PageFile, RecordIndex, Value};
use crate::query::{Call, Decomposed, read_value};
use crate::tracer::Trace;

/// Looks up record `number`, locks it, and reads attributes of it.
pub(super) fn query<'f, T: Trace>(
    table: &'f Table,
    trace: &mut T,
    number: u32,
    wanted: &[usize],
) -> Vec<Loaded<Value<'f>>> {
    match table {
        Table::Nsm(file, Some(index)) => fetch(file, index, trace, number, wanted),
        Table::Pax(file, Some(index)) => fetch(file, index, trace, number, wanted),
        Table::Dsm(relation) => Decomposed::new(relation, 0, 0).fetch(trace, number, wanted),
        _ => Vec::new(),
    }
}

fn fetch<'f, F: PageFile, T: Trace>(
    file: &'f F,
    index: &RecordIndex,
    trace: &mut T,
    number: u32,
    wanted: &[usize],
) -> Vec<Loaded<Value<'f>>> {
    for _ in 0..index.levels() {
        trace.call(Call::FixPage as u16);
    }
    let Some((id, dep)) = index.find(trace, number) else {
        return Vec::new();
    };
    trace.page_read(u64::from(id.page));
    trace.call(Call::FixPage as u16);
    let page = file.open(trace, id.page, dep);
    trace.call(Call::LockRecord as u16);
    let Some(record) = file.record(trace, page, id.slot) else {
        return Vec::new();
    };
    let read = |&attribute: &usize| {
        trace.call(Call::ReadAttribute as u16);
        let column = file.column(trace, page, attribute);
        read_value(file, trace, page, attribute, &column, record)
    };
    wanted.iter().map(read).collect()
}
