//! Point queries: a record by its number, through an index (PAX section 7.5).

use super::calls::Call;
use super::dsm_scan::Fetcher;
use super::scan::loaded;
use crate::page::{Loaded, NodesOfIndex, PageFile, RecordIndex, Value};
use crate::tracer::Trace;

/// Finds record `number` through the index, locks it, and reads attributes of it; nothing if there is no such record.
///
/// The pages of the index and that of the record are fixed in the buffer pool; the file begins at page `first_page` of
/// storage. `nodes` are those of an index in storage; all are in memory without.
pub fn point<'f, F: PageFile, T: Trace>(
    file: &'f F,
    index: &RecordIndex,
    nodes: Option<NodesOfIndex<'_>>,
    first_page: u64,
    trace: &mut T,
    number: u32,
    project: &[usize],
) -> Vec<Loaded<Value<'f>>> {
    for _ in 0..index.levels() {
        trace.call(Call::FixPage as u16);
    }
    let found = match nodes {
        Some(nodes) => index.find_stored(trace, number, nodes),
        None => index.find(trace, number),
    };
    let Some((id, dep)) = found else {
        return Vec::new();
    };
    let frame = file.frames().frame(id.page);
    trace.page_read(first_page + u64::from(id.page), frame);
    trace.call(Call::FixPage as u16);
    let page = file.open(trace, id.page, dep);
    lock(trace);
    let Some(record) = file.record(trace, page, id.slot) else {
        return Vec::new();
    };
    let read = |&attribute: &usize| {
        trace.call(Call::ReadAttribute as u16);
        let mut column = file.column(trace, page, attribute);
        loaded(file, trace, page, attribute, &mut column, record)
    };
    project.iter().map(read).collect()
}

/// As [`point`], from a decomposed relation: each value through its own index.
pub(crate) fn point_decomposed<'f, T: Trace>(
    fetcher: &mut Fetcher<'f>,
    trace: &mut T,
    number: u32,
    project: &[usize],
) -> Vec<Loaded<Value<'f>>> {
    lock(trace);
    let read = |&attribute: &usize| fetcher.value(trace, number, attribute);
    project.iter().map(read).collect()
}

/// Locks a record that no scan has led to: where locks are hierarchical, its file and its page are locked first (PAX section 5.2).
pub(super) fn lock<T: Trace>(trace: &mut T) {
    for level in [Call::LockFile, Call::LockPage, Call::LockRecord] {
        trace.call(level as u16);
    }
}
