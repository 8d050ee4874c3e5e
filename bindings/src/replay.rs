//! Trace files on a machine: in full, or sampled.

use crate::columns;
use crate::errors::{self, TraceError, run_error, store_error};
use crate::machine::{Machine, room_for, room_for_one};
use crate::observed::{Listeners, Observed, Watch};
use crate::plain::Plain;
use crate::replay_plan::Plan;
use crate::replay_threads::{only_as_a_whole, run_cores, runs_of_threads};
use crate::statistics::{Outcome, Statistics};
use pyo3::prelude::*;
use pyo3::types::PyDict;
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
) -> PyResult<Statistics> {
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
        Ok(Statistics::of_one(engine.finish(), info.outcome))
    })
}

/// Runs events given as columns: for tests that make their own traces.
#[pyfunction]
pub(crate) fn replay_events(
    machine: &Machine,
    layout: Plain,
    columns: &Bound<'_, PyDict>,
) -> PyResult<Statistics> {
    let layout: Layout = layout.read()?;
    let events = columns::events(columns)?;
    let mut engine = Engine::new(&machine.spec, &layout).map_err(errors::spec_error)?;
    engine.consume(&events).map_err(run_error)?;
    Ok(Statistics::of_one(engine.finish(), Outcome::new()))
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

    /// `added` events are none of the trace.
    fn finish(self, outcome: Outcome, added: u64) -> Statistics {
        let sites = self.by_site.map(|engine| engine.finish().breakdown);
        let mut statistics = self.engine.finish();
        statistics.events -= added;
        Statistics::of_one(statistics, outcome).with_sites(sites)
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

/// Runs a trace file, or a part of it, on a machine: once for each of the dependences that the plan lays over it, in their order.
#[pyfunction]
#[pyo3(signature = (path, machine, plan, progress=None))]
pub(crate) fn replay_runs(
    py: Python<'_>,
    path: &str,
    machine: &Machine,
    plan: Plain,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Statistics>> {
    let spec = &machine.spec;
    let plan: Plan = plan.read()?;
    py.detach(|| {
        let reader = Reader::open(path).map_err(store_error)?;
        let mut watch = Watch::new(Listeners::of(progress));
        if reader.info().threads > 1 {
            return runs_of_threads(&reader, path, spec, &plan, &mut watch);
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
        let (runs, added) = (sink.runs.into_iter(), sink.cutter.added());
        let finish = |run: Run| run.finish(info.outcome.clone(), added);
        Ok(runs.map(finish).collect())
    })
}

/// Runs samples of a trace file of one thread on a machine. `plan` is a sampling plan; without one, about ten thousand units are
/// measured. The estimate, and the statistics of what was run.
#[pyfunction]
#[pyo3(signature = (path, machine, plan=None, progress=None))]
pub(crate) fn replay_sampled(
    py: Python<'_>,
    path: &str,
    machine: &Machine,
    plan: Option<Plain>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Plain, Statistics)> {
    let spec = &machine.spec;
    let plan: Option<SamplingPlan> = plan.map(Plain::read).transpose()?;
    py.detach(|| {
        let reader = Reader::open(path).map_err(store_error)?;
        let info = reader.info().clone();
        if info.threads > 1 {
            return Err(only_as_a_whole(path, info.threads));
        }
        let plan = plan.unwrap_or_else(|| SamplingPlan::for_length(reader.summary().instructions));
        room_for_one(spec, &info.layout)?;
        let mut sampler = Sampler::new(spec, &info.layout, plan).map_err(errors::spec_error)?;
        let mut watch = Watch::new(Listeners::of(progress));
        let mut observed = Observed::new(&mut sampler, &mut watch);
        let consumed = reader.for_each_batch(|events| observed.consume(events));
        watch.outcome(consumed)?;
        let sampled = sampler.finish().map_err(errors::spec_error)?;
        let statistics = Statistics::of_one(sampled.statistics, info.outcome);
        Ok((Plain::of(&sampled.estimate)?, statistics))
    })
}
