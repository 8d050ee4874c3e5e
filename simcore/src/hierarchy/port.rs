//! How a core reaches memory: which caches it looks up, and what its accesses met there.

use super::quiet::quiet_levels;
use super::sharing::CoherenceCounts;
use super::{Hierarchy, InstructionCache, Level, Taken, address_space};
use crate::ledger::MAX_CACHES;
use crate::line_room::LineRoom;
use crate::miss_end::MissEnd;
use crate::mshr::Mshrs;
use crate::spec::{CacheSpec, MachineSpec, WritePolicy};
use crate::statistics::{CacheCounts, CoherenceStatistics, PrefetcherCounts};
use crate::write_combining::WriteCombining;
use std::array;
use std::collections::BTreeSet;

/// Traffic between the last cache and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BusCounts {
    pub(crate) fills: u64,
    pub(crate) write_backs: u64,
    pub(crate) write_throughs: u64,
    pub(crate) non_temporal: u64,
}

/// What moves between the last cache and memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Traffic {
    Fill,
    WriteBack,
    WriteThrough,
    NonTemporal,
}

impl BusCounts {
    fn add(&mut self, traffic: Traffic) {
        *match traffic {
            Traffic::Fill => &mut self.fills,
            Traffic::WriteBack => &mut self.write_backs,
            Traffic::WriteThrough => &mut self.write_throughs,
            Traffic::NonTemporal => &mut self.non_temporal,
        } += 1;
    }
}

/// A core's way into the hierarchy. What is counted is counted for the core whose access it is.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    /// The first data cache on the way to memory, by its place among all.
    pub(super) first: usize,
    /// All of them, nearest first.
    path: [usize; MAX_CACHES],
    levels: usize,
    /// The instruction cache beside it, if there is one.
    pub(super) code: Option<usize>,
    pub(crate) mshrs: Mshrs,
    /// As many buffers as there are miss handlers.
    pub(super) combining: WriteCombining,
    /// How far lines lie from where the program's addresses say: see [`address_space`].
    pub(super) displacement: u64,
    /// Bits of an address that are its place in a line of the first cache.
    pub(super) in_line: u64,
    /// From how many bytes after the beginning of its line on an access has more to do than to look this line up.
    pub(super) further: u64,
    /// Whether some level has a prefetcher.
    pub(super) prefetches: bool,
    /// How many levels serve accesses that no other core notices: see [`super::quiet`].
    pub(super) quiet_levels: usize,
    /// Its number.
    pub(super) core: usize,
    /// How many of the data caches on the way are the core's own.
    pub(super) own: usize,
    /// The level before which other cores are asked for a line; none, if they are not.
    pub(super) asks_before: usize,
    /// The first cache writes through.
    pub(super) writes_through: bool,
    /// There are other cores, which have to be asked for lines that they write.
    pub(super) is_coherent: bool,
    /// For one of the two reasons stores do more than make their line dirty in the first cache.
    pub(super) stores_go_on: bool,
    /// Loads, stores and prefetches that have looked up the first cache.
    pub(crate) accesses: u64,
    /// Stores that went past the caches.
    pub(crate) non_temporal_stores: u64,
    /// What the latest access, or a part of it, waited for to have a miss handler: the line whose end freed that.
    pub(crate) handled_behind: MissEnd,
    /// When the other core had the latest line that came from one.
    pub(super) given: u64,
    /// Accesses whose first line was not found in the first cache, or not ready: all others are hits that its counts lack.
    pub(super) not_at_once: u64,
    /// By level.
    pub(super) counts: [CacheCounts; MAX_CACHES],
    pub(super) prefetcher_counts: [PrefetcherCounts; MAX_CACHES],
    pub(crate) bus_counts: BusCounts,
    /// The same by memory, if there are several.
    pub(crate) memory_counts: Box<[BusCounts]>,
    /// Software prefetches of lines that were there already, or on their way.
    pub(crate) useless_prefetches: u64,
    /// Lines that they brought to the first cache: still on their way when they were needed, and displaced before that.
    pub(crate) late_prefetches: u64,
    pub(super) unused_prefetches: u64,
    pub(crate) coherence: CoherenceCounts,
    /// What others had taken out of each level when the core's program ended: what they do later is not the program's.
    taken: Option<[Taken; MAX_CACHES]>,
}

impl Port {
    /// The way of a core, told by its number and how many there are, along the data caches of `path` and beside the instruction cache `code`.
    /// The specification has been validated.
    pub(super) fn new(
        spec: &MachineSpec,
        (core, cores): (usize, usize),
        path: &[usize],
        code: Option<usize>,
    ) -> Self {
        let first = &spec.caches[0];
        let own = own_levels(spec, cores);
        let writes_through = first.write_policy == WritePolicy::WriteThrough;
        let is_coherent = spec.coherence.is_some() && cores > 1;
        let mut caches = spec.caches.iter();
        let prefetches = caches.any(|cache| !cache.prefetchers.is_empty());
        Self {
            first: path[0],
            code,
            mshrs: Mshrs::new(spec.mshrs(), 2 * spec.core.store_buffer_entries),
            combining: WriteCombining::new(spec.mshrs(), first.line_bytes),
            displacement: 0,
            in_line: first.line_bytes - 1,
            further: if prefetches { 0 } else { first.line_bytes + 1 },
            prefetches,
            quiet_levels: quiet_levels(spec),
            core,
            own,
            asks_before: if is_coherent { own } else { usize::MAX },
            writes_through,
            is_coherent,
            stores_go_on: writes_through || is_coherent,
            accesses: 0,
            non_temporal_stores: 0,
            handled_behind: MissEnd::default(),
            given: 0,
            not_at_once: 0,
            counts: Default::default(),
            prefetcher_counts: Default::default(),
            bus_counts: BusCounts::default(),
            memory_counts: vec![BusCounts::default(); spec.memory.named().len()].into(),
            useless_prefetches: 0,
            late_prefetches: 0,
            unused_prefetches: 0,
            coherence: CoherenceCounts::default(),
            taken: None,
            path: array::from_fn(|level| path.get(level).copied().unwrap_or(0)),
            levels: path.len(),
        }
    }

    /// No line has had to wait for a miss handler.
    #[inline(always)]
    pub(crate) fn forget_handler(&mut self) {
        self.handled_behind = MissEnd::default();
    }

    /// Whether the core's program has ended.
    pub(crate) fn has_left(&self) -> bool {
        self.taken.is_some()
    }

    /// Misses in the first cache.
    pub(crate) fn first_misses(&self) -> u64 {
        self.counts[0].misses
    }

    /// The data caches on the way to memory, nearest first, by their places among all.
    pub(super) fn path(&self) -> &[usize] {
        &self.path[..self.levels]
    }

    /// The place of one of them.
    #[inline(always)]
    pub(super) fn place(&self, level: usize) -> usize {
        self.path[level]
    }

    /// How many data caches there are on the way to memory.
    pub(super) fn levels(&self) -> usize {
        self.levels
    }
}

impl Hierarchy {
    /// Counts a line at `address` that moves between the last cache and memory.
    #[inline]
    pub(super) fn count_traffic(&self, port: &mut Port, address: u64, traffic: Traffic) {
        port.bus_counts.add(traffic);
        if let Some(number) = self.memory.number_of(address) {
            port.memory_counts[number].add(traffic);
        }
    }

    /// Puts the core's program into a memory that is that of the program's number alone. Nothing has been accessed.
    pub(crate) fn set_program(&self, port: &mut Port, number: u64) {
        port.displacement = address_space::displacement(number, 1 << self.page_shift);
    }

    /// Counts of the core's look-ups and of what prefetchers did for it, by level, nearest first. Lines that others took out
    /// of its own caches are among those that left.
    pub(crate) fn counts(
        &self,
        port: &Port,
    ) -> impl Iterator<Item = (CacheCounts, PrefetcherCounts)> {
        let places = port.path().iter().enumerate();
        places.map(|(number, &place)| {
            let (mut counts, mut prefetchers) =
                (port.counts[number], port.prefetcher_counts[number]);
            if number == 0 {
                counts.hits += port.accesses - port.not_at_once;
            }
            let taken = self.taken(port, number, place);
            counts.back_invalidations += taken.lines;
            counts.write_backs += taken.write_backs;
            prefetchers.unused += taken.unused;
            (counts, prefetchers)
        })
    }

    /// What other cores have to do with the core's accesses, if caches are coherent.
    pub(crate) fn coherence(&self, port: &Port) -> Option<CoherenceStatistics> {
        let directory = self.directory.as_ref()?;
        let counts = port.coherence;
        Some(CoherenceStatistics {
            transfers: counts.transfers,
            upgrades: counts.upgrades,
            invalidations: directory.invalidations[port.core],
            true_sharing: counts.true_sharing,
            false_sharing: counts.false_sharing,
        })
    }

    /// Lines that the core's software prefetches brought to its first cache and that left it before any use, whoever made them leave.
    pub(crate) fn unused_prefetches(&self, port: &Port) -> u64 {
        port.unused_prefetches + self.taken(port, 0, port.first).expected
    }

    /// What others have taken out of a level, by its number on the core's way and its place among all, up to the end of the core's program.
    fn taken(&self, port: &Port, number: usize, place: usize) -> Taken {
        port.taken
            .map_or(self.levels[place].taken, |taken| taken[number])
    }

    /// The core's program has ended. Others may go on.
    pub(crate) fn leave(&self, port: &mut Port) {
        let taken = |level: usize| self.levels[port.path[level]].taken;
        port.taken = Some(array::from_fn(taken));
    }

    /// The core's instruction cache, if it has one.
    pub(crate) fn instruction_cache(&self, port: &Port) -> Option<&InstructionCache> {
        Some(&self.instructions[port.code?])
    }

    /// A level on the core's way to memory.
    #[inline]
    pub(super) fn level(&mut self, port: &Port, number: usize) -> &mut Level {
        &mut self.levels[port.place(number)]
    }
}

/// How many data caches are each core's own, if so many cores run.
pub(super) fn own_levels(spec: &MachineSpec, cores: usize) -> usize {
    let caches = &spec.caches;
    caches.partition_point(|cache| cores == 1 || !cache.shared)
}

/// Lines of all caches that are cores' own, if so many cores run.
pub(crate) fn own_lines(spec: &MachineSpec, cores: usize) -> usize {
    let own = &spec.caches[..own_levels(spec, cores)];
    cores * own.iter().map(CacheSpec::lines).sum::<usize>()
}

/// The caches of a machine, and the way of each core through them: its own ones, then those that all share.
pub(super) fn plan(spec: &MachineSpec, cores: usize) -> (Vec<Level>, Vec<Vec<usize>>) {
    let own = own_levels(spec, cores);
    let nexts: Vec<_> = spec.caches.iter().skip(1).map(Some).chain([None]).collect();
    let lines = |caches: &[CacheSpec]| caches.iter().map(CacheSpec::lines).sum::<usize>();
    let (owned, shared) = spec.caches.split_at(own);
    let mut room = LineRoom::of(cores * lines(owned) + lines(shared));
    let shared = shared.len();
    let numbers = (0..cores)
        .flat_map(|_| 0..own)
        .chain(own..spec.caches.len());
    let mut levels: Vec<Level> = numbers
        .map(|number| Level::new(&spec.caches[number], nexts[number], &mut room))
        .collect();
    let path = |core: usize| -> Vec<usize> {
        let (own, shared) = (
            core * own..(core + 1) * own,
            cores * own..cores * own + shared,
        );
        own.chain(shared).collect()
    };
    let paths: Vec<_> = (0..cores).map(path).collect();
    for (place, level) in levels.iter_mut().enumerate() {
        let passes = |path: &Vec<usize>| path.iter().position(|&on_path| on_path == place);
        let through = paths.iter().enumerate();
        let through = through.filter_map(|(core, path)| Some((core, &path[..passes(path)?])));
        let nearer: BTreeSet<usize> = through
            .clone()
            .flat_map(|(_, before)| before)
            .copied()
            .collect();
        level.nearer = nearer.into_iter().collect();
        // Code comes through the second level.
        let fetching =
            through.filter(|(_, before)| spec.instruction_cache.is_some() && !before.is_empty());
        level.nearer_code = fetching.map(|(core, _)| core).collect();
    }
    (levels, paths)
}
