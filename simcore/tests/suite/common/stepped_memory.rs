//! Memory behind cores that are stepped cycle by cycle: a bus, or DRAMSim3, which hears of lines in the order of time.

use super::T1;
use simcore::spec::MachineSpec;
use std::collections::HashMap;

/// Times from here on are names of lines that come in a cycle which is not known yet.
pub const UNKNOWN: u64 = 1 << 60;

pub enum SteppedMemory {
    /// It begins with a line in each interval.
    Bus {
        interval: u64,
        /// From when on it is free.
        free: u64,
    },
    #[cfg(feature = "dramsim3")]
    Dram(Box<SteppedDram>),
}

impl SteppedMemory {
    pub fn of(spec: &MachineSpec, interval: u64) -> Self {
        #[cfg(feature = "dramsim3")]
        if let simcore::spec::MemorySpec::Dramsim3(dram) = spec.memory.first() {
            return Self::Dram(Box::new(SteppedDram::of(dram)));
        }
        let _ = spec;
        Self::Bus { interval, free: 0 }
    }

    /// Asks for a line, and gives when it is there, or a name that stands for that.
    pub fn read(&mut self, line: u64, cycle: u64) -> u64 {
        match self {
            Self::Bus { interval, free } => {
                let _ = line;
                let start = cycle.max(*free);
                *free = start + *interval;
                start + T1
            }
            #[cfg(feature = "dramsim3")]
            Self::Dram(dram) => dram.read(line, cycle),
        }
    }

    /// Goes on to a cycle of the cores, or until it is known of a line when it comes: which, by the names that stood for that. Nobody asks
    /// for anything before.
    pub fn run(&mut self, cycle: u64) -> HashMap<u64, u64> {
        match self {
            Self::Bus { .. } => {
                let _ = cycle;
                HashMap::new()
            }
            #[cfg(feature = "dramsim3")]
            Self::Dram(dram) => dram.run(cycle),
        }
    }
}

#[cfg(feature = "dramsim3")]
pub use dram::SteppedDram;

#[cfg(feature = "dramsim3")]
mod dram {
    use super::UNKNOWN;
    use crate::common::LINE;
    use dramsim3::MemorySystem;
    use simcore::spec::Dramsim3Spec;
    use std::collections::HashMap;
    use std::sync::PoisonError;

    /// Cycles of the cores in a nanosecond, in tenths.
    const CORE_TENTHS: f64 = 32.;
    /// The cycle of stepped cores in which the DRAM begins with its first.
    const BEGIN: u64 = 1;

    /// A line that was asked for.
    #[derive(Clone, Copy)]
    struct Request {
        address: u64,
        asked: u64,
        name: u64,
    }

    /// DRAMSim3 itself. A line is a request of its own.
    pub struct SteppedDram {
        system: MemorySystem,
        /// The cycle of the DRAM that comes next.
        clock: u64,
        /// Tenths of a cycle of the cores that one of the DRAM takes.
        tenths: u64,
        path: u64,
        waiting: Vec<Request>,
        inside: Vec<Request>,
        pub reads: u64,
        /// Cycles of the cores that all reads took.
        pub latency: u64,
        _folder: tempfile::TempDir,
    }

    impl SteppedDram {
        pub fn of(spec: &Dramsim3Spec) -> Self {
            let folder = tempfile::tempdir().expect("room for temporary files");
            let file = folder.path().join("dram.ini");
            std::fs::write(&file, &spec.config.text).expect("room for temporary files");
            let one_at_a_time = simcore::DRAMSIM3_CREATION.lock();
            let one_at_a_time = one_at_a_time.unwrap_or_else(PoisonError::into_inner);
            let system = MemorySystem::new(&file, folder.path()).expect("a preset");
            drop(one_at_a_time);
            Self {
                clock: 0,
                tenths: (system.tck() * CORE_TENTHS).round() as u64,
                system,
                path: u64::from(spec.path_latency_cycles),
                waiting: Vec::new(),
                inside: Vec::new(),
                reads: 0,
                latency: 0,
                _folder: folder,
            }
        }

        pub fn read(&mut self, line: u64, asked: u64) -> u64 {
            let name = UNKNOWN + self.reads;
            self.reads += 1;
            self.waiting.push(Request {
                address: line * LINE,
                asked,
                name,
            });
            name
        }

        pub fn run(&mut self, cycle: u64) -> HashMap<u64, u64> {
            let mut came = HashMap::new();
            let is_idle = self.waiting.is_empty() && self.inside.is_empty();
            assert!(!is_idle || cycle < UNKNOWN, "nothing is waited for");
            while came.is_empty() && self.clock * self.tenths < (cycle - BEGIN) * 10 {
                self.tick(&mut came);
            }
            came
        }

        /// Runs a cycle, in which each channel takes what it has room for, the first to come first.
        fn tick(&mut self, came: &mut HashMap<u64, u64>) {
            self.waiting.retain(|request| {
                let has_room = self.system.can_add(request.address, false);
                if has_room {
                    self.system.add(request.address, false);
                    self.inside.push(*request);
                }
                !has_room
            });
            let mut ended = Vec::new();
            self.system.tick(|address, _| ended.push(address));
            for address in ended {
                let is_it = |request: &Request| request.address == address;
                let read = self.inside.iter().position(is_it);
                let read = self.inside.remove(read.expect("it was asked for"));
                let complete = BEGIN + (self.clock * self.tenths).div_ceil(10) + self.path;
                self.latency += complete - read.asked;
                came.insert(read.name, complete);
            }
            self.clock += 1;
        }
    }
}
