//! Traces in other simulators' formats.

use crate::errors::{SpecError, run_error, store_error};
use crate::machine::Machine;
use crate::observed::{Listeners, Observed, Watch};
use crate::plain::Plain;
use pyo3::prelude::*;
use serde_json::json;
use simcore::MachineSpec;
use std::path::{Path, PathBuf};
use traces::EventSink;
use traces::export::{Exporter, Format, Settings, Timing, period_ticks};
use traces::store::Reader;

/// Line size for a trace that states none, exported for no machine.
const LINE_BYTES: u64 = 64;

fn timing(machine: &MachineSpec) -> Timing {
    let core = &machine.core;
    Timing {
        clock_hz: machine.clock_hz,
        issue_width: core.issue_width,
        integer_units: core.integer_units,
        reorder_buffer: core.reorder_buffer,
        multiply_latency_cycles: core.multiply_latency_cycles,
        divide_latency_cycles: core.divide_latency_cycles,
    }
}

/// Exports a trace file; line size and times are the machine's, or the trace's own line size if none is given.
#[pyfunction]
#[pyo3(signature = (path, format, output, machine=None, progress=None))]
pub(crate) fn export_trace(
    py: Python<'_>,
    path: &str,
    format: &str,
    output: &str,
    machine: Option<&Machine>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Plain> {
    let format = named(format)?;
    let machine = machine.map(|machine| &machine.spec);
    py.detach(|| {
        let reader = Reader::open(path).map_err(store_error)?;
        let own_line = reader
            .info()
            .line_bytes
            .filter(|line| line.is_power_of_two());
        let settings = Settings {
            threads: reader.info().threads,
            line_bytes: match machine {
                Some(machine) => machine.caches[0].line_bytes,
                None => own_line.unwrap_or(LINE_BYTES),
            },
            timing: machine.map(timing),
        };
        let mut exporter = Exporter::create(output, format, &settings).map_err(run_error)?;
        let mut watch = Watch::new(Listeners::of(progress));
        let mut observed = Observed::new(&mut exporter, &mut watch);
        let consumed = reader.for_each_batch(|events| observed.consume(events));
        watch.outcome(consumed)?;
        Plain::of(&exporter.finish().map_err(run_error)?)
    })
}

/// Every file that an export under a name writes, the main one last.
#[pyfunction]
pub(crate) fn export_files(format: &str, output: &str) -> PyResult<Vec<PathBuf>> {
    Ok(named(format)?.files(Path::new(output)))
}

fn named(format: &str) -> PyResult<Format> {
    Format::from_name(format).ok_or_else(|| {
        SpecError::new_err(("format".to_owned(), format!("`{format}` is no format")))
    })
}

/// The formats that a trace can be exported to: name, whether a machine is needed, and what is lost of any trace.
#[pyfunction]
pub(crate) fn export_formats() -> PyResult<Plain> {
    let formats = Format::ALL.map(|format| {
        json!({"name": format.name(), "needs_machine": format.needs_timing(), "lost": format.losses()})
    });
    Plain::of(&formats)
}

/// gem5's clock period in ticks for a clock in hertz. Raises `SpecError` for a clock that stands.
#[pyfunction]
pub(crate) fn gem5_period_ticks(clock_hz: u64) -> PyResult<u64> {
    if clock_hz == 0 {
        let message = "0 is no clock; give hertz, from 1 on";
        return Err(SpecError::new_err(("clock_hz", message)));
    }
    Ok(period_ticks(clock_hz))
}
