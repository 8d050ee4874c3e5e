//! What the DRAM of a machine can do.

use crate::errors::{spec_error, to_json};
use pyo3::prelude::*;
use serde_json::json;
use simcore::spec::MemorySpec;

/// Capacity, bandwidth and times of a machine's DRAM, as far as its model knows them.
#[pyfunction]
pub(crate) fn dram_facts(machine: &str) -> PyResult<String> {
    match crate::machine_from(machine)?.memory {
        MemorySpec::Fixed { .. } => to_json(&json!({})),
        MemorySpec::Dramsim3(dram) => to_json(&dram.facts().map_err(spec_error)?),
    }
}
