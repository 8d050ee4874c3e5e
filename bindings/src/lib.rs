//! Python module `memwalk.simcore._native`: nothing but conversion. JSON text goes in and comes out; docs/architecture.md says
//! what it holds.

mod columns;
mod counting;
mod dram;
mod errors;
mod export;
mod import;
mod native_run;
mod observed;
mod observers;
mod page_formats;
mod replay;
mod replay_threads;
mod simulation;
mod tpch;
mod usage;

use errors::{
    MemoryShortageError, SpecError, TraceError, from_json, run_error, store_error, to_json,
};
use observed::{Listeners, Observed, Watch};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde_json::{Map, Value, json};
use simcore::{Accounts, Engine, Footprint, MachineSpec, Statistics};
use std::sync::{Mutex, PoisonError};
use traces::host_memory::Free;
use traces::store::{self, Reader, TraceInfo, Writer};
use traces::{EventSink, Layout};
use workloads::{Library, Outcome, Prepared, WarmUp, Workload};

/// Trees built for earlier calls, so that the points of a sweep share them.
static LIBRARY: Mutex<Option<Library>> = Mutex::new(None);

fn machine_from(text: &str) -> PyResult<MachineSpec> {
    let spec: MachineSpec = from_json(text)?;
    spec.validate().map_err(errors::spec_error)?;
    Ok(spec)
}

/// Checks that there is memory for runs on a machine.
fn room_for(spec: &MachineSpec, runs: &Footprint<'_>) -> PyResult<()> {
    spec.check_memory(runs, Free::now().memory)
        .map_err(errors::machine_shortage)
}

/// The same for one run.
fn room_for_one(spec: &MachineSpec, layout: &Layout) -> PyResult<()> {
    room_for(spec, &Footprint::of(layout, &[Accounts::Segments]))
}

fn workload_from(text: &str) -> PyResult<Workload> {
    let workload: Workload = from_json(text)?;
    workload.validate().map_err(errors::workload_error)?;
    Ok(workload)
}

fn prepare(workload: &Workload, watch: &Watch) -> PyResult<Prepared> {
    watch.build(|| {
        // A panic or a stop while the lock was held leaves at worst trees that nobody uses.
        let mut library = LIBRARY.lock().unwrap_or_else(PoisonError::into_inner);
        let library = library.get_or_insert_with(Library::new);
        let fits = |library: &Library| {
            let built = library.holds(workload);
            workload.memory().check(Free::now(), built)
        };
        if fits(library).is_err() {
            // What is kept may be what takes the room.
            *library = Library::new();
            fits(library).map_err(errors::workload_shortage)?;
        }
        library.prepare(workload).map_err(errors::workload_error)
    })
}

fn metrics(outcome: Outcome) -> Map<String, Value> {
    outcome
        .metrics
        .into_iter()
        .map(|(name, value)| (name, json!(value)))
        .collect()
}

/// The results of a run, with what it computed.
fn tree(statistics: &impl Serialize, outcome: &Map<String, Value>) -> PyResult<Value> {
    let mut tree = serde_json::to_value(statistics).map_err(errors::internal)?;
    tree["workload"] = json!(outcome);
    Ok(tree)
}

fn results(statistics: &Statistics, outcome: &Map<String, Value>) -> PyResult<String> {
    to_json(&tree(statistics, outcome)?)
}

/// Runs a workload into a trace file.
#[pyfunction]
#[pyo3(signature = (workload, path, progress=None, building=None))]
fn record(
    py: Python<'_>,
    workload: &str,
    path: &str,
    progress: Option<Py<PyAny>>,
    building: Option<Py<PyAny>>,
) -> PyResult<String> {
    let description: Value = from_json(workload)?;
    let workload = workload_from(workload)?;
    py.detach(|| {
        let mut watch = Watch::new(Listeners { progress, building });
        let prepared = prepare(&workload, &watch)?;
        let info = TraceInfo {
            seed: description.get("seed").and_then(Value::as_u64),
            line_bytes: description.get("line_bytes").and_then(Value::as_u64),
            page_bytes: description.get("page_bytes").and_then(Value::as_u64),
            threads: prepared.threads(),
            ..TraceInfo::new(description, prepared.layout().clone())
        };
        let mut writer = Writer::create(path, &info).map_err(store_error)?;
        let outcome = if prepared.threads() == 1 {
            prepared.run(&mut Observed::new(&mut writer, &mut watch))
        } else {
            prepared.take_turns(|thread, events| {
                writer.consume_of(thread, events)?;
                watch.passed(events.len())
            })
        };
        let outcome = watch.outcome(outcome)?;
        writer.set_outcome(metrics(outcome));
        to_json(&writer.finish().map_err(store_error)?)
    })
}

/// Runs events given as columns: for tests that make their own traces.
#[pyfunction]
fn replay_events(machine: &str, layout: &str, columns: &Bound<'_, PyDict>) -> PyResult<String> {
    let spec = machine_from(machine)?;
    let layout: Layout = from_json(layout)?;
    let events = columns::events(columns)?;
    let mut engine = Engine::new(&spec, &layout).map_err(errors::spec_error)?;
    engine.consume(&events).map_err(run_error)?;
    results(&engine.finish(), &Map::new())
}

/// What a trace file says about itself, and how much it holds.
#[pyfunction]
fn trace_info(path: &str) -> PyResult<String> {
    let reader = Reader::open(path).map_err(store_error)?;
    let mut info = serde_json::to_value(reader.info()).map_err(errors::internal)?;
    info["summary"] = serde_json::to_value(reader.summary()).map_err(errors::internal)?;
    to_json(&info)
}

/// The first `n` events of a trace file.
#[pyfunction]
fn trace_head(path: &str, n: usize) -> PyResult<String> {
    let reader = Reader::open(path).map_err(store_error)?;
    let sites = reader.info().layout.sites.clone();
    let events = reader.head(n).map_err(store_error)?;
    let rows: Vec<Value> = events
        .iter()
        .map(|event| columns::describe(event, &sites))
        .collect();
    to_json(&rows)
}

/// Reads all of a trace file and validates every value.
#[pyfunction]
#[pyo3(signature = (path, progress=None))]
fn trace_check(py: Python<'_>, path: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    py.detach(|| {
        let mut watch = Watch::new(Listeners::of(progress));
        let report = store::check_with(path, |events| watch.passed(events.len()));
        to_json(&watch.outcome(report)?)
    })
}

/// Raises `SpecError` if the machine cannot exist.
#[pyfunction]
fn check_machine(machine: &str) -> PyResult<()> {
    machine_from(machine).map(drop)
}

/// Raises `SpecError` if the workload cannot be run.
#[pyfunction]
fn check_workload(workload: &str) -> PyResult<()> {
    workload_from(workload).map(drop)
}

/// An estimate of the work of running a workload.
#[pyfunction]
fn estimate_work(workload: &str) -> PyResult<String> {
    to_json(&workload_from(workload)?.work())
}

/// Threads of a workload.
#[pyfunction]
fn threads(workload: &str) -> PyResult<u32> {
    Ok(workload_from(workload)?.threads())
}

/// An estimate of the memory of running a workload, in bytes: `building`, `running` and the largest `piece` of them.
#[pyfunction]
fn estimate_memory(workload: &str) -> PyResult<String> {
    let memory = workload_from(workload)?.memory();
    to_json(&json!({
        "building": memory.building,
        "running": memory.running,
        "piece": memory.piece,
    }))
}

/// Bytes of memory that this process may still take; more than any host has if that is not known.
#[pyfunction]
fn free_memory() -> u64 {
    Free::now().memory
}

/// The length of a workload's warm-up on a machine: a JSON object of `operations` and `steady`, which is null if the number was given; `null` if it has none.
#[pyfunction]
#[pyo3(signature = (workload, machine, progress=None, building=None))]
fn warm_up(
    py: Python<'_>,
    workload: &str,
    machine: &str,
    progress: Option<Py<PyAny>>,
    building: Option<Py<PyAny>>,
) -> PyResult<String> {
    let spec = machine_from(machine)?;
    let workload = workload_from(workload)?;
    py.detach(|| {
        let mut watch = Watch::new(Listeners { progress, building });
        let length = match workload.warm_up() {
            None => return to_json(&Value::Null),
            Some(WarmUp::Operations(operations)) => (operations, None),
            Some(WarmUp::Auto) => {
                let on = simulation::warm_up_lengths(&vec![(0, &spec)], &workload, &mut watch)?;
                (on[0].operations, Some(on[0].steady))
            }
        };
        let (operations, steady) = length;
        to_json(&json!({"operations": operations, "steady": steady}))
    })
}

/// The kernels that a workload may name, with their parameters.
#[pyfunction]
fn list_workloads() -> PyResult<String> {
    to_json(&workloads::kernels())
}

/// Version, commit and build profile of this module, and what it takes of a processor.
#[pyfunction]
fn build_info() -> PyResult<String> {
    to_json(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "commit": env!("MEMWALK_COMMIT"),
        "dramsim3": cfg!(feature = "dramsim3"),
        "profile": if cfg!(debug_assertions) { "debug" } else { "release" },
        "target_features": env!("MEMWALK_TARGET_FEATURES").split(',').collect::<Vec<_>>(),
    }))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("SpecError", py.get_type::<SpecError>())?;
    module.add("TraceError", py.get_type::<TraceError>())?;
    module.add("MemoryShortageError", py.get_type::<MemoryShortageError>())?;
    module.add_function(wrap_pyfunction!(simulation::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(record, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replay, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replay_runs, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replay_sampled, module)?)?;
    module.add_function(wrap_pyfunction!(replay_threads::replay_cores, module)?)?;
    module.add_function(wrap_pyfunction!(replay_events, module)?)?;
    module.add_function(wrap_pyfunction!(page_formats::page_formats, module)?)?;
    module.add_function(wrap_pyfunction!(page_formats::page_shares, module)?)?;
    module.add_function(wrap_pyfunction!(page_formats::scan_lines, module)?)?;
    module.add_function(wrap_pyfunction!(usage::replay_byte_usage, module)?)?;
    module.add_function(wrap_pyfunction!(counting::count, module)?)?;
    module.add_function(wrap_pyfunction!(counting::miss_curve, module)?)?;
    module.add_function(wrap_pyfunction!(counting::sampled_curve, module)?)?;
    module.add_function(wrap_pyfunction!(counting::classify, module)?)?;
    module.add_function(wrap_pyfunction!(trace_info, module)?)?;
    module.add_function(wrap_pyfunction!(trace_head, module)?)?;
    module.add_function(wrap_pyfunction!(trace_check, module)?)?;
    module.add_function(wrap_pyfunction!(import::import_trace, module)?)?;
    module.add_function(wrap_pyfunction!(import::import_formats, module)?)?;
    module.add_function(wrap_pyfunction!(export::export_trace, module)?)?;
    module.add_function(wrap_pyfunction!(export::export_formats, module)?)?;
    module.add_function(wrap_pyfunction!(export::gem5_period_ticks, module)?)?;
    module.add_function(wrap_pyfunction!(check_machine, module)?)?;
    module.add_function(wrap_pyfunction!(dram::dram_facts, module)?)?;
    module.add_function(wrap_pyfunction!(check_workload, module)?)?;
    module.add_function(wrap_pyfunction!(estimate_work, module)?)?;
    module.add_function(wrap_pyfunction!(estimate_memory, module)?)?;
    module.add_function(wrap_pyfunction!(threads, module)?)?;
    module.add_function(wrap_pyfunction!(free_memory, module)?)?;
    module.add_function(wrap_pyfunction!(warm_up, module)?)?;
    module.add_function(wrap_pyfunction!(list_workloads, module)?)?;
    module.add_function(wrap_pyfunction!(tpch::export_tpch, module)?)?;
    module.add_function(wrap_pyfunction!(build_info, module)?)?;
    module.add_function(wrap_pyfunction!(native_run::host_processor, module)?)?;
    module.add_function(wrap_pyfunction!(native_run::run_native, module)?)?;
    module.add_function(wrap_pyfunction!(native_run::run_native_laps, module)?)?;
    module.add_function(wrap_pyfunction!(native_run::run_native_branches, module)?)?;
    Ok(())
}
