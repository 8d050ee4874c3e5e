//! Python module `memwalk.simcore._native`: nothing but conversion. Machines, workloads and statistics are classes; other structured data
//! are plain, and docs/architecture.md says what they hold.

mod build_info;
mod columns;
mod counting;
mod errors;
mod event_times;
mod export;
mod import;
mod machine;
mod native_run;
mod observed;
mod observers;
mod page_files;
mod page_formats;
mod page_requests;
mod plain;
mod replay;
mod replay_plan;
mod replay_threads;
mod side_by_side;
mod simulation;
mod statistics;
mod timed_storage;
mod tpch;
mod trace_files;
mod usage;
mod workload;

use errors::{MemoryShortageError, PageFileError, SpecError, TraceError};
use machine::Machine;
use pyo3::prelude::*;
use side_by_side::SideBySide;
use statistics::Statistics;
use workload::Workload;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<Machine>()?;
    module.add_class::<Workload>()?;
    module.add_class::<SideBySide>()?;
    module.add_class::<Statistics>()?;
    module.add("SpecError", py.get_type::<SpecError>())?;
    module.add("TraceError", py.get_type::<TraceError>())?;
    module.add("PageFileError", py.get_type::<PageFileError>())?;
    module.add("NOT_BEGUN", traces::import::NOT_BEGUN)?;
    module.add("MemoryShortageError", py.get_type::<MemoryShortageError>())?;
    module.add_function(wrap_pyfunction!(simulation::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(trace_files::record, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replay, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replay_runs, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replay_sampled, module)?)?;
    module.add_function(wrap_pyfunction!(replay_threads::replay_cores, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replay_events, module)?)?;
    module.add_function(wrap_pyfunction!(event_times::event_times, module)?)?;
    module.add_function(wrap_pyfunction!(page_formats::page_formats, module)?)?;
    module.add_function(wrap_pyfunction!(page_formats::page_shares, module)?)?;
    module.add_function(wrap_pyfunction!(page_formats::scan_lines, module)?)?;
    module.add_function(wrap_pyfunction!(page_requests::page_requests, module)?)?;
    module.add_function(wrap_pyfunction!(page_files::build_index, module)?)?;
    module.add_function(wrap_pyfunction!(page_files::index_info, module)?)?;
    module.add_function(wrap_pyfunction!(page_files::check_index, module)?)?;
    module.add_function(wrap_pyfunction!(usage::replay_byte_usage, module)?)?;
    module.add_function(wrap_pyfunction!(counting::count, module)?)?;
    module.add_function(wrap_pyfunction!(counting::miss_curve, module)?)?;
    module.add_function(wrap_pyfunction!(counting::sampled_curve, module)?)?;
    module.add_function(wrap_pyfunction!(counting::classify, module)?)?;
    module.add_function(wrap_pyfunction!(trace_files::trace_info, module)?)?;
    module.add_function(wrap_pyfunction!(trace_files::trace_head, module)?)?;
    module.add_function(wrap_pyfunction!(trace_files::trace_check, module)?)?;
    module.add_function(wrap_pyfunction!(import::import_trace, module)?)?;
    module.add_function(wrap_pyfunction!(import::import_formats, module)?)?;
    let per_access = traces::import::INSTRUCTIONS_PER_ACCESS.into_inner();
    module.add("INSTRUCTIONS_PER_ACCESS", per_access)?;
    module.add_function(wrap_pyfunction!(export::export_trace, module)?)?;
    module.add_function(wrap_pyfunction!(export::export_files, module)?)?;
    module.add_function(wrap_pyfunction!(export::export_formats, module)?)?;
    module.add_function(wrap_pyfunction!(export::gem5_period_ticks, module)?)?;
    module.add_function(wrap_pyfunction!(machine::free_memory, module)?)?;
    module.add_function(wrap_pyfunction!(simulation::warm_up, module)?)?;
    module.add_function(wrap_pyfunction!(tpch::export_tpch, module)?)?;
    module.add_function(wrap_pyfunction!(build_info::build_info, module)?)?;
    module.add_function(wrap_pyfunction!(native_run::host_processor, module)?)?;
    module.add_function(wrap_pyfunction!(native_run::run_native, module)?)?;
    module.add_function(wrap_pyfunction!(native_run::run_native_laps, module)?)?;
    module.add_function(wrap_pyfunction!(native_run::run_native_branches, module)?)?;
    Ok(())
}
