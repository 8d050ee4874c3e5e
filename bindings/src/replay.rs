//! Trace files on a machine: in full, sampled, or one per core.

use crate::errors::{self, from_json, store_error, to_json};
use crate::observed::{Observed, Watch};
use crate::{machine_from, results};
use pyo3::prelude::*;
use serde_json::{Value, json};
use simcore::multicore::{Addresses, EventSource};
use simcore::sampling::SamplingPlan;
use simcore::{Engine, MachineSpec, Multicore, Sampler};
use traces::store::{Batches, Reader};
use traces::{Event, EventSink, Layout, SinkError};

/// Runs a trace file on a machine.
#[pyfunction]
#[pyo3(signature = (path, machine, progress=None))]
pub(crate) fn replay(
    py: Python<'_>,
    path: &str,
    machine: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let spec = machine_from(machine)?;
    py.detach(|| {
        let mut reader = Reader::open(path).map_err(store_error)?;
        let info = reader.info().clone();
        let mut engine = Engine::new(&spec, &info.layout).map_err(errors::spec_error)?;
        let mut observed = Observed::new(&mut engine, progress);
        let consumed = reader.for_each_batch(|events| observed.consume(events));
        observed.outcome(consumed)?;
        results(&engine.finish(), info.outcome)
    })
}

/// Runs samples of a trace file on a machine. `plan` is a sampling plan; without one, about ten thousand units are
/// measured.
#[pyfunction]
#[pyo3(signature = (path, machine, plan=None, progress=None))]
pub(crate) fn replay_sampled(
    py: Python<'_>,
    path: &str,
    machine: &str,
    plan: Option<&str>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let spec = machine_from(machine)?;
    let plan: Option<SamplingPlan> = plan.map(from_json).transpose()?;
    py.detach(|| {
        let mut reader = Reader::open(path).map_err(store_error)?;
        let info = reader.info().clone();
        let plan = plan.unwrap_or_else(|| SamplingPlan::for_length(reader.summary().instructions));
        let mut sampler = Sampler::new(&spec, &info.layout, plan).map_err(errors::spec_error)?;
        let mut observed = Observed::new(&mut sampler, progress);
        let consumed = reader.for_each_batch(|events| observed.consume(events));
        observed.outcome(consumed)?;
        let mut tree = serde_json::to_value(sampler.finish()).map_err(errors::internal)?;
        tree["statistics"]["workload"] = Value::Object(info.outcome);
        to_json(&tree)
    })
}

/// A trace file as one core's events.
struct File<'r>(Batches<'r>);

impl EventSource for File<'_> {
    fn next_batch(&mut self, events: &mut Vec<Event>) -> Result<(), SinkError> {
        if let Some(batch) = self.0.next_batch()? {
            events.extend_from_slice(batch);
        }
        Ok(())
    }
}

/// Runs one trace file on each core of a machine. Addresses are shared by threads of one program.
#[pyfunction]
#[pyo3(signature = (paths, machine, shared_addresses, progress=None))]
pub(crate) fn replay_cores(
    py: Python<'_>,
    paths: Vec<String>,
    machine: &str,
    shared_addresses: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let spec = machine_from(machine)?;
    let addresses = if shared_addresses {
        Addresses::Shared
    } else {
        Addresses::Private
    };
    py.detach(|| run_cores(&paths, &spec, addresses, progress))
}

fn run_cores(
    paths: &[String],
    spec: &MachineSpec,
    addresses: Addresses,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let mut readers = Vec::with_capacity(paths.len());
    for path in paths {
        readers.push(Reader::open(path).map_err(store_error)?);
    }
    let layouts: Vec<Layout> = readers
        .iter()
        .map(|reader| reader.info().layout.clone())
        .collect();
    let workloads: Vec<Value> = readers
        .iter()
        .map(|reader| json!(reader.info().outcome))
        .collect();
    let mut cores = Multicore::new(spec, &layouts, addresses).map_err(errors::spec_error)?;
    let mut files: Vec<File> = readers
        .iter_mut()
        .map(|reader| File(reader.batches()))
        .collect();
    let mut sources: Vec<&mut dyn EventSource> = files
        .iter_mut()
        .map(|file| file as &mut dyn EventSource)
        .collect();
    let mut watch = Watch::new(progress);
    let run = cores.run(&mut sources, |events| watch.passed(events));
    watch.outcome(run)?;
    let mut tree = serde_json::to_value(cores.finish()).map_err(errors::internal)?;
    for (core, workload) in workloads.into_iter().enumerate() {
        tree["cores"][core]["workload"] = workload;
    }
    to_json(&tree)
}
