//! Full validation of a trace file.

use crate::event::{Event, Kind};
use crate::sink::Counter;
use crate::store::error::StoreError;
use crate::store::info::{TraceInfo, TraceSummary};
use crate::store::reader::Reader;
use serde::Serialize;
use std::path::Path;

/// What a full reading of a trace found; there is a report only if nothing is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckReport {
    /// How much the file holds.
    pub summary: TraceSummary,
    /// Events of each kind that occurs, in the order of the stored numbers.
    pub kinds: Vec<KindCount>,
    /// What the file says about itself.
    pub info: TraceInfo,
}

/// Events of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct KindCount {
    /// The kind.
    pub kind: Kind,
    /// How many.
    pub events: u64,
}

/// Reads all of a trace and validates every value in it.
///
/// # Errors
/// The first thing that is wrong with the file.
pub fn check(path: impl AsRef<Path>) -> Result<CheckReport, StoreError> {
    check_with(path, |_| Ok(()))
}

/// The same; `passed` is called with the events that were read, now and then.
///
/// # Errors
/// The first thing that is wrong with the file, or what `passed` gives.
pub fn check_with<E: From<StoreError>>(
    path: impl AsRef<Path>,
    mut passed: impl FnMut(&[Event]) -> Result<(), E>,
) -> Result<CheckReport, E> {
    let path = path.as_ref();
    let reader = Reader::open(path)?;
    let mut counter = Counter::default();
    reader.for_each_batch(|events| {
        counter.count(events);
        passed(events)
    })?;
    let summary = reader.summary();
    if counter.instructions != summary.instructions {
        let (found, announced) = (counter.instructions, summary.instructions);
        let cause =
            format!("the events stand for {found} instructions, not the {announced} announced");
        return Err(StoreError::corrupt(path, "contents", cause).into());
    }
    let kinds = Kind::ALL
        .into_iter()
        .map(|kind| KindCount {
            kind,
            events: counter.events[kind as usize],
        })
        .filter(|count| count.events > 0)
        .collect();
    Ok(CheckReport {
        summary,
        kinds,
        info: reader.info().clone(),
    })
}
