//! Byte usage of a workload, or of a trace file.

use crate::errors::{spec_error, store_error, to_json};
use crate::observed::{Listeners, Observed, Watch};
use crate::{machine_from, prepare, room_for_one, warmed_up, workload_from};
use pyo3::prelude::*;
use simcore::ByteUsage;
use traces::store::Reader;

/// Bytes that a workload fetches into a machine's last cache, and uses there, by site.
#[pyfunction]
#[pyo3(signature = (workload, machine, progress=None, building=None))]
pub(crate) fn byte_usage(
    py: Python<'_>,
    workload: &str,
    machine: &str,
    progress: Option<Py<PyAny>>,
    building: Option<Py<PyAny>>,
) -> PyResult<String> {
    let spec = machine_from(machine)?;
    let workload = workload_from(workload)?;
    py.detach(|| {
        let mut watch = Watch::new(Listeners { progress, building });
        let warmed = warmed_up(&spec, workload, &mut watch)?;
        let prepared = prepare(&warmed.workload, &watch)?;
        room_for_one(&spec, prepared.layout())?;
        let mut usage = ByteUsage::new(&spec, prepared.layout()).map_err(spec_error)?;
        let run = prepared.run(&mut Observed::new(&mut usage, &mut watch));
        watch.outcome(run)?;
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
        let reader = Reader::open(path).map_err(store_error)?;
        room_for_one(&spec, &reader.info().layout)?;
        let mut usage = ByteUsage::new(&spec, &reader.info().layout).map_err(spec_error)?;
        let mut watch = Watch::new(Listeners::of(progress));
        let mut observed = Observed::new(&mut usage, &mut watch);
        let consumed =
            reader.for_each_batch(|events| traces::EventSink::consume(&mut observed, events));
        watch.outcome(consumed)?;
        to_json(&usage.finish())
    })
}
