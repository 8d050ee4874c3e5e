//! Byte usage of a trace file.

use crate::errors::{spec_error, store_error};
use crate::machine::{Machine, room_for_one};
use crate::observed::{Listeners, Observed, Watch};
use crate::plain::Plain;
use pyo3::prelude::*;
use simcore::ByteUsage;
use traces::store::Reader;

/// Bytes that a trace file fetches into a machine's last cache, and uses there, by site.
#[pyfunction]
#[pyo3(signature = (path, machine, progress=None))]
pub(crate) fn replay_byte_usage(
    py: Python<'_>,
    path: &str,
    machine: &Machine,
    progress: Option<Py<PyAny>>,
) -> PyResult<Plain> {
    let spec = &machine.spec;
    py.detach(|| {
        let reader = Reader::open(path).map_err(store_error)?;
        room_for_one(spec, &reader.info().layout)?;
        let mut usage = ByteUsage::new(spec, &reader.info().layout).map_err(spec_error)?;
        let mut watch = Watch::new(Listeners::of(progress));
        let mut observed = Observed::new(&mut usage, &mut watch);
        let consumed =
            reader.for_each_batch(|events| traces::EventSink::consume(&mut observed, events));
        watch.outcome(consumed)?;
        Plain::of(&usage.finish())
    })
}
