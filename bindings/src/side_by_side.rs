//! Workloads beside each other on the cores of one machine.

use crate::errors::{internal, spec_error};
use crate::machine::{Machine, room_for_threads};
use crate::observed::{Listeners, Watch};
use crate::observers::Observations;
use crate::plain::Plain;
use crate::simulation::{Machines, observed_apart, run_on_cores, warm_up_lengths};
use crate::statistics::Statistics;
use crate::timed_storage::TimedStorage;
use crate::workload::{Workload, metrics, prepare};
use pyo3::prelude::*;
use serde::Deserialize;
use simcore::multicore::ThreadOf;
use simcore::{MachineSpec, Multicore};
use workloads::rounds::{self, Program};
use workloads::{Prepared, WarmUp};

/// What is said of a workload beside others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Side {
    /// Its number among those that share the machine, which says where it lies in memory.
    number: usize,
    /// The cycle in which it begins.
    start_cycle: u64,
    /// How often it runs; as long as one goes on that is told how often, if it is not.
    runs: Option<u64>,
}

/// Runs workloads on one machine, a core for each thread in their order: what each gives, and how often it ran. Observes the first.
///
/// `sides` says of each what [`Side`] holds; numbers rise from one to the next. Pages come from `storage`, if there is one: an object as
/// [`TimedStorage`] takes it, which knows whose core asks.
#[pyfunction]
#[pyo3(signature = (machine, workloads, sides, observe, progress=None, building=None, storage=None))]
// As many as Python has to say.
#[allow(clippy::too_many_arguments)]
pub(crate) fn simulate_side_by_side(
    py: Python<'_>,
    machine: &Machine,
    workloads: Vec<Py<Workload>>,
    sides: Plain,
    observe: Plain,
    progress: Option<Py<PyAny>>,
    building: Option<Py<PyAny>>,
    storage: Option<Py<PyAny>>,
) -> PyResult<Vec<(Statistics, u64)>> {
    let stored = storage.is_some();
    let sides: Vec<Side> = sides.read()?;
    let asked: Observations = observe.read()?;
    let machines = vec![(0, &machine.spec)];
    py.detach(|| {
        let mut watch = Watch::new(Listeners { progress, building });
        let mut steady = Vec::with_capacity(sides.len());
        let mut programs = Vec::with_capacity(sides.len());
        for (workload, side) in workloads.iter().zip(&sides) {
            let (prepared, is_steady) =
                warmed_up(&workload.get().spec, &machines, stored, &mut watch)?;
            steady.push(is_steady);
            programs.push(Program {
                prepared,
                runs: side.runs,
                warms_up: workload.get().spec.warm_up().is_some(),
            });
        }
        let first = programs.first().map(|program| program.prepared.clone());
        let first = first.ok_or_else(|| internal("nobody runs"))?;
        let found = run(&machine.spec, programs, &sides, storage, &mut watch)?;
        let observed = observed_apart(&first, &machines, &asked, stored, &mut watch)?;
        let mut observed = observed.into_iter();
        let each = found.into_iter().zip(steady);
        let each = each.map(|((statistics, runs), steady)| {
            let statistics = match steady {
                None => statistics,
                Some(steady) => statistics.with_steady(steady),
            };
            let statistics = match observed.next() {
                None => statistics,
                Some(observed) => statistics.with_observed(observed),
            };
            (statistics, runs)
        });
        Ok(each.collect())
    })
}

/// Prepares a workload whose warm-up is as long as it takes when it runs alone, and says whether misses were steady then, if that had to be
/// found.
fn warmed_up(
    workload: &workloads::Workload,
    machines: &Machines<'_>,
    stored: bool,
    watch: &mut Watch,
) -> PyResult<(Prepared, Option<bool>)> {
    if workload.warm_up() != Some(WarmUp::Auto) {
        return Ok((prepare(workload, watch)?, None));
    }
    let lengths = warm_up_lengths(machines, workload, stored, watch)?;
    let length = &lengths[0];
    let prepared = prepare(&workload.clone().warmed_up(length.operations), watch)?;
    Ok((prepared, Some(length.steady)))
}

/// The statistics of each program, and how often it ran.
fn run(
    spec: &MachineSpec,
    programs: Vec<Program>,
    sides: &[Side],
    storage: Option<Py<PyAny>>,
    watch: &mut Watch,
) -> PyResult<Vec<(Statistics, u64)>> {
    let prepared: Vec<_> = programs
        .iter()
        .map(|program| program.prepared.clone())
        .collect();
    let threads: Vec<_> = prepared
        .iter()
        .zip(sides)
        .flat_map(|(prepared, side)| {
            let thread = ThreadOf {
                program: side.number,
                layout: prepared.layout(),
            };
            std::iter::repeat_n(thread, prepared.threads() as usize)
        })
        .collect();
    room_for_threads(spec, &threads)?;
    let mut cores = Multicore::new(spec, &threads).map_err(spec_error)?;
    if let Some(pages) = storage {
        cores.set_storage(Box::new(TimedStorage::new(pages, watch.raised())?));
    }
    let mut starts = vec![0; sides.iter().map(|side| side.number + 1).max().unwrap_or(0)];
    for side in sides {
        starts[side.number] = side.start_cycle;
    }
    cores.begin_programs(&starts);
    let (mut threads, begun) = rounds::begin(programs);
    run_on_cores(&mut cores, &mut threads, watch)?;
    drop(threads);
    let each = cores.finish_programs().into_iter().zip(begun.end());
    let each = each.map(|(statistics, ended)| {
        let outcome = metrics(ended.outcome);
        (Statistics::of_program(statistics, outcome), ended.runs)
    });
    Ok(each.collect())
}
