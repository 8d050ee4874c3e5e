//! A machine with its parts: cores, and the caches and the memory that they reach.

use crate::core::{Core, Program};
use crate::hierarchy::Hierarchy;
use crate::spec::{MachineSpec, SpecError};
use std::sync::Arc;

/// A machine in the middle of a run.
#[derive(Debug)]
pub(crate) struct System {
    pub(crate) cores: Vec<Core>,
    /// The caches of all cores, and the memory behind them.
    pub(crate) caches: Hierarchy,
}

impl System {
    /// A core for each program, at cycle 0 with empty caches. Those levels that the machine's cores share are there once.
    ///
    /// # Errors
    /// The machine cannot exist, or has no room for a program; see [`Core::new`] and [`Hierarchy::new`].
    pub(crate) fn new(spec: &MachineSpec, programs: &[Program<'_>]) -> Result<Self, SpecError> {
        spec.validate()?;
        let spec = Arc::new(spec.clone());
        let (caches, ports) = Hierarchy::new(&spec, programs.len())?;
        let cores = programs
            .iter()
            .zip(ports)
            .map(|(program, port)| Core::new(&spec, programs.len(), *program, port));
        Ok(Self {
            cores: cores.collect::<Result<_, SpecError>>()?,
            caches,
        })
    }

    /// Gives each program a memory of its own; `programs` are those of the cores.
    pub(crate) fn set_apart(&mut self, programs: impl Iterator<Item = usize>) {
        for (program, core) in programs.zip(&mut self.cores) {
            core.set_program(&self.caches, program as u64);
        }
    }
}
