//! The formats by name, and what each loses.

use super::fetch_path;
use crate::event::Kind;
use crate::sink::Counter;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A format that traces can be exported to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Dinero III and IV's text format.
    Din,
    /// DRAMsim3's text format.
    Dramsim3,
    /// Ramulator 2's load/store text format.
    Ramulator,
    /// Ramulator 1's DRAM-mode text format.
    Ramulator1,
    /// ChampSim's binary instructions.
    Champsim,
    /// gem5's timed packets.
    Gem5Packet,
    /// gem5's instructions with dependences, for its `TraceCPU`.
    Gem5Elastic,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 7] = [
        Self::Din,
        Self::Dramsim3,
        Self::Ramulator,
        Self::Ramulator1,
        Self::Champsim,
        Self::Gem5Packet,
        Self::Gem5Elastic,
    ];

    /// The format's name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Din => "din",
            Self::Dramsim3 => "dramsim3",
            Self::Ramulator => "ramulator",
            Self::Ramulator1 => "ramulator1",
            Self::Champsim => "champsim",
            Self::Gem5Packet => "gem5-packet",
            Self::Gem5Elastic => "gem5-elastic",
        }
    }

    /// The format called `name`, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Every file that an export to `path` writes, the main one last.
    #[must_use]
    pub fn files(self, path: &Path) -> Vec<PathBuf> {
        let paired = (self == Self::Gem5Elastic).then(|| fetch_path(path));
        paired.into_iter().chain([path.to_path_buf()]).collect()
    }

    /// Whether the records hold times of a machine, so that [`super::Settings::timing`] must be given.
    #[must_use]
    pub fn needs_timing(self) -> bool {
        matches!(self, Self::Gem5Packet | Self::Gem5Elastic)
    }

    /// Whether the format has a place for events of `kind`; the others are left out, but the instructions before them
    /// are counted.
    #[must_use]
    pub fn keeps(self, kind: Kind) -> bool {
        match kind {
            Kind::Load
            | Kind::Store
            | Kind::StoreNta
            | Kind::Exchange
            | Kind::Prefetch
            | Kind::PrefetchNta
            | Kind::Fetch => true,
            Kind::Branch | Kind::Op => matches!(self, Self::Champsim | Self::Gem5Elastic),
            Kind::Call
            | Kind::Mark
            | Kind::PageRead
            | Kind::PageWrite
            | Kind::PagePrefetch
            | Kind::PageArrival
            | Kind::PageWait
            | Kind::Latch
            | Kind::Unlatch
            | Kind::ShareLatch
            | Kind::AwaitLatch
            | Kind::Flush
            | Kind::Measure
            | Kind::Barrier => false,
        }
    }

    /// What of the kept events is lost whatever the trace, a phrase each; [`Format::losses_of`] knows the rest.
    #[must_use]
    pub fn losses(self) -> &'static [&'static str] {
        match self {
            Self::Din => &[
                "sizes (the reader takes 4 bytes for each; one record stands for one line)",
                "time and plain instructions",
                "dependences",
                "sites and segments",
            ],
            Self::Dramsim3 => &[
                "sizes (every request is one burst; one record stands for one line)",
                "dependences (requests come at the cycle of their instruction, one instruction per cycle)",
                "the difference between reads, fetches and prefetches",
                "sites and segments",
                "caches (every access is a request)",
            ],
            Self::Ramulator | Self::Ramulator1 => &[
                "sizes (every request is one burst; one record stands for one line)",
                "time and plain instructions (requests come back to back)",
                "dependences",
                "the difference between reads, fetches and prefetches",
                "sites and segments",
                "caches (every access is a request)",
            ],
            Self::Champsim => &[
                "sizes (one operand stands for one line)",
                "accesses at address 0, which means no operand",
                "dependences on stores, and those further back than 200 events",
                "the plain cycles within a dependence",
                "latencies of multiplications and divisions",
                "that a prefetch is one (it is a load into no register)",
                "segments",
            ],
            Self::Gem5Packet => &[
                "dependences (packets are timed at one instruction per cycle)",
                "segments",
            ],
            Self::Gem5Elastic => &[
                "outcomes of branches, and so mispredictions",
                "dependences further back than 8192 events, which have completed by then",
                "segments",
            ],
        }
    }

    /// What of a trace of so many threads, whose events are these, is lost: a phrase each.
    #[must_use]
    pub fn losses_of(self, events: &Counter, threads: u32) -> Vec<String> {
        let mut lost: Vec<String> = self.losses().iter().map(|&phrase| phrase.into()).collect();
        let has = |kind: Kind| events.events[kind as usize] > 0;
        if has(Kind::StoreNta) {
            lost.push("that a non-temporal store is one (it is a plain store)".to_owned());
        }
        if has(Kind::Exchange) && self != Self::Champsim {
            let remains = if self == Self::Gem5Elastic {
                "load"
            } else {
                "store"
            };
            lost.push(format!(
                "that an exchange reads and writes at once (it is a {remains})"
            ));
        }
        if has(Kind::PrefetchNta) && self.tells_prefetches_from_loads() {
            lost.push("that a non-temporal prefetch is one".to_owned());
        }
        if threads > 1 {
            lost.push(format!(
                "which of the {threads} threads an event is of (they take turns, as on one core)"
            ));
        }
        lost
    }

    /// Whether a prefetch stays one. Where it does not, a non-temporal one is lost with the others.
    fn tells_prefetches_from_loads(self) -> bool {
        matches!(self, Self::Din | Self::Gem5Packet | Self::Gem5Elastic)
    }
}
