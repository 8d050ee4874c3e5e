//! Workloads beside each other on the cores of one machine.

use crate::errors::{SpecError, spec_error};
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

/// Workloads that are ready to run on the cores of one machine, together or one while the others stand still.
#[pyclass(frozen, module = "memwalk.simcore._native")]
pub(crate) struct SideBySide {
    spec: MachineSpec,
    stored: bool,
    programs: Vec<Warmed>,
}

/// A workload whose warm-up has a length.
struct Warmed {
    prepared: Prepared,
    warms_up: bool,
    /// Whether misses were steady after the warm-up, if its length had to be found.
    steady: Option<bool>,
}

/// What is said of a workload in one run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Side {
    /// The cycle in which it begins.
    start_cycle: u64,
    /// How often it runs, which may be never; as long as one goes on that is told how often, if it is not.
    runs: Option<u64>,
}

#[pymethods]
impl SideBySide {
    /// Prepares the workloads, with warm-ups as long as they are alone. Their pages will come from storage (`stored`), or from nowhere.
    #[new]
    #[pyo3(signature = (machine, workloads, stored, progress=None, building=None))]
    fn new(
        py: Python<'_>,
        machine: &Machine,
        workloads: Vec<Py<Workload>>,
        stored: bool,
        progress: Option<Py<PyAny>>,
        building: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        if workloads.is_empty() {
            let message = "none is given; give those that run, one at least";
            return Err(SpecError::new_err(("workloads", message)));
        }
        let machines = vec![(0, &machine.spec)];
        py.detach(|| {
            let mut watch = Watch::new(Listeners { progress, building });
            let warmed = workloads.iter().map(|workload| {
                let spec = &workload.get().spec;
                Warmed::of(spec, &machines, stored, &mut watch)
            });
            Ok(Self {
                spec: machine.spec.clone(),
                stored,
                programs: warmed.collect::<PyResult<_>>()?,
            })
        })
    }

    /// Runs them, a core for each thread in their order: what each gives, and how often it ran. Observes the first.
    ///
    /// `sides` says of each what [`Side`] holds. Pages come from `storage`, if there is one: an object as [`TimedStorage`] takes it, which
    /// knows whose core asks.
    #[pyo3(signature = (sides, observe, progress=None, storage=None))]
    fn run(
        &self,
        py: Python<'_>,
        sides: Plain,
        observe: Plain,
        progress: Option<Py<PyAny>>,
        storage: Option<Py<PyAny>>,
    ) -> PyResult<Vec<(Statistics, u64)>> {
        let sides: Vec<Side> = sides.read()?;
        let asked: Observations = observe.read()?;
        self.check(&sides)?;
        py.detach(|| {
            let mut watch = Watch::new(Listeners::of(progress));
            let found = self.run_once(&sides, storage, &mut watch)?;
            let mut observed = match self.programs.first() {
                None => Vec::new(),
                Some(first) => {
                    let machines = vec![(0, &self.spec)];
                    observed_apart(&first.prepared, &machines, &asked, self.stored, &mut watch)?
                }
            }
            .into_iter();
            let each = found.into_iter().zip(&self.programs);
            let each = each.map(|((mut statistics, runs), program)| {
                if let Some(steady) = program.steady {
                    statistics = statistics.with_steady(steady);
                }
                if let Some(observed) = observed.next() {
                    statistics = statistics.with_observed(observed);
                }
                (statistics, runs)
            });
            Ok(each.collect())
        })
    }
}

impl SideBySide {
    /// Raises `SpecError` unless something is said of each workload, and one of them at least runs and ends.
    fn check(&self, sides: &[Side]) -> PyResult<()> {
        let (given, needed) = (sides.len(), self.programs.len());
        let message = if given != needed {
            format!("{given} for {needed} workloads; give one for each")
        } else if !sides
            .iter()
            .any(|side| side.runs.is_some_and(|runs| runs > 0))
        {
            "none has a number of runs from 1 on, which the others go on for; give one such"
                .to_owned()
        } else {
            return Ok(());
        };
        Err(SpecError::new_err(("sides", message)))
    }

    /// The statistics of each program, and how often it ran.
    fn run_once(
        &self,
        sides: &[Side],
        storage: Option<Py<PyAny>>,
        watch: &mut Watch,
    ) -> PyResult<Vec<(Statistics, u64)>> {
        let programs = self.programs.iter().enumerate();
        let threads: Vec<_> = programs
            .flat_map(|(program, Warmed { prepared, .. })| {
                let layout = prepared.layout();
                let thread = ThreadOf { program, layout };
                std::iter::repeat_n(thread, prepared.threads() as usize)
            })
            .collect();
        room_for_threads(&self.spec, &threads)?;
        let mut cores = Multicore::new(&self.spec, &threads).map_err(spec_error)?;
        if let Some(pages) = storage {
            cores.set_storage(Box::new(TimedStorage::new(pages, watch.raised())?));
        }
        let starts: Vec<_> = sides.iter().map(|side| side.start_cycle).collect();
        cores.begin_programs(&starts);
        let programs = self.programs.iter().zip(sides);
        let (mut threads, begun) = rounds::begin(
            programs
                .map(|(program, side)| Program {
                    prepared: program.prepared.clone(),
                    runs: side.runs,
                    warms_up: program.warms_up,
                })
                .collect(),
        );
        run_on_cores(&mut cores, &mut threads, watch)?;
        drop(threads);
        let each = cores.finish_programs().into_iter().zip(begun.end());
        let each = each.map(|(statistics, ended)| {
            let outcome = metrics(ended.outcome);
            (Statistics::of_program(statistics, outcome), ended.runs)
        });
        Ok(each.collect())
    }
}

impl Warmed {
    fn of(
        workload: &workloads::Workload,
        machines: &Machines<'_>,
        stored: bool,
        watch: &mut Watch,
    ) -> PyResult<Self> {
        let (prepared, steady) = if workload.warm_up() == Some(WarmUp::Auto) {
            let lengths = warm_up_lengths(machines, workload, stored, watch)?;
            let length = &lengths[0];
            let warmed = workload.clone().warmed_up(length.operations);
            (prepare(&warmed, watch)?, Some(length.steady))
        } else {
            (prepare(workload, watch)?, None)
        };
        Ok(Self {
            prepared,
            warms_up: workload.warm_up().is_some(),
            steady,
        })
    }
}
