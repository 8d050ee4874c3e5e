//! Kernels on the host's own processor.

use crate::errors::{SpecError, internal, workload_error};
use crate::observed::{Listeners, Watch};
use crate::plain::Plain;
use crate::workload::{Workload, metrics, prepare};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde_json::json;
use std::ops::ControlFlow;
use workloads::native::{self, Measured, NativeError, Options};
use workloads::pointers::{self, PointerChaseWorkload};

/// Runs a workload on this processor.
#[pyfunction]
#[pyo3(signature = (workload, options, progress=None, building=None))]
pub(crate) fn run_native(
    py: Python<'_>,
    workload: &Workload,
    options: Plain,
    progress: Option<Py<PyAny>>,
    building: Option<Py<PyAny>>,
) -> PyResult<Plain> {
    let options: Options = options.read()?;
    py.detach(|| {
        let watch = Watch::new(Listeners {
            progress: None,
            building,
        });
        let prepared = prepare(&workload.spec, &watch)?;
        watch.build(|| observed(progress, |observer| prepared.run_native(options, observer)))
    })
}

/// Follows a chain of pointers through warm caches.
#[pyfunction]
#[pyo3(signature = (chain, laps, options, progress=None))]
pub(crate) fn run_native_laps(
    py: Python<'_>,
    chain: Plain,
    laps: u32,
    options: Plain,
    progress: Option<Py<PyAny>>,
) -> PyResult<Plain> {
    let chain: PointerChaseWorkload = chain.read()?;
    let options: Options = options.read()?;
    py.detach(|| {
        let watch = Watch::new(Listeners::default());
        watch.build(|| {
            observed(progress, |observer| {
                pointers::measure_laps(&chain, laps, options, observer)
            })
        })
    })
}

/// Times a branch per bit of `words` words, over random and over ordered bits.
#[pyfunction]
pub(crate) fn run_native_branches(
    py: Python<'_>,
    words: usize,
    repetitions: u32,
) -> PyResult<Plain> {
    let times = py.detach(|| native::measure_branches(words, repetitions));
    Plain::of(&json!({"random_ns": times.random_ns, "ordered_ns": times.ordered_ns}))
}

/// What the processor says about itself, and the clock it runs at now.
#[pyfunction]
pub(crate) fn host_processor(py: Python<'_>) -> PyResult<Plain> {
    py.detach(|| {
        let mut account = serde_json::to_value(native::processor()).map_err(internal)?;
        account["clock_hz"] = json!(native::clock_hz());
        Plain::of(&account)
    })
}

/// Measures with Python looked at now and then: for its progress, and for Ctrl-C.
fn observed(
    progress: Option<Py<PyAny>>,
    measure: impl FnOnce(native::Observer<'_>) -> Result<Measured, NativeError>,
) -> PyResult<Plain> {
    let mut raised = None;
    let mut observer = |operations: u64| {
        let looked = Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = &progress {
                progress.call1(py, (operations,))?;
            }
            PyResult::Ok(())
        });
        match looked {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                raised = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    match measure(&mut observer) {
        Ok(measured) => Plain::of(&json!({
            "times_ns": measured.times_ns,
            "clock_ns": measured.clock_ns,
            "intervals": measured.intervals,
            "prefetches": measured.prefetches,
            "workload": metrics(measured.outcome),
        })),
        Err(NativeError::Interrupted) => {
            Err(raised.unwrap_or_else(|| PyKeyboardInterrupt::new_err(())))
        }
        Err(NativeError::Workload(error)) if error.path.is_empty() => {
            Err(SpecError::new_err(("lines", error.message)))
        }
        Err(NativeError::Workload(error)) => Err(workload_error(error)),
    }
}
