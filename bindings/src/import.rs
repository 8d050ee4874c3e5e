//! Foreign traces into trace files.

use crate::errors::{TraceError, internal, run_error, store_error};
use crate::observed::{Listeners, Observed, Watch};
use crate::plain::Plain;
use pyo3::prelude::*;
use serde_json::json;
use std::path::Path;
use traces::import::{Format, Import, ImportError, Options, Threads};
use traces::store::Writer;

/// Reads a foreign trace (`-` is standard input), or one for each thread of a program, into a trace file at `path`.
#[pyfunction]
#[pyo3(signature = (files, path, options, progress=None))]
pub(crate) fn import_trace(
    py: Python<'_>,
    files: Vec<String>,
    path: &str,
    options: Plain,
    progress: Option<Py<PyAny>>,
) -> PyResult<Plain> {
    let options: Options = options.read()?;
    py.detach(|| {
        let mut watch = Watch::new(Listeners::of(progress));
        let (report, mut writer) = match &files[..] {
            [file] => {
                let import = Import::open(Path::new(file), options).map_err(import_error)?;
                let mut writer =
                    Writer::create_unnamed(path, &import.info()).map_err(store_error)?;
                let report = import.run(&mut Observed::new(&mut writer, &mut watch));
                (report, writer)
            }
            _ => {
                let paths: Vec<&Path> = files.iter().map(Path::new).collect();
                let threads = Threads::open(&paths, options).map_err(import_error)?;
                let mut writer =
                    Writer::create_unnamed(path, threads.info()).map_err(store_error)?;
                let report = threads.run(&mut |thread, events| {
                    writer.consume_of(thread, events)?;
                    watch.passed(events.len().max(1))
                });
                (report, writer)
            }
        };
        let report = watch.outcome_or(report, import_error)?;
        // Ctrl-C ends the program at the other end of a pipe too: such an end is not the trace's.
        Python::attach(|py| py.check_signals())?;
        writer.set_workload(report.workload());
        writer.set_layout(report.layout.clone());
        let summary = writer.finish().map_err(store_error)?;
        let mut result = serde_json::to_value(&report).map_err(internal)?;
        result["trace"] = json!(summary);
        Plain::of(&result)
    })
}

/// The formats that can be imported, with what each one loses.
#[pyfunction]
pub(crate) fn import_formats() -> PyResult<Plain> {
    Plain::of(&Format::ALL.map(Format::about))
}

fn import_error(error: ImportError) -> PyErr {
    match error {
        ImportError::Sink(error) => run_error(error),
        error => TraceError::new_err(error.to_string()),
    }
}
