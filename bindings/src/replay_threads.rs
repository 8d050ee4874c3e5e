//! Traces on several cores: files of several threads, and several files.

use crate::errors::{self, TraceError, store_error};
use crate::machine::{Machine, room_for, room_for_threads};
use crate::observed::{Listeners, Watch};
use crate::replay_plan::Plan;
use crate::simulation::run_on_cores;
use crate::statistics::Statistics;
use pyo3::prelude::*;
use simcore::multicore::ThreadOf;
use simcore::{Accounts, Footprint, MachineSpec, Multicore};
use traces::store::{Batches, Reader};
use traces::window::Window;
use traces::{Dependences, Event, EventSource, Overlay, SinkError};

/// The runs of a plan for a trace of several threads, each on a core: a pass for each.
pub(crate) fn runs_of_threads(
    reader: &Reader,
    path: &str,
    spec: &MachineSpec,
    plan: &Plan,
    watch: &mut Watch,
) -> PyResult<Vec<Statistics>> {
    let info = reader.info();
    if plan.window != Window::default() {
        return Err(only_as_a_whole(path, info.threads));
    }
    let threads = vec![&info.layout; info.threads as usize];
    let run = |dependences: Dependences, accounts: Accounts, watch: &mut Watch| {
        let runs = Footprint {
            accounts: threads.iter().map(|&layout| (layout, accounts)).collect(),
            share: true,
        };
        room_for(spec, &runs)?;
        let of_threads = ThreadOf::one_program(threads.iter().copied());
        let mut cores =
            Multicore::with_accounts(spec, &of_threads, accounts).map_err(errors::spec_error)?;
        let sources = reader.threads().into_iter();
        let mut sources: Vec<_> = sources
            .map(|batches| Overlaid(batches, Overlay::new(dependences)))
            .collect();
        run_on_cores(&mut cores, &mut sources, watch)?;
        PyResult::Ok(cores.finish())
    };
    let runs = plan.dependences.iter().map(|&dependences| {
        let statistics = run(dependences, Accounts::Segments, watch)?;
        let by_site = plan.sites.then(|| run(dependences, Accounts::Sites, watch));
        let sites = by_site
            .transpose()?
            .map(|by_site| by_site.together.breakdown);
        Ok(Statistics::of_threads(statistics, info.outcome.clone()).with_sites(sites))
    });
    runs.collect()
}

/// Why no parts of a trace of several threads are run, be they chosen by place or as samples.
pub(crate) fn only_as_a_whole(path: &str, threads: u32) -> PyErr {
    TraceError::new_err(format!(
        "{path}: the trace of {threads} threads, which is run as a whole: they are not in the same place at the same time"
    ))
}

/// A thread of a trace file, with other dependences laid over its own.
struct Overlaid<'r>(Batches<'r>, Overlay);

impl EventSource for Overlaid<'_> {
    fn next_batch(&mut self, events: &mut Vec<Event>) -> Result<(), SinkError> {
        events.clear();
        if let Some(batch) = self.0.next_batch()? {
            events.extend_from_slice(self.1.lay(batch));
        }
        Ok(())
    }
}

/// Runs each thread of trace files on a core of a machine. Several files are programs of their own, or threads of one program,
/// which share their addresses.
#[pyfunction]
#[pyo3(signature = (paths, machine, shared_addresses, progress=None))]
pub(crate) fn replay_cores(
    py: Python<'_>,
    paths: Vec<String>,
    machine: &Machine,
    shared_addresses: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Statistics> {
    let spec = &machine.spec;
    py.detach(|| run_cores(&paths, spec, shared_addresses, progress))
}

pub(crate) fn run_cores(
    paths: &[String],
    spec: &MachineSpec,
    shared_addresses: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Statistics> {
    let readers = paths.iter().map(Reader::open);
    let readers: Vec<Reader> = readers.collect::<Result<_, _>>().map_err(store_error)?;
    let of_threads: Vec<ThreadOf<'_>> = readers
        .iter()
        .enumerate()
        .flat_map(|(file, reader)| {
            let thread = ThreadOf {
                program: if shared_addresses { 0 } else { file },
                layout: &reader.info().layout,
            };
            std::iter::repeat_n(thread, reader.info().threads as usize)
        })
        .collect();
    room_for_threads(spec, &of_threads)?;
    let mut cores = Multicore::new(spec, &of_threads).map_err(errors::spec_error)?;
    let threads = readers.iter().flat_map(Reader::threads);
    let recorded = Dependences::Recorded;
    let mut threads: Vec<_> = threads
        .map(|batches| Overlaid(batches, Overlay::new(recorded)))
        .collect();
    let mut watch = Watch::new(Listeners::of(progress));
    run_on_cores(&mut cores, &mut threads, &mut watch)?;
    let statistics = cores.finish();
    if let [reader] = &readers[..] {
        let outcome = reader.info().outcome.clone();
        return Ok(Statistics::of_threads(statistics, outcome));
    }
    let outcomes = readers.iter().flat_map(|reader| {
        let info = reader.info();
        std::iter::repeat_n(info.outcome.clone(), info.threads as usize)
    });
    Ok(Statistics::of_workloads(statistics, outcomes))
}
