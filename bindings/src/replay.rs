//! Trace files on a machine: in full, or sampled.

use crate::columns;
use crate::errors::{self, TraceError, from_json, run_error, store_error, to_json};
use crate::machine::{Machine, room_for, room_for_one};
use crate::observed::{Listeners, Observed, Watch};
use crate::replay_plan::{Plan, described};
use crate::replay_threads::{run_cores, runs_of_threads};
use crate::results::results;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};
use simcore::sampling::SamplingPlan;
use simcore::{Accounts, Engine, Footprint, MachineSpec, Sampler};
use traces::store::Reader;
use traces::window::Cutter;
use traces::{Dependences, Event, EventSink, Layout, Overlay, SinkError};

/// Runs a trace file on a machine.
#[pyfunction]
#[pyo3(signature = (path, machine, progress=None))]
pub(crate) fn replay(
    py: Python<'_>,
    path: &str,
    machine: &Machine,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let spec = &machine.spec;
    py.detach(|| {
        let reader = Reader::open(path).map_err(store_error)?;
        let info = reader.info().clone();
        if info.threads > 1 {
            return run_cores(&[path.to_owned()], spec, false, progress);
        }
        room_for_one(spec, &info.layout)?;
        let mut engine = Engine::new(spec, &info.layout).map_err(errors::spec_error)?;
        let mut watch = Watch::new(Listeners::of(progress));
        let mut observed = Observed::new(&mut engine, &mut watch);
        let consumed = reader.for_each_batch(|events| observed.consume(events));
        watch.outcome(consumed)?;
        results(&engine.finish(), &info.outcome)
    })
}

/// Runs events given as columns: for tests that make their own traces.
#[pyfunction]
pub(crate) fn replay_events(
    machine: &Machine,
    layout: &str,
    columns: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let layout: Layout = from_json(layout)?;
    let events = columns::events(columns)?;
    let mut engine = Engine::new(&machine.spec, &layout).map_err(errors::spec_error)?;
    engine.consume(&events).map_err(run_error)?;
    results(&engine.finish(), &Map::new())
}

/// One engine among those that a pass over the trace feeds.
struct Run {
    overlay: Overlay,
    engine: Engine,
    by_site: Option<Engine>,
}

impl Run {
    fn new(
        dependences: Dependences,
        plan: &Plan,
        spec: &MachineSpec,
        layout: &Layout,
    ) -> PyResult<Self> {
        let engine = |accounts| Engine::with_accounts(spec, layout, accounts);
        let by_site = plan.sites.then(|| engine(Accounts::Sites));
        Ok(Self {
            overlay: Overlay::new(dependences),
            engine: engine(Accounts::Segments).map_err(errors::spec_error)?,
            by_site: by_site.transpose().map_err(errors::spec_error)?,
        })
    }

    fn finish(self, dependences: Dependences, outcome: &Map<String, Value>) -> PyResult<Value> {
        let sites = self.by_site.map(|engine| engine.finish().breakdown);
        described(dependences, &self.engine.finish(), sites, outcome)
    }
}

impl EventSink for Run {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        let events = self.overlay.lay(events);
        self.engine.consume(events)?;
        match &mut self.by_site {
            Some(engine) => engine.consume(events),
            None => Ok(()),
        }
    }
}

/// The runs of a plan, fed in one pass.
struct Runs {
    cutter: Cutter,
    runs: Vec<Run>,
}

impl EventSink for Runs {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        let part = self.cutter.cut(events);
        self.runs.iter_mut().try_for_each(|run| run.consume(part))
    }
}

/// Runs a trace file, or a part of it, on a machine: once for each of the dependences that the plan lays over it.
#[pyfunction]
#[pyo3(signature = (path, machine, plan, progress=None))]
pub(crate) fn replay_runs(
    py: Python<'_>,
    path: &str,
    machine: &Machine,
    plan: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let spec = &machine.spec;
    let plan: Plan = from_json(plan)?;
    py.detach(|| {
        let reader = Reader::open(path).map_err(store_error)?;
        let mut watch = Watch::new(Listeners::of(progress));
        if reader.info().threads > 1 {
            return to_json(&runs_of_threads(&reader, path, spec, &plan, &mut watch)?);
        }
        let info = reader.info().clone();
        let accounts = if plan.sites {
            &[Accounts::Segments, Accounts::Sites][..]
        } else {
            &[Accounts::Segments]
        };
        let accounts = accounts.repeat(plan.dependences.len());
        room_for(spec, &Footprint::of(&info.layout, &accounts))?;
        let runs = plan.dependences.iter();
        let runs = runs.map(|dependences| Run::new(*dependences, &plan, spec, &info.layout));
        let mut sink = Runs {
            cutter: Cutter::new(plan.window),
            runs: runs.collect::<PyResult<_>>()?,
        };
        let mut observed = Observed::new(&mut sink, &mut watch);
        let consumed = reader.for_each_batch(|events| observed.consume(events));
        watch.outcome(consumed)?;
        if let Some(problem) = sink.cutter.problem() {
            return Err(TraceError::new_err(format!("{path}: {problem}")));
        }
        let runs = plan.dependences.iter().zip(sink.runs);
        let runs = runs.map(|(dependences, run)| run.finish(*dependences, &info.outcome));
        to_json(&runs.collect::<PyResult<Vec<_>>>()?)
    })
}

/// Runs samples of a trace file on a machine. `plan` is a sampling plan; without one, about ten thousand units are
/// measured.
#[pyfunction]
#[pyo3(signature = (path, machine, plan=None, progress=None))]
pub(crate) fn replay_sampled(
    py: Python<'_>,
    path: &str,
    machine: &Machine,
    plan: Option<&str>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let spec = &machine.spec;
    let plan: Option<SamplingPlan> = plan.map(from_json).transpose()?;
    py.detach(|| {
        let reader = Reader::open(path).map_err(store_error)?;
        let info = reader.info().clone();
        let plan = plan.unwrap_or_else(|| SamplingPlan::for_length(reader.summary().instructions));
        room_for_one(spec, &info.layout)?;
        let mut sampler = Sampler::new(spec, &info.layout, plan).map_err(errors::spec_error)?;
        let mut watch = Watch::new(Listeners::of(progress));
        let mut observed = Observed::new(&mut sampler, &mut watch);
        let consumed = reader.for_each_batch(|events| observed.consume(events));
        watch.outcome(consumed)?;
        let sampled = sampler.finish().map_err(errors::spec_error)?;
        let mut tree = serde_json::to_value(sampled).map_err(errors::internal)?;
        tree["statistics"]["workload"] = Value::Object(info.outcome);
        to_json(&tree)
    })
}
