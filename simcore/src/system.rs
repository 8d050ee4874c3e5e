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
    /// The machine cannot exist, has no room for a program, or has in some memory or in huge pages what no program has; see [`Core::new`] and [`Hierarchy::new`].
    pub(crate) fn new(spec: &MachineSpec, programs: &[Program<'_>]) -> Result<Self, SpecError> {
        spec.validate()?;
        spec.check_huge_segments(programs.iter().map(|program| program.layout))?;
        let spec = Arc::new(spec.clone());
        let (mut caches, mut ports) = Hierarchy::new(&spec, programs.len())?;
        for (program, port) in programs.iter().zip(&mut ports) {
            caches.set_program(port, program.number);
        }
        let layouts = programs.iter().map(|program| program.layout);
        caches.place(&spec, &ports, layouts)?;
        let cores = programs
            .iter()
            .zip(ports)
            .map(|(program, port)| Core::new(&spec, programs.len(), *program, port));
        Ok(Self {
            cores: cores.collect::<Result<_, SpecError>>()?,
            caches,
        })
    }
}
