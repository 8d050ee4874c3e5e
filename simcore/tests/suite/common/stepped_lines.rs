//! Lines that cores want which are stepped cycle by cycle: who has which, and when he has it. Cores ask in the order of time.

use super::stepped_memory::SteppedMemory;
use simcore::spec::{CoherenceProtocol, CoherenceSpec, MachineSpec};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// A core that wants a line in a cycle.
pub type Wanted = (usize, u64, u64);

/// Caches of all cores, and the memory behind them. They are large enough for whatever comes.
pub struct Lines {
    first_latency: u64,
    /// Of the first level that all cores share, if there is one.
    shared_latency: Option<u64>,
    coherence: Option<CoherenceSpec>,
    pub memory: SteppedMemory,
    lines: HashMap<u64, Sharing>,
}

/// What is where of a line, and from when on.
#[derive(Default)]
struct Sharing {
    /// By core.
    copies: BTreeMap<usize, u64>,
    /// Who wrote it last and has to give it to others, or alone has it.
    owner: Option<usize>,
    is_written: bool,
    /// In the levels that all share.
    behind: Option<u64>,
    /// Cycles in which it goes from core to core, or the right to write it.
    transfers: Vec<Range<u64>>,
}

impl Sharing {
    fn give_to(&mut self, core: usize, there: u64, writes: bool) {
        self.copies = [(core, there)].into();
        (self.owner, self.is_written) = (Some(core), writes);
    }

    /// Takes so many cycles from `time` on as soon as nobody else does, and gives when that has ended.
    fn transfer(&mut self, time: u64, cycles: u64) -> u64 {
        let ends = self.transfers.iter().map(|busy| busy.end);
        let is_free = |&start: &u64| {
            let mut others = self.transfers.iter();
            others.all(|busy| busy.end <= start || busy.start >= start + cycles)
        };
        let starts = ends.chain([time]).filter(|&start| start >= time);
        let start = starts.filter(is_free).min().expect("behind all others");
        self.transfers.push(start..start + cycles);
        start + cycles
    }
}

impl Lines {
    pub fn of(spec: &MachineSpec, interval: u64) -> Self {
        let shared = spec.caches.iter().find(|cache| cache.shared);
        Self {
            first_latency: u64::from(spec.caches[0].latency_cycles),
            shared_latency: shared.map(|cache| u64::from(cache.latency_cycles)),
            coherence: spec.coherence,
            memory: SteppedMemory::of(spec, interval),
            lines: HashMap::new(),
        }
    }

    /// Puts the cycles in which lines come in the place of names that stood for them.
    pub fn learn(&mut self, came: &HashMap<u64, u64>) {
        for sharing in self.lines.values_mut() {
            let times = sharing.copies.values_mut().chain(&mut sharing.behind);
            times.for_each(|time| *time = came.get(time).copied().unwrap_or(*time));
        }
    }

    /// Whether a core has the line, or is to have it.
    pub fn holds(&self, (core, line, _): Wanted) -> bool {
        let sharing = self.lines.get(&line);
        sharing.is_some_and(|sharing| sharing.copies.contains_key(&core))
    }

    /// When a core has read a line that it has, or written it.
    pub fn use_own(&mut self, (core, line, cycle): Wanted, writes: bool) -> u64 {
        let sharing = self.lines.get_mut(&line).expect("a line that it has");
        let there = sharing.copies[&core];
        let found = there.max(cycle + self.first_latency);
        let Some(coherence) = self.coherence.filter(|_| writes) else {
            return found;
        };
        let is_alone = sharing.copies.len() == 1;
        let done = if is_alone {
            found
        } else {
            sharing
                .transfer(cycle, u64::from(coherence.transfer_cycles))
                .max(found)
        };
        sharing.give_to(core, there, true);
        done
    }

    /// When a core has a line that it lacked, and when it has read or written it.
    pub fn fetch(&mut self, wanted: Wanted, writes: bool) -> (u64, u64) {
        let (core, line, cycle) = wanted;
        let Some(coherence) = self.coherence else {
            // Caches know nothing of each other.
            let there = self.memory.read(line, cycle);
            let sharing = self.lines.entry(line).or_default();
            sharing.copies.insert(core, there);
            return (there, there);
        };
        let transfer = u64::from(coherence.transfer_cycles);
        let sharing = self.lines.entry(line).or_default();
        let first = sharing.copies.iter().min_by_key(|&(_, &there)| there);
        let giver = match (sharing.owner, sharing.behind) {
            (Some(owner), _) => Some(owner),
            (None, Some(_)) => None,
            (None, None) => first.map(|(&core, _)| core),
        };
        let others_have_it = !sharing.copies.is_empty();
        let (there, complete) = match (giver, sharing.behind, self.shared_latency) {
            (Some(giver), ..) => {
                let ready = sharing.copies[&giver].max(cycle);
                let there = sharing.transfer(ready, transfer);
                (there, there)
            }
            (None, Some(behind), Some(latency)) => {
                let there = behind.max(cycle + latency);
                // Who writes it waits until all others have given it up.
                let complete = if writes && others_have_it {
                    sharing.transfer(cycle, transfer).max(there)
                } else {
                    there
                };
                (there, complete)
            }
            _ => {
                let there = self.memory.read(line, cycle);
                let sharing = self.lines.entry(line).or_default();
                sharing.behind = self.shared_latency.map(|_| there);
                (there, there)
            }
        };
        let sharing = self.lines.entry(line).or_default();
        if writes || !others_have_it {
            sharing.give_to(core, there, writes);
            return (there, complete);
        }
        sharing.copies.insert(core, there);
        let keeps = sharing.is_written && coherence.protocol == CoherenceProtocol::Moesi;
        if sharing.is_written && !keeps {
            // It goes to the level behind the cores' own, which has it when the reader does.
            sharing.behind = self.shared_latency.map(|_| there);
        }
        if !keeps {
            (sharing.owner, sharing.is_written) = (None, false);
        }
        (there, complete)
    }
}
