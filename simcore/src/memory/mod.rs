//! What is behind the last cache: one interface, two models, and several memories at once.
//!
//! A line that nobody waits for may come at a time that is not known yet. Such a time is *pending*: a number so large
//! that every comparison takes it for the far future, which [`Memory::known`] and [`Memory::wait`] turn into a cycle.

mod config;
#[cfg(feature = "dramsim3")]
mod dramsim3;
mod fixed;
mod several;

#[cfg(feature = "dramsim3")]
pub use self::dramsim3::CREATION as DRAMSIM3_CREATION;
#[cfg(feature = "dramsim3")]
use self::dramsim3::DramMemory;
pub(crate) use self::fixed::{FixedMemory, Writes};
use self::several::SeveralMemories;
use crate::calendar::Claim;
use crate::clock;
use crate::spec::{MachineSpec, MemorySpec, SpecError};
use crate::statistics::DramStatistics;
use traces::{Layout, SinkError};

pub use config::DramFacts;
pub(crate) use config::{DramConfig, Geometry};

/// Times at and after this cycle are names of requests under way.
pub(crate) const PENDING: u64 = clock::END;

/// Whether the time is that of a request whose end nobody has waited for yet.
#[inline]
pub(crate) fn is_pending(time: u64) -> bool {
    time >= PENDING
}

/// Whether somebody waits for what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// The time must be known at once: a load, a store.
    Awaited,
    /// The time may stay pending: a prefetch.
    Deferred,
}

/// What a miss asks of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transfer {
    Read,
    Write,
}

/// What those wait for each other for who begin something at a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bus {
    memory: usize,
    /// What it carries; if that is both, it is called [`Transfer::Read`].
    transfer: Transfer,
}

/// Memory by one of its models.
#[derive(Debug)]
pub(crate) enum Memory {
    /// The same time for every line.
    Fixed(FixedMemory),
    /// Banks, rows and buses, simulated by DRAMSim3.
    #[cfg(feature = "dramsim3")]
    Dramsim3(Box<DramMemory>),
    /// Several of them.
    Several(Box<SeveralMemories>),
}

impl Memory {
    /// An idle memory. The specification has been validated.
    ///
    /// # Errors
    /// memwalk was built without the model, or the model cannot be set up.
    pub(crate) fn new(spec: &MachineSpec) -> Result<Self, SpecError> {
        let first = Self::first(spec)?;
        if spec.memory.named().is_empty() {
            return Ok(first);
        }
        Ok(Self::Several(Box::new(SeveralMemories::new(spec, first))))
    }

    /// The memory of everything that no other holds, idle.
    fn first(spec: &MachineSpec) -> Result<Self, SpecError> {
        match spec.memory.first() {
            MemorySpec::Fixed {
                latency_cycles,
                interval_cycles,
                write_backs_use_bus,
                write_interval_cycles,
            } => Ok(Self::Fixed(FixedMemory::new(
                *latency_cycles,
                *interval_cycles,
                Writes::of(*write_backs_use_bus, *write_interval_cycles),
            ))),
            #[cfg(feature = "dramsim3")]
            MemorySpec::Dramsim3(dram) => {
                let line_bytes = spec.caches.last().map_or(1, |cache| cache.line_bytes);
                let memory = DramMemory::new(dram, spec.clock_hz, line_bytes)?;
                Ok(Self::Dramsim3(Box::new(memory)))
            }
            #[cfg(not(feature = "dramsim3"))]
            MemorySpec::Dramsim3(_) => Err(SpecError {
                path: "memory.model".to_owned(),
                message: "memwalk was built without DRAMSim3, for want of CMake, a C++ compiler or an x86-64 processor; \
                          install the tools (on Debian: apt install cmake g++) and build again with `make clean \
                          setup`, or use `model: fixed`"
                    .to_owned(),
            }),
        }
    }

    /// Lays data structures where the machine says. Each program has a layout, and lies so far from where its addresses say.
    ///
    /// # Errors
    /// A memory holds nothing, or what no program has.
    pub(crate) fn place(
        &mut self,
        spec: &MachineSpec,
        programs: &[(u64, &Layout)],
    ) -> Result<(), SpecError> {
        match self {
            Self::Several(memories) => memories.place(spec.memory.named(), programs),
            _ => Ok(()),
        }
    }

    /// What is asked for from now on is for this core: of what several ask for in one cycle that of the lowest number goes first, where
    /// requests are queued by their times.
    pub(crate) fn set_core(&mut self, core: usize) {
        match self {
            Self::Fixed(_) => {
                let _ = core;
            }
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) => memory.set_core(core),
            Self::Several(memories) => memories.first.set_core(core),
        }
    }

    /// Number of the memory that the line at `address` lies in, if there are several.
    #[inline]
    pub(crate) fn number_of(&self, address: u64) -> Option<usize> {
        match self {
            Self::Several(memories) => Some(memories.memory_of(address)),
            _ => None,
        }
    }

    /// The bus by which the line at `address` comes or goes.
    pub(crate) fn bus_of(&self, address: u64, transfer: Transfer) -> Bus {
        let (memory, has_one) = match self {
            Self::Fixed(memory) => (0, memory.has_one_bus()),
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(_) => (0, true),
            Self::Several(memories) => match memories.memory_of(address).checked_sub(1) {
                Some(other) => (other + 1, memories.others[other].has_one_bus()),
                None => return memories.first.bus_of(address, transfer),
            },
        };
        let transfer = if has_one { Transfer::Read } else { transfer };
        Bus { memory, transfer }
    }

    /// Reads the line at `address` and gives the cycle in which it is there, which may be pending if that is good enough.
    #[inline]
    pub(crate) fn read(&mut self, address: u64, claim: Claim, urgency: Urgency) -> u64 {
        match self {
            Self::Fixed(memory) => {
                let _ = (address, urgency);
                memory.read(claim)
            }
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) => {
                let pending = memory.read(address, claim.time, claim.now);
                match urgency {
                    Urgency::Awaited => memory.wait(pending),
                    Urgency::Deferred => pending,
                }
            }
            Self::Several(memories) => match memories.other(address) {
                Some(other) => other.read(claim),
                None => memories.first.read(address, claim, urgency),
            },
        }
    }

    /// Writes the line at `address`, which nobody waits for, and gives the cycle in which the write is on its way.
    #[inline]
    pub(crate) fn write(&mut self, address: u64, claim: Claim) -> u64 {
        match self {
            Self::Fixed(memory) => {
                let _ = address;
                memory.write(claim)
            }
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) => memory.write(address, claim.time, claim.now),
            Self::Several(memories) => match memories.other(address) {
                Some(other) => other.write(claim),
                None => memories.first.write(address, claim),
            },
        }
    }

    /// Reads or writes the line at `address` for a miss that was promised to be done in cycle `until`, and gives when it is. Where requests
    /// are queued by their times it has been asked for already.
    pub(crate) fn keep_promise(
        &mut self,
        address: u64,
        claim: Claim,
        transfer: Transfer,
        until: u64,
    ) -> u64 {
        match self {
            Self::Fixed(memory) => {
                let _ = until;
                memory.transfer(claim, transfer)
            }
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(_) => until.max(claim.time),
            Self::Several(memories) => match memories.other(address) {
                Some(other) => other.transfer(claim, transfer),
                None => memories.first.keep_promise(address, claim, transfer, until),
            },
        }
    }

    /// Cycles from when a read or a write of the line at `address` is on its way until memory, or its controller's queue, has it.
    pub(crate) fn latency_of(&self, address: u64) -> u64 {
        match self {
            Self::Fixed(memory) => memory.latency(),
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) => memory.path_latency(),
            Self::Several(memories) => match memories.memory_of(address).checked_sub(1) {
                Some(other) => memories.others[other].latency(),
                None => memories.first.latency_of(address),
            },
        }
    }

    /// Whether times may be pending.
    #[inline]
    pub(crate) fn leaves_times_open(&self) -> bool {
        let first = match self {
            Self::Several(memories) => &memories.first,
            one => one,
        };
        match first {
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(_) => true,
            _ => false,
        }
    }

    /// The time, if it is a cycle or meanwhile known; otherwise itself.
    #[inline]
    pub(crate) fn known(&self, time: u64) -> u64 {
        match self {
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) if is_pending(time) => memory.known(time).unwrap_or(time),
            Self::Several(memories) => memories.first.known(time),
            _ => time,
        }
    }

    /// The later of two times, which may be pending.
    #[inline]
    pub(crate) fn later(&mut self, times: [u64; 2]) -> u64 {
        match self {
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) if times.into_iter().any(is_pending) => memory.later(times),
            Self::Several(memories) => memories.first.later(times),
            _ => times[0].max(times[1]),
        }
    }

    /// Has [`Memory::known`] give a pending time at the end of the run, however far others are by then: who asked has ended, and
    /// asks once more.
    pub(crate) fn keep(&mut self, time: u64) {
        match self {
            Self::Fixed(_) => {
                let _ = time;
            }
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) => memory.keep(time),
            Self::Several(memories) => memories.first.keep(time),
        }
    }

    /// The time as a cycle, found by simulating until then if it is pending.
    #[inline]
    pub(crate) fn wait(&mut self, time: u64) -> u64 {
        match self {
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) if is_pending(time) => memory.wait(time),
            Self::Several(memories) => memories.first.wait(time),
            _ => time,
        }
    }

    /// Somebody wants what a pending time stands for in an earlier cycle than it was asked for. Whether it could be asked for then.
    pub(crate) fn ask_before(&mut self, pending: u64, time: u64) -> bool {
        match self {
            Self::Fixed(_) => {
                let _ = (pending, time);
                false
            }
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) => memory.ask_before(pending, time),
            Self::Several(memories) => memories.first.ask_before(pending, time),
        }
    }

    /// Simulates until another pending time is known, but not beyond cycle `limit`. Whether one became known.
    pub(crate) fn advance(&mut self, limit: u64) -> bool {
        match self {
            Self::Fixed(_) => {
                let _ = limit;
                false
            }
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) => memory.advance(limit),
            Self::Several(memories) => memories.first.advance(limit),
        }
    }

    /// How many pending times have become known so far.
    pub(crate) fn learned(&self) -> u64 {
        match self {
            Self::Fixed(_) => 0,
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) => memory.learned(),
            Self::Several(memories) => memories.first.learned(),
        }
    }

    /// Whether it has been simulated so far that nothing pending ends by cycle `cycle`.
    pub(crate) fn has_reached(&self, cycle: u64) -> bool {
        match self {
            Self::Fixed(_) => {
                let _ = cycle;
                true
            }
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) => memory.has_reached(cycle),
            Self::Several(memories) => memories.first.has_reached(cycle),
        }
    }

    /// Simulates until nothing is under way: then every time is known.
    pub(crate) fn drain(&mut self) {
        match self {
            Self::Fixed(_) => {}
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) => memory.drain(),
            Self::Several(memories) => memories.first.drain(),
        }
    }

    /// A pause of unknown length, by whose end the memory is idle.
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Fixed(memory) => memory.clear(),
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) => memory.pause(),
            Self::Several(memories) => memories.clear(),
        }
    }

    /// Whether the model goes on.
    ///
    /// # Errors
    /// DRAMSim3 could not write or read its reports.
    pub(crate) fn check(&self) -> Result<(), SinkError> {
        match self {
            Self::Fixed(_) => Ok(()),
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) => memory.check(),
            Self::Several(memories) => memories.first.check(),
        }
    }

    /// What happened inside so far, for models with an inside; commands to the devices are counted up to the latest report.
    pub(crate) fn counts(&self) -> Option<DramStatistics> {
        match self {
            Self::Fixed(_) => None,
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) => Some(memory.counts()),
            Self::Several(memories) => memories.first.counts(),
        }
    }

    /// What happened inside, for models with an inside. Everything has been drained.
    pub(crate) fn statistics(&mut self) -> Option<DramStatistics> {
        match self {
            Self::Fixed(_) => None,
            #[cfg(feature = "dramsim3")]
            Self::Dramsim3(memory) => Some(memory.statistics()),
            Self::Several(memories) => memories.first.statistics(),
        }
    }
}
