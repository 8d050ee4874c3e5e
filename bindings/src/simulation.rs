//! Workloads live on machines: one run of the kernel for all who look at it.

use crate::errors::{self, internal, spec_error};
use crate::machine::Machine;
use crate::observed::{Listeners, Observed, Watch};
use crate::observers::{Each, Findings, Observations, Observers};
use crate::plain::Plain;
use crate::statistics::Statistics;
use crate::timed_storage::TimedStorage;
use crate::workload::{Workload, metrics, prepare};
use pyo3::prelude::*;
use serde_json::json;
use simcore::multicore::ThreadOf;
use simcore::warm_up::WarmUpLength;
use simcore::{Accounts, Engine, Footprint, MachineSpec, Multicore, SpecError};
use std::collections::BTreeMap;
use traces::host_memory::Free;
use traces::{Event, EventSink, EventSource, Layout, SinkError};
use workloads::{Prepared, WarmUp, threads};

/// A machine that takes what a kernel of one thread does.
struct OneCore {
    engine: Engine,
    observers: Observers,
}

impl EventSink for OneCore {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        self.engine.consume(events)?;
        self.observers.consume(events)
    }
}

/// Finds the lengths of warm-ups on several machines: takes events until all are known.
struct Searches(Vec<simcore::WarmUp>);

impl EventSink for Searches {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        let mut known = true;
        for search in &mut self.0 {
            if search.length().is_none() {
                match search.consume(events) {
                    Err(SinkError::Enough) => {}
                    other => other?,
                }
            }
            known &= search.length().is_some();
        }
        if known {
            return Err(SinkError::Enough);
        }
        Ok(())
    }
}

/// Machines that simulate a workload, with their places in the order of who asked.
pub(crate) type Machines<'m> = Vec<(usize, &'m MachineSpec)>;

/// Checks that there is memory for runs on all of some machines at the same time.
fn room_for_all(machines: &Machines<'_>, layout: &Layout, threads: usize) -> PyResult<()> {
    for (_, spec) in machines {
        let runs = Footprint {
            accounts: vec![(layout, Accounts::Segments); threads],
            share: threads > 1,
        };
        let free = Free::now().memory / machines.len() as u64;
        spec.check_memory(&runs, free)
            .map_err(errors::machine_shortage)?;
    }
    Ok(())
}

/// How long a workload's warm-up is on each machine, in their order: what `auto` is there. Its pages come from storage, or from nowhere.
pub(crate) fn warm_up_lengths(
    machines: &Machines<'_>,
    workload: &workloads::Workload,
    stored: bool,
    watch: &mut Watch,
) -> PyResult<Vec<WarmUpLength>> {
    let prepared = prepare(&workload.clone().warmed_up(WarmUp::ENDLESS), watch)?;
    room_for_all(machines, prepared.layout(), 1)?;
    let searches = machines.iter().map(|(_, spec)| {
        let search = simcore::WarmUp::new(spec, prepared.layout())?;
        let search = if stored {
            search.with_arrivals()
        } else {
            search
        };
        Ok(search)
    });
    let searches: Result<_, SpecError> = searches.collect();
    let searches = searches.map_err(spec_error)?;
    let mut searches = Searches(searches);
    let run = match prepared.run(&mut Observed::new(&mut searches, watch)) {
        Err(SinkError::Enough) => Ok(()),
        other => other.map(drop),
    };
    watch.outcome(run)?;
    let lengths = searches.0.iter().map(|search| {
        let length = search.length();
        length.ok_or_else(|| internal("a warm-up without end came to one"))
    });
    lengths.collect()
}

/// The length of a workload's warm-up on a machine: `operations` and `steady`, which is `None` if the number was given; `None` if it has none.
#[pyfunction]
#[pyo3(signature = (workload, machine, progress=None, building=None))]
pub(crate) fn warm_up(
    py: Python<'_>,
    workload: &Workload,
    machine: &Machine,
    progress: Option<Py<PyAny>>,
    building: Option<Py<PyAny>>,
) -> PyResult<Option<Plain>> {
    py.detach(|| {
        let mut watch = Watch::new(Listeners { progress, building });
        let length = match workload.spec.warm_up() {
            None => return Ok(None),
            Some(WarmUp::Operations(operations)) => (operations, None),
            Some(WarmUp::Auto) => {
                let machines = vec![(0, &machine.spec)];
                let on = warm_up_lengths(&machines, &workload.spec, false, &mut watch)?;
                (on[0].operations, Some(on[0].steady))
            }
        };
        let (operations, steady) = length;
        Plain::of(&json!({"operations": operations, "steady": steady})).map(Some)
    })
}

/// Runs a workload live on machines, all of them fed by one run of the kernel, and observes it: what each machine gives, in
/// order. A kernel of several threads runs once for each machine, as a machine decides in which order they go on; observers see
/// their turns as on one core.
///
/// Pages come from `storage`, if there is one: an object as [`TimedStorage`] takes it, for one machine.
#[pyfunction]
#[pyo3(signature = (machines, workload, observe, progress=None, building=None, storage=None))]
pub(crate) fn simulate(
    py: Python<'_>,
    machines: Vec<Py<Machine>>,
    workload: &Workload,
    observe: Plain,
    progress: Option<Py<PyAny>>,
    building: Option<Py<PyAny>>,
    mut storage: Option<Py<PyAny>>,
) -> PyResult<Vec<Statistics>> {
    let workload = &workload.spec;
    if storage.is_some() && machines.len() != 1 {
        return Err(internal("storage serves one machine"));
    }
    let asked: Observations = observe.read()?;
    py.detach(|| {
        let mut watch = Watch::new(Listeners { progress, building });
        let specs = machines.iter().map(|machine| &machine.get().spec);
        let mut results = BTreeMap::new();
        let machines: Machines<'_> = specs.enumerate().collect();
        let lengths = match workload.warm_up() {
            Some(WarmUp::Auto) => {
                let stored = storage.is_some();
                Some(warm_up_lengths(&machines, workload, stored, &mut watch)?)
            }
            _ => None,
        };
        for (warmed, machines) in warmed_alike(machines, workload, lengths.as_deref()) {
            let prepared = prepare(&warmed, &watch)?;
            let simulated = if prepared.threads() == 1 {
                on_one_core(&prepared, &machines, &asked, &mut watch, storage.take())?
            } else {
                on_several_cores(&prepared, &machines, &asked, &mut watch, storage.take())?
            };
            let places = machines.into_iter().map(|(place, _)| place);
            results.extend(places.zip(simulated));
        }
        let results = results.into_values();
        Ok(match lengths {
            None => results.collect(),
            Some(lengths) => results
                .zip(lengths)
                .map(|(statistics, length)| statistics.with_steady(length.steady))
                .collect(),
        })
    })
}

/// The workload as it is on machines where its warm-up is of one length, with these machines.
fn warmed_alike<'m>(
    machines: Machines<'m>,
    workload: &workloads::Workload,
    lengths: Option<&[WarmUpLength]>,
) -> Vec<(workloads::Workload, Machines<'m>)> {
    let Some(lengths) = lengths else {
        return vec![(workload.clone(), machines)];
    };
    let mut groups: BTreeMap<u64, Machines<'_>> = BTreeMap::new();
    for (machine, length) in machines.into_iter().zip(lengths) {
        groups.entry(length.operations).or_default().push(machine);
    }
    let warmed = |operations| workload.clone().warmed_up(operations);
    groups
        .into_iter()
        .map(|(operations, machines)| (warmed(operations), machines))
        .collect()
}

/// One pass for all machines.
fn on_one_core(
    prepared: &Prepared,
    machines: &Machines<'_>,
    asked: &Observations,
    watch: &mut Watch,
    mut storage: Option<Py<PyAny>>,
) -> PyResult<Vec<Statistics>> {
    room_for_all(machines, prepared.layout(), 1)?;
    let runs = machines.iter().map(|(_, spec)| {
        let mut engine = Engine::new(spec, prepared.layout()).map_err(spec_error)?;
        let mut observers = Observers::new(spec, prepared.layout(), asked)?;
        if let Some(pages) = storage.take() {
            engine.set_storage(Box::new(TimedStorage::new(pages, watch.raised())?));
            observers = observers.with_arrivals();
        }
        Ok(OneCore { engine, observers })
    });
    let mut runs = Each::of(runs.collect::<PyResult<_>>()?);
    let outcome = prepared.run(&mut Observed::new(&mut runs, watch));
    let outcome = metrics(watch.outcome(outcome)?);
    let runs = runs.finish().map_err(errors::run_error)?;
    let finished = runs.into_iter().map(|mut run| {
        watch.outcome(run.engine.await_written())?;
        let statistics = Statistics::of_one(run.engine.finish(), outcome.clone());
        Ok(statistics.with_observed(run.observers.finish(asked)))
    });
    finished.collect()
}

/// A run for each machine, and one for all observers.
fn on_several_cores(
    prepared: &Prepared,
    machines: &Machines<'_>,
    asked: &Observations,
    watch: &mut Watch,
    mut storage: Option<Py<PyAny>>,
) -> PyResult<Vec<Statistics>> {
    let stored = storage.is_some();
    let layout = prepared.layout();
    let mut results = Vec::with_capacity(machines.len());
    for &(_, spec) in machines {
        let mut threads = prepared.begin();
        room_for_all(&vec![(0, spec)], layout, threads.len())?;
        let of_one = vec![layout; threads.len()];
        let mut cores = Multicore::new(spec, &ThreadOf::one_program(of_one)).map_err(spec_error)?;
        if let Some(pages) = storage.take() {
            cores.set_storage(Box::new(TimedStorage::new(pages, watch.raised())?));
        }
        run_on_cores(&mut cores, &mut threads, watch)?;
        let outcome = metrics(threads::outcome(threads));
        results.push(Statistics::of_threads(cores.finish(), outcome));
    }
    let observed = observed_apart(prepared, machines, asked, stored, watch)?;
    if observed.is_empty() {
        return Ok(results);
    }
    let both = results.into_iter().zip(observed);
    Ok(both
        .map(|(statistics, observed)| statistics.with_observed(observed))
        .collect())
}

/// What is observed of a kernel for each machine, in a run of its own; nothing, if nothing is asked for. Its pages come from storage, or from
/// nowhere.
pub(crate) fn observed_apart(
    prepared: &Prepared,
    machines: &Machines<'_>,
    asked: &Observations,
    stored: bool,
    watch: &mut Watch,
) -> PyResult<Vec<Findings>> {
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let observers = machines.iter().map(|(_, spec)| {
        let observers = Observers::new(spec, prepared.layout(), asked)?;
        Ok(if stored {
            observers.with_arrivals()
        } else {
            observers
        })
    });
    let mut observers = Each::of(observers.collect::<PyResult<_>>()?);
    let outcome = prepared.run(&mut Observed::new(&mut observers, watch));
    watch.outcome(outcome)?;
    let observers = observers.finish().map_err(errors::run_error)?;
    Ok(observers.into_iter().map(|one| one.finish(asked)).collect())
}

/// Runs threads on the cores that they have, under a watch.
pub(crate) fn run_on_cores<S: EventSource>(
    cores: &mut Multicore,
    threads: &mut [S],
    watch: &mut Watch,
) -> PyResult<()> {
    let sources = threads.iter_mut();
    let mut sources: Vec<&mut dyn EventSource> = sources.map(|thread| thread as _).collect();
    let run = cores.run(&mut sources, &mut |events| watch.passed(events));
    watch.outcome(run)
}
