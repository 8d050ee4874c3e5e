//! What is behind the last cache.

use super::{LONGEST_CYCLES, at_most_cycles, require};
use crate::spec::{Interval, MachineSpec, MemoriesSpec, MemorySpec, NamedMemory, SpecError};
use std::collections::HashSet;

impl MemoriesSpec {
    pub(super) fn validate(&self, machine: &MachineSpec) -> Result<(), SpecError> {
        let nearest = machine
            .caches
            .last()
            .map_or(0, |cache| cache.latency_cycles);
        let several = match self {
            Self::One(memory) => return memory.validate("memory", nearest),
            Self::Several(several) => several,
        };
        require(several.len() > 1, "memory", || {
            "a list has two memories or more; write a single one without a list".to_owned()
        })?;
        names(several)?;
        placements(several)?;
        for (number, memory) in several.iter().enumerate() {
            let path = format!("memory.{number}");
            let fixed = matches!(memory.times, MemorySpec::Fixed { .. });
            require(number == 0 || fixed, &format!("{path}.model"), || {
                "only the first memory may be simulated by DRAMSim3; write `fixed`".to_owned()
            })?;
            memory.times.validate(&path, nearest)?;
        }
        Ok(())
    }
}

impl MemorySpec {
    /// Checks a memory that is at `path` of the machine, behind a cache that takes `nearest` cycles.
    fn validate(&self, path: &str, nearest: u32) -> Result<(), SpecError> {
        let at = |key: &str| format!("{path}.{key}");
        match self {
            Self::Fixed {
                latency_cycles,
                interval_cycles,
                write_backs_use_bus,
                write_interval_cycles,
            } => {
                interval(&at("interval_cycles"), *interval_cycles)?;
                let writes = &at("write_interval_cycles");
                if let Some(cycles) = write_interval_cycles {
                    interval(writes, *cycles)?;
                    require(!*write_backs_use_bus, writes, || {
                        "writes use the bus (write_backs_use_bus: true), so that this has no effect; leave it out, or let them have a way of their own (false)".to_owned()
                    })?;
                }
                at_most_cycles(&at("latency_cycles"), *latency_cycles)?;
                require(*latency_cycles > nearest, &at("latency_cycles"), || {
                    format!(
                        "{latency_cycles} is not slower than the last cache ({nearest} cycles); give the full load-to-use latency"
                    )
                })
            }
            Self::Dramsim3(dram) => {
                dram.geometry(&at("config"))?;
                let latency = dram.path_latency_cycles;
                at_most_cycles(&at("path_latency_cycles"), latency)?;
                require(latency >= nearest, &at("path_latency_cycles"), || {
                    format!(
                        "{latency} is less than the last cache takes ({nearest} cycles); give the load-to-use time of a miss without the DRAM's part"
                    )
                })
            }
        }
    }
}

fn interval(path: &str, cycles: Interval) -> Result<(), SpecError> {
    require(cycles.parts() > 0, path, || {
        let parts = Interval::PARTS;
        format!("less than 1/{parts} of a cycle, the least that can be told from nothing")
    })?;
    let longest = Interval::of_cycles(u64::from(LONGEST_CYCLES));
    require(cycles <= longest, path, || {
        format!("{cycles} cycles are more than {longest}, the most that a wait may take")
    })
}

/// Columns of results begin with a memory's name: `memory_cxl_fills`.
fn names(memories: &[NamedMemory]) -> Result<(), SpecError> {
    let mut seen = HashSet::new();
    for (number, memory) in memories.iter().enumerate() {
        let name = memory.name.as_str();
        let path = format!("memory.{number}.name");
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        require(!name.is_empty() && name.chars().all(plain), &path, || {
            format!("`{name}` is no name; write letters, digits and `-`, such as cxl")
        })?;
        require(seen.insert(name), &path, || {
            format!("`{name}` is the name of two memories; choose another")
        })?;
    }
    Ok(())
}

/// A data structure lies in one memory.
fn placements(memories: &[NamedMemory]) -> Result<(), SpecError> {
    require(memories[0].holds.is_empty(), "memory.0.holds", || {
        "the first memory holds what no other does; leave this out".to_owned()
    })?;
    let mut seen = HashSet::new();
    for (number, memory) in memories.iter().enumerate() {
        for (place, name) in memory.holds.iter().enumerate() {
            let path = format!("memory.{number}.holds.{place}");
            require(seen.insert(name), &path, || {
                format!("`{name}` is named twice, but lies in one place; keep one")
            })?;
        }
    }
    Ok(())
}
