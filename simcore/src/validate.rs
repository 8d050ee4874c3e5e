//! Which machines can exist. Checked here, once, for everybody who makes a specification.

mod caches;
mod coherence;
mod core;
mod dbms;
mod memories;
mod names;
mod translation;

use crate::memory::{DramConfig, DramFacts, Geometry};
use crate::spec::{CacheSpec, Dramsim3Spec, MachineSpec, SpecError, WritePolicy};
use caches::{validate_caches, validate_instruction_cache};

impl MachineSpec {
    /// Misses that may be outstanding at once. The specification has been validated.
    #[must_use]
    pub fn mshrs(&self) -> u32 {
        self.caches[0].mshrs.unwrap_or(1)
    }

    /// Whether some store may go on to memory: not every level writes back and allocates.
    #[must_use]
    pub fn writes_through(&self) -> bool {
        let keeps = |cache: &CacheSpec| {
            cache.write_policy == WritePolicy::WriteBack && cache.write_allocate
        };
        !self.caches.iter().all(keeps)
    }

    /// Checks that such a machine can exist.
    ///
    /// # Errors
    /// Names the first number that cannot be, and what would be right.
    pub fn validate(&self) -> Result<(), SpecError> {
        positive("clock_hz", self.clock_hz)?;
        self.core.validate()?;
        validate_caches(&self.caches)?;
        names::validate(&self.caches)?;
        validate_sharing(self)?;
        if let Some(coherence) = &self.coherence {
            coherence.validate(self)?;
        }
        if let Some(cache) = &self.instruction_cache {
            validate_instruction_cache(cache, &self.caches)?;
        }
        self.dtlb.validate(&self.caches)?;
        if let Some(table) = &self.dtlb.page_table {
            table.validate(self)?;
        }
        if let Some(interference) = &self.interference {
            let interval = interference.flush_interval_cycles;
            positive("interference.flush_interval_cycles", interval)?;
        }
        if let Some(dbms) = &self.dbms {
            dbms.validate()?;
        }
        self.memory.validate(self)
    }
}

impl Dramsim3Spec {
    /// What its ini file, which the machine names at `path`, says of it.
    fn geometry(&self, path: &str) -> Result<Geometry, SpecError> {
        let parsed = DramConfig::parse(&self.config.path, &self.config.text);
        let (_, geometry) = parsed.map_err(|message| SpecError {
            path: path.to_owned(),
            message,
        })?;
        Ok(geometry)
    }

    /// What the DRAM can do.
    ///
    /// # Errors
    /// Its ini file has a mistake.
    pub fn facts(&self) -> Result<DramFacts, SpecError> {
        Ok(self.geometry("memory.config")?.facts())
    }
}

fn require(holds: bool, path: &str, message: impl FnOnce() -> String) -> Result<(), SpecError> {
    if holds {
        return Ok(());
    }
    Err(SpecError {
        path: path.to_owned(),
        message: message(),
    })
}

fn positive(path: &str, value: u64) -> Result<(), SpecError> {
    require(value > 0, path, || "must be at least 1".to_owned())
}

/// The longest latency: what a batch of events adds up to is far less than a run may take.
pub(crate) const LONGEST_CYCLES: u32 = 1_000_000_000;

fn at_most_cycles(path: &str, cycles: u32) -> Result<(), SpecError> {
    require(cycles <= LONGEST_CYCLES, path, || {
        format!("{cycles} cycles are more than {LONGEST_CYCLES}, the most that a wait may take")
    })
}

fn power_of_two(path: &str, value: u64) -> Result<(), SpecError> {
    require(value.is_power_of_two(), path, || {
        let below = value.checked_ilog2().map_or(1, |log| 1_u64 << log);
        format!(
            "{value} is no power of two; the nearest are {below} and {}",
            below.saturating_mul(2)
        )
    })
}

/// Shared levels lie behind private ones, and every core has a first level of its own.
fn validate_sharing(machine: &MachineSpec) -> Result<(), SpecError> {
    require((1..=256).contains(&machine.cores), "cores", || {
        format!("{} is not between 1 and 256", machine.cores)
    })?;
    for (level, cache) in machine.caches.iter().enumerate() {
        let path = format!("caches.{level}.shared");
        require(level > 0 || !cache.shared, &path, || {
            "the first level belongs to one core; share a level behind it".to_owned()
        })?;
        let nearer = level.checked_sub(1).map(|nearer| &machine.caches[nearer]);
        require(
            cache.shared || !nearer.is_some_and(|nearer| nearer.shared),
            &path,
            || "the level before is shared, so this one must be shared too".to_owned(),
        )?;
    }
    Ok(())
}
