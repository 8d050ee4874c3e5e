//! Byte usage of a workload, or of a trace file.

use crate::errors::{spec_error, store_error, to_json};
use crate::observed::Observed;
use crate::{machine_from, prepare, warmed_up, workload_from};
use pyo3::prelude::*;
use simcore::ByteUsage;
use traces::store::Reader;

/// Bytes that a workload fetches into a machine's last cache, and uses there, by site.
#[pyfunction]
#[pyo3(signature = (workload, machine, progress=None))]
pub(crate) fn byte_usage(
    py: Python<'_>,
    workload: &str,
    machine: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let spec = machine_from(machine)?;
    let workload = workload_from(workload)?;
    py.detach(|| {
        let warmed = warmed_up(&spec, workload, progress.as_ref())?;
        let prepared = prepare(&warmed.workload)?;
        let mut usage = ByteUsage::new(&spec, prepared.layout()).map_err(spec_error)?;
        let mut observed = Observed::after(&mut usage, warmed.events, progress);
        let run = prepared.run(&mut observed);
        observed.outcome(run)?;
        to_json(&usage.finish())
    })
}

/// The same for a trace file.
#[pyfunction]
#[pyo3(signature = (path, machine, progress=None))]
pub(crate) fn replay_byte_usage(
    py: Python<'_>,
    path: &str,
    machine: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let spec = machine_from(machine)?;
    py.detach(|| {
        let mut reader = Reader::open(path).map_err(store_error)?;
        let mut usage = ByteUsage::new(&spec, &reader.info().layout).map_err(spec_error)?;
        let mut observed = Observed::new(&mut usage, progress);
        let consumed =
            reader.for_each_batch(|events| traces::EventSink::consume(&mut observed, events));
        observed.outcome(consumed)?;
        to_json(&usage.finish())
    })
}
