//! A workload as Python holds it, and how it gets ready to run.

use crate::errors;
use crate::observed::Watch;
use crate::plain::Plain;
use crate::statistics::Outcome;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::{Mutex, MutexGuard, PoisonError};
use traces::host_memory::Free;
use workloads::{Library, Prepared};

/// Trees built for earlier calls, so that the points of a sweep share them.
static LIBRARY: Mutex<Option<Library>> = Mutex::new(None);

/// A workload that can run: read and checked once.
#[pyclass(frozen, module = "memwalk.simcore._native")]
pub(crate) struct Workload {
    /// All that was said of it, which is more than what runs.
    pub(crate) description: Value,
    pub(crate) spec: workloads::Workload,
}

#[pymethods]
impl Workload {
    /// Reads plain data. Raises `SpecError` if the workload cannot run.
    #[new]
    fn new(described: Plain) -> PyResult<Self> {
        let description = described.value().clone();
        let spec: workloads::Workload = described.read()?;
        spec.validate().map_err(errors::workload_error)?;
        Ok(Self { description, spec })
    }

    /// An estimate of the work of running it.
    fn work(&self) -> PyResult<Plain> {
        Plain::of(&self.spec.work())
    }

    /// An estimate of the memory of running it, in bytes: `building`, `running` and the largest `piece` of them.
    fn memory(&self) -> PyResult<Plain> {
        let memory = self.spec.memory();
        Plain::of(&json!({
            "building": memory.building,
            "running": memory.running,
            "piece": memory.piece,
        }))
    }

    /// Which kinds of instructions it has beside plain ones, loads and branches.
    fn instructions(&self) -> PyResult<Plain> {
        Plain::of(&self.spec.instructions())
    }

    /// What it asks storage for.
    fn traffic(&self) -> PyResult<Plain> {
        Plain::of(&self.spec.traffic())
    }

    fn __repr__(&self) -> String {
        let kernel = self.description["kernel"].as_str();
        format!("<Workload {}>", kernel.unwrap_or_default())
    }

    /// How many threads it has.
    #[getter]
    fn threads(&self) -> u32 {
        self.spec.threads()
    }

    /// The kernels that a workload may name, with their parameters.
    #[staticmethod]
    fn kernels() -> PyResult<Plain> {
        Plain::of(&workloads::kernels())
    }
}

/// Builds what a workload runs on, if nobody has.
pub(crate) fn prepare(workload: &workloads::Workload, watch: &Watch) -> PyResult<Prepared> {
    watch.build(|| {
        // Taken out while it builds: who listens to that may have something built, too, and other threads need not wait for it.
        let mut library = library().take().unwrap_or_default();
        let fits = |library: &Library| {
            let built = library.holds(workload);
            workload.memory().check(Free::now(), built)
        };
        if fits(&library).is_err() {
            // What is kept may be what takes the room.
            library = Library::new();
            fits(&library).map_err(errors::workload_shortage)?;
        }
        let prepared = library.prepare(workload);
        *self::library() = Some(library);
        prepared.map_err(errors::workload_error)
    })
}

/// What is kept, until the end of the statement: nobody may call Python meanwhile.
fn library() -> MutexGuard<'static, Option<Library>> {
    LIBRARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a kernel computed, by name.
pub(crate) fn metrics(outcome: workloads::Outcome) -> Outcome {
    outcome
        .metrics
        .into_iter()
        .map(|(name, value)| (name, json!(value)))
        .collect()
}
