//! Trace files: written by a workload's run, described, looked into, checked.

use crate::columns;
use crate::errors::{internal, store_error};
use crate::observed::{Listeners, Observed, Watch};
use crate::plain::Plain;
use crate::workload::{Workload, metrics, prepare};
use pyo3::prelude::*;
use serde_json::Value;
use traces::store::{self, Reader, TraceInfo, Writer};

/// Runs a workload into a trace file.
#[pyfunction]
#[pyo3(signature = (workload, path, progress=None, building=None))]
pub(crate) fn record(
    py: Python<'_>,
    workload: &Workload,
    path: &str,
    progress: Option<Py<PyAny>>,
    building: Option<Py<PyAny>>,
) -> PyResult<Plain> {
    let description = workload.description.clone();
    py.detach(|| {
        let mut watch = Watch::new(Listeners { progress, building });
        let prepared = prepare(&workload.spec, &watch)?;
        let info = TraceInfo {
            seed: description.get("seed").and_then(Value::as_u64),
            line_bytes: description.get("line_bytes").and_then(Value::as_u64),
            page_bytes: description.get("page_bytes").and_then(Value::as_u64),
            threads: prepared.threads(),
            slice: prepared.slice(),
            ..TraceInfo::new(description, prepared.layout().clone())
        };
        let mut writer = Writer::create(path, &info).map_err(store_error)?;
        let outcome = if prepared.threads() == 1 {
            prepared.run(&mut Observed::new(&mut writer, &mut watch))
        } else {
            prepared.take_turns(|thread, events| {
                writer.consume_of(thread, events)?;
                watch.passed(events.len())
            })
        };
        let outcome = watch.outcome(outcome)?;
        writer.set_outcome(metrics(outcome));
        Plain::of(&writer.finish().map_err(store_error)?)
    })
}

/// What a trace file says about itself, and how much it holds.
#[pyfunction]
pub(crate) fn trace_info(path: &str) -> PyResult<Plain> {
    let reader = Reader::open(path).map_err(store_error)?;
    let mut info = serde_json::to_value(reader.info()).map_err(internal)?;
    info["summary"] = serde_json::to_value(reader.summary()).map_err(internal)?;
    Plain::of(&info)
}

/// The first `n` events of a trace file, with their thread's number if it has several.
#[pyfunction]
pub(crate) fn trace_head(path: &str, n: usize) -> PyResult<Plain> {
    let reader = Reader::open(path).map_err(store_error)?;
    let sites = reader.info().layout.sites.clone();
    let has_several = reader.info().threads > 1;
    let events = reader.head_by_thread(n).map_err(store_error)?;
    let rows: Vec<Value> = events
        .iter()
        .map(|(thread, event)| {
            let mut row = columns::describe(event, &sites);
            if has_several {
                row["thread"] = (*thread).into();
            }
            row
        })
        .collect();
    Plain::of(&rows)
}

/// Reads all of a trace file and validates every value.
#[pyfunction]
#[pyo3(signature = (path, progress=None))]
pub(crate) fn trace_check(
    py: Python<'_>,
    path: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Plain> {
    py.detach(|| {
        let mut watch = Watch::new(Listeners::of(progress));
        let report = store::check_with(path, |events| watch.passed(events.len()));
        Plain::of(&watch.outcome(report)?)
    })
}
