//! Storage that Python simulates, on the time line of a run.

use crate::observed::Raised;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use simcore::storage::{Arrival, Storage, StorageParts};
use std::rc::Rc;
use traces::SinkError;

/// An object with the methods `read(page, at_ps) -> (end_ps, parts_ps)`, `write(page, at_ps)` and `finish(at_ps)`, which give the same,
/// and `prefetch(page, at_ps)`.
#[derive(Debug)]
pub(crate) struct TimedStorage {
    pages: Py<PyAny>,
    raised: Raised,
}

impl TimedStorage {
    /// What it raises is left in `raised`.
    pub(crate) fn new(pages: Py<PyAny>, raised: &Raised) -> Self {
        Self {
            pages,
            raised: Rc::clone(raised),
        }
    }

    fn call<A>(
        &self,
        method: &str,
        arguments: impl for<'py> PyCallArgs<'py>,
        answer: impl FnOnce(Bound<'_, PyAny>) -> PyResult<A>,
    ) -> Result<A, SinkError> {
        let called =
            Python::attach(|py| answer(self.pages.bind(py).call_method1(method, arguments)?));
        called.map_err(|error| {
            *self.raised.borrow_mut() = Some(error);
            SinkError::Interrupted
        })
    }
}

impl Storage for TimedStorage {
    fn read(&mut self, page: u64, at_ps: u64) -> Result<Arrival, SinkError> {
        self.call("read", (page, at_ps), arrival)
    }

    fn prefetch(&mut self, page: u64, at_ps: u64) -> Result<(), SinkError> {
        self.call("prefetch", (page, at_ps), |_| Ok(()))
    }

    fn write(&mut self, page: u64, at_ps: u64) -> Result<Arrival, SinkError> {
        self.call("write", (page, at_ps), arrival)
    }

    fn finish(&mut self, at_ps: u64) -> Result<Arrival, SinkError> {
        self.call("finish", (at_ps,), arrival)
    }
}

/// What a method answers: until when the core waits, and for what.
fn arrival(answer: Bound<'_, PyAny>) -> PyResult<Arrival> {
    let (at_ps, parts): (u64, [u64; 6]) = answer.extract()?;
    let [
        queue_ps,
        overhead_ps,
        seek_ps,
        rotation_ps,
        transfer_ps,
        bus_ps,
    ] = parts;
    let parts = StorageParts {
        queue_ps,
        overhead_ps,
        seek_ps,
        rotation_ps,
        transfer_ps,
        bus_ps,
    };
    Ok(Arrival { at_ps, parts })
}
