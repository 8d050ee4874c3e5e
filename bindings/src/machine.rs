//! A machine as Python holds it, and whether there is memory to run something on it.

use crate::errors;
use crate::plain::Plain;
use pyo3::prelude::*;
use serde_json::Map;
use simcore::multicore::ThreadOf;
use simcore::spec::MemorySpec;
use simcore::{Accounts, Footprint, MachineSpec};
use traces::Layout;
use traces::host_memory::Free;

/// A machine that can exist: read and checked once.
#[pyclass(frozen, module = "memwalk.simcore._native")]
pub(crate) struct Machine {
    pub(crate) spec: MachineSpec,
}

#[pymethods]
impl Machine {
    /// Reads plain data. Raises `SpecError` if the machine cannot exist.
    #[new]
    fn new(described: Plain) -> PyResult<Self> {
        let spec: MachineSpec = described.read()?;
        spec.validate().map_err(errors::spec_error)?;
        Ok(Self { spec })
    }

    fn __repr__(&self) -> String {
        format!("<Machine {}>", self.spec.name)
    }

    /// Capacity, bandwidth and times of the DRAM, as far as its model knows them.
    fn dram_facts(&self) -> PyResult<Plain> {
        match self.spec.memory.first() {
            MemorySpec::Fixed { .. } => Plain::of(&Map::new()),
            MemorySpec::Dramsim3(dram) => Plain::of(&dram.facts().map_err(errors::spec_error)?),
        }
    }

    /// The JSON Schema of machines.
    #[staticmethod]
    fn schema() -> PyResult<Plain> {
        Plain::of(&simcore::spec::schema())
    }
}

/// Checks that there is memory for runs on a machine.
pub(crate) fn room_for(spec: &MachineSpec, runs: &Footprint<'_>) -> PyResult<()> {
    spec.check_memory(runs, Free::now().memory)
        .map_err(errors::machine_shortage)
}

/// The same for threads beside each other, each on a core.
pub(crate) fn room_for_threads(spec: &MachineSpec, threads: &[ThreadOf<'_>]) -> PyResult<()> {
    let accounts = threads.iter();
    let runs = Footprint {
        accounts: accounts
            .map(|thread| (thread.layout, Accounts::Segments))
            .collect(),
        share: true,
    };
    room_for(spec, &runs)
}

/// The same for one run.
pub(crate) fn room_for_one(spec: &MachineSpec, layout: &Layout) -> PyResult<()> {
    room_for(spec, &Footprint::of(layout, &[Accounts::Segments]))
}

/// Bytes of memory that this process may still take; more than any host has if that is not known.
#[pyfunction]
pub(crate) fn free_memory() -> u64 {
    Free::now().memory
}
