//! Rust errors as Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
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
        SinkError::Store(error) => store_error(error),
        enough @ SinkError::Enough => internal(enough),
    }
}

/// A defect of memwalk, not of what the user gave.
pub(crate) fn internal(error: impl Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Reads JSON; what does not fit is named by its path.
pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { path };
        SpecError::new_err((path, in_words(&error.inner().to_string())))
    })
}

/// A complaint about JSON for who never saw it: without the place in its text, with ranges in place of names of types.
fn in_words(complaint: &str) -> String {
    let (complaint, _) = complaint
        .rsplit_once(" at line ")
        .unwrap_or((complaint, ""));
    complaint
        .replace(
            "expected u32",
            &format!("expected a whole number from 0 to {}", u32::MAX),
        )
        .replace(
            "expected u64",
            &format!("expected a whole number from 0 to {}", u64::MAX),
        )
}

pub(crate) fn to_json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(internal)
}
