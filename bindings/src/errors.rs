//! Rust errors as Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use std::fmt::Display;
use traces::SinkError;
use traces::store::StoreError;
use workloads::WorkloadError;

create_exception!(
    memwalk.simcore._native,
    SpecError,
    PyException,
    "A machine or workload that cannot be: `args` are the path, such as `caches.0.ways`, and the message."
);
create_exception!(
    memwalk.simcore._native,
    TraceError,
    PyException,
    "A trace file that cannot be read or written."
);

create_exception!(
    memwalk.simcore._native,
    PageFileError,
    PyException,
    "A page file that cannot be read or written."
);

create_exception!(
    memwalk.simcore._native,
    MemoryShortageError,
    PyException,
    "What would take more memory than there is: `args` are as those of `SpecError`."
);

/// A machine, or the tables of its statistics, for which there is no memory.
pub(crate) fn machine_shortage(error: simcore::SpecError) -> PyErr {
    let path = match error.path.as_str() {
        "trace" => error.path,
        path => format!("machine.{path}"),
    };
    MemoryShortageError::new_err((path, error.message))
}

/// A workload for which there is no memory.
pub(crate) fn workload_shortage(error: WorkloadError) -> PyErr {
    MemoryShortageError::new_err((format!("workload.{}", error.path), error.message))
}

pub(crate) fn spec_error(error: simcore::SpecError) -> PyErr {
    SpecError::new_err((error.path, error.message))
}

pub(crate) fn workload_error(error: WorkloadError) -> PyErr {
    SpecError::new_err((error.path, error.message))
}

pub(crate) fn store_error(error: StoreError) -> PyErr {
    TraceError::new_err(error.to_string())
}

/// Why a run stopped before its end.
pub(crate) fn run_error(error: SinkError) -> PyErr {
    match error {
        SinkError::Interrupted => PyKeyboardInterrupt::new_err(()),
        SinkError::Unsupported(message) => TraceError::new_err(message),
        SinkError::Alone(error) => TraceError::new_err(error.to_string()),
        SinkError::Held(error) => TraceError::new_err(error.to_string()),
        SinkError::Store(error) => store_error(error),
        enough @ SinkError::Enough => internal(enough),
    }
}

/// A defect of memwalk, not of what the user gave.
pub(crate) fn internal(error: impl Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
