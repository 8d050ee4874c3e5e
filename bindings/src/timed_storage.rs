//! Storage that Python simulates, on the time line of a run.

use crate::observed::Raised;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use simcore::storage::{Arrival, Fill, Request, Storage, StorageParts};
use std::rc::Rc;
use traces::SinkError;

/// An object that takes what cores ask for by the methods `read(core, page, at_ps, fill)`, `wait(core, page, at_ps, fill)`,
/// `prefetch(core, page, at_ps, fill)`, `write(core, page, at_ps)`, `finish(core, at_ps)` and `measure(core, at_ps)`, and says by `next_ps()`
/// and `advance(until_ps)` when something happens: see [`Storage`]. `advance` gives `(core, end_ps, parts_ps, first)`, or nothing. Its
/// `cpu_per_page_ps` does not change.
#[derive(Debug)]
pub(crate) struct TimedStorage {
    pages: Py<PyAny>,
    cpu_per_page_ps: u64,
    raised: Raised,
}

impl TimedStorage {
    /// What it raises later is left in `raised`.
    pub(crate) fn new(pages: Py<PyAny>, raised: &Raised) -> PyResult<Self> {
        let cpu_per_page_ps =
            Python::attach(|py| pages.bind(py).getattr("cpu_per_page_ps")?.extract())?;
        Ok(Self {
            pages,
            cpu_per_page_ps,
            raised: Rc::clone(raised),
        })
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

    fn call_for(&self, method: &str, core: usize, fill: Fill, at_ps: u64) -> Result<(), SinkError> {
        let Fill { page, number } = fill;
        self.call(method, (core, page, at_ps, number), |_| Ok(()))
    }
}

impl Storage for TimedStorage {
    fn cpu_per_page_ps(&self) -> u64 {
        self.cpu_per_page_ps
    }

    fn ask(&mut self, core: usize, request: Request, at_ps: u64) -> Result<(), SinkError> {
        match request {
            Request::Read(fill) => self.call_for("read", core, fill, at_ps),
            Request::Wait(fill) => self.call_for("wait", core, fill, at_ps),
            Request::Prefetch(fill) => self.call_for("prefetch", core, fill, at_ps),
            Request::Write(page) => self.call("write", (core, page, at_ps), |_| Ok(())),
            Request::Finish => self.call("finish", (core, at_ps), |_| Ok(())),
            Request::Measure => self.call("measure", (core, at_ps), |_| Ok(())),
        }
    }

    fn next_ps(&mut self) -> Result<Option<u64>, SinkError> {
        self.call("next_ps", (), |answer| answer.extract())
    }

    fn advance(&mut self, until_ps: u64) -> Result<Option<(usize, Arrival)>, SinkError> {
        self.call("advance", (until_ps,), arrival)
    }
}

/// Which core goes on, until when it has waited, and for what.
fn arrival(answer: Bound<'_, PyAny>) -> PyResult<Option<(usize, Arrival)>> {
    let found = answer.extract::<Option<(usize, u64, [u64; 6], bool)>>()?;
    let Some((core, at_ps, parts, first)) = found else {
        return Ok(None);
    };
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
    let arrival = Arrival {
        at_ps,
        parts,
        first,
    };
    Ok(Some((core, arrival)))
}
