//! Caches, miss handlers, bus and memory together: when is a line there, and who serves it?
//!
//! Caches are looked up nearest first, and a line comes from the first that holds it. Where it is put on its way is a
//! matter of each level's inclusion: see [`crate::spec::Inclusion`].

mod address_space;
mod arrivals;
mod coherence;
mod eviction;
mod fetching;
mod horizon;
mod instructions;
mod non_temporal;
mod port;
mod prefetching;
mod quiet;
mod residents;
mod sharing;
#[cfg(test)]
pub(crate) mod tests;
mod time;
mod writing;

pub(crate) use arrivals::Overwritten;
pub(crate) use port::{Port, own_lines};
pub(crate) use time::{Cycles, OpenCycles, Standstill, Time};

use crate::cache::Cache;
use crate::calendar::{Claim, Order};
use crate::directory::Directory;
use crate::journeys::Journeys;
use crate::line_room::LineRoom;
use crate::memory::Memory;
use crate::miss_end::MissEnd;
use crate::mshr::Handler;
use crate::prefetcher::Prefetcher;
use crate::spec::{CacheSpec, Inclusion, MachineSpec, SpecError, WritePolicy};
use instructions::InstructionCache;
use port::plan;
use traces::Layout;

/// What an access got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    /// Cycle from which the data can be used.
    pub(crate) complete: u64,
    /// Level whose latency is waited for: 0 for a hit in the first cache, the number of caches for memory.
    pub(crate) level: usize,
}

impl Served {
    /// The end of the miss that brings it.
    #[inline(always)]
    pub(crate) fn end(self) -> MissEnd {
        MissEnd::new(self.complete, self.level)
    }

    /// Tells which line of an access is waited for: the last to come. Where time stands still all come at once, and the one from furthest away
    /// counts.
    pub(crate) fn lateness<T: Time>(self) -> u64 {
        if T::PASSES {
            self.complete
        } else {
            self.level as u64
        }
    }
}

/// When a line is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    /// The cycle of the access.
    time: u64,
    /// The earliest cycle of any later access, and not after this one: what was before need not be remembered.
    now: u64,
    /// The cycle in which it was wanted first, if the access had to wait for a miss handler.
    asked: u64,
    order: Order,
}

impl When {
    /// An access at the earliest cycle that any later one may have.
    pub(crate) fn at_once(time: u64) -> Self {
        Self::ahead(time, time)
    }

    /// An access at cycle `time`, while later ones may have any cycle from `now` on.
    #[inline(always)]
    pub(crate) fn ahead(time: u64, now: u64) -> Self {
        Self {
            time,
            now,
            asked: time,
            order: Order::Kept,
        }
    }

    /// The same, and whoever asks earlier goes first.
    pub(crate) fn behind_earlier(time: u64, now: u64) -> Self {
        Self {
            order: Order::Yielding,
            ..Self::ahead(time, now)
        }
    }

    /// What it asks of what it shares with others, which are in cycle `horizon` at the earliest.
    #[inline]
    fn claim(self, horizon: u64) -> Claim {
        let now = self.now.min(horizon);
        // Who has waited for a miss handler is before those that come in the very cycle.
        let waited = u64::from(self.asked < self.time);
        Claim {
            time: self.time,
            now,
            order: self.order,
            behind: match self.order {
                Order::Kept => self.time - waited,
                Order::Yielding | Order::Promised { .. } => now,
            },
        }
    }

    /// The same access, which goes on at a later cycle.
    fn delayed_to(self, time: u64) -> Self {
        Self { time, ..self }
    }

    /// The same access, which goes on when it has a miss handler.
    fn handled_by(self, handler: &Handler) -> Self {
        Self {
            time: handler.start,
            order: handler.order(),
            ..self
        }
    }

    /// What nobody goes before who asks earlier.
    fn kept(self) -> Self {
        Self {
            order: Order::Kept,
            ..self
        }
    }

    /// What follows from the access at another cycle.
    fn at(self, time: u64) -> Self {
        Self {
            order: self.order,
            ..Self::ahead(time, self.now)
        }
    }
}

/// Why the line is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Load,
    Store,
    Prefetch,
    PrefetchNta,
    /// A hardware prefetcher asked for it.
    Hardware,
}

impl Purpose {
    /// Whether the program uses the line now.
    #[inline(always)]
    pub(crate) fn is_use(self) -> bool {
        matches!(self, Self::Load | Self::Store)
    }
}

/// What the first cache says of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Look {
    /// It is there, its data can be used in this cycle, and nothing more is to be done.
    Hit(u64),
    /// It is there, but still on its way, waits for its first use, or is written through.
    Held,
    /// It is not there.
    Missed,
}

/// What prefetchers learn from: which levels an access looked up and when, and what it found new there. One bit per level.
#[derive(Clone, Copy, Debug, Default)]
struct LookUps {
    /// Levels behind the first that the access reached.
    reached: u32,
    /// Levels that it missed, or was the first to use a prefetched line of.
    found_new: u32,
    /// When it went on behind the first level, if it had to wait for a miss handler.
    sent: u64,
    /// Memory was asked for the line.
    read_memory: bool,
}

impl LookUps {
    /// An access as levels behind the first see it.
    fn behind_first(self, when: When) -> When {
        when.delayed_to(when.time.max(self.sent))
    }
}

/// One cache, and how it deals with its neighbours. Its size is a power of two, so that it is quick to find among others.
#[derive(Clone, Debug)]
#[repr(C, align(256))]
pub(crate) struct Level {
    cache: Cache,
    latency: u64,
    inclusion: Inclusion,
    write_policy: WritePolicy,
    write_allocate: bool,
    /// Whether lines that are not dirty matter to others when they leave.
    evicts_clean: bool,
    prefetchers: Box<[Prefetcher]>,
    /// Data caches that are looked up before this one, by whatever core.
    nearer: Box<[usize]>,
    /// Instruction caches that are filled through it.
    nearer_code: Box<[usize]>,
    taken: Taken,
    /// Of the lines that are on their way to it.
    journeys: Journeys,
}

/// What left a cache, or was written back, because of accesses by cores that do not look it up.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    lines: u64,
    /// Lines among them that a prefetcher had brought, and the program's prefetches, and nobody had used.
    unused: u64,
    expected: u64,
    /// Lines that it had to write back because another core reads them.
    write_backs: u64,
}

impl Level {
    fn new(spec: &CacheSpec, next: Option<&CacheSpec>, room: &mut LineRoom) -> Self {
        let cache = Cache::new(spec, room);
        let shift = cache.line_shift();
        let prefetchers = spec.prefetchers.iter();
        Self {
            cache,
            latency: u64::from(spec.latency_cycles),
            inclusion: spec.inclusion,
            write_policy: spec.write_policy,
            write_allocate: spec.write_allocate,
            evicts_clean: spec.inclusion == Inclusion::Inclusive
                || !spec.prefetchers.is_empty()
                || next.is_some_and(|next| next.inclusion == Inclusion::Exclusive),
            prefetchers: prefetchers
                .map(|spec| Prefetcher::new(spec, shift))
                .collect(),
            nearer: Box::default(),
            nearer_code: Box::default(),
            taken: Taken::default(),
            journeys: Journeys::new(),
        }
    }
}

/// All caches of a machine and what is behind them. Cores reach them through their [`Port`]s.
#[derive(Debug)]
pub(crate) struct Hierarchy {
    /// Data caches: those of each core, then those that cores share.
    levels: Vec<Level>,
    /// First-level instruction caches.
    instructions: Vec<InstructionCache>,
    pub(crate) memory: Memory,
    /// Who holds which line, where caches of several cores are coherent.
    directory: Option<Directory>,
    shared_fills: arrivals::SharedFills,
    page_shift: u32,
    /// No core but the one that has its turn makes a request before this cycle.
    horizon: u64,
    /// Cores that reach them.
    cores: usize,
}

impl Hierarchy {
    /// Empty caches for so many cores, and their ways into them. The specification has been validated.
    ///
    /// # Errors
    /// The memory cannot be set up; see [`Memory::new`].
    pub(crate) fn new(spec: &MachineSpec, cores: usize) -> Result<(Self, Vec<Port>), SpecError> {
        let (levels, paths) = plan(spec, cores);
        let instructions = spec.instruction_cache.iter();
        let instructions = instructions
            .flat_map(|code| (0..cores).map(|_| InstructionCache::new(code, spec.caches.len())));
        let instructions: Vec<_> = instructions.collect();
        let ports = paths.into_iter().enumerate().map(|(core, path)| {
            let code = (!instructions.is_empty()).then_some(core);
            Port::new(spec, (core, cores), &path, code)
        });
        let ports = ports.collect();
        let coherence = spec.coherence.as_ref().filter(|_| cores > 1);
        let directory =
            coherence.map(|coherence| Directory::new(coherence, cores, own_lines(spec, cores)));
        let hierarchy = Self {
            levels,
            instructions,
            memory: Memory::new(spec)?,
            directory,
            shared_fills: arrivals::SharedFills::default(),
            page_shift: spec.dtlb.smallest_page_bytes().trailing_zeros(),
            horizon: u64::MAX,
            cores,
        };
        Ok((hierarchy, ports))
    }

    /// Lays what programs have into the memories that the machine names for it, `ports` and `layouts` being theirs, by core.
    ///
    /// # Errors
    /// One of several memories holds nothing, or what no program has.
    pub(crate) fn place<'l>(
        &mut self,
        spec: &MachineSpec,
        ports: &[Port],
        layouts: impl Iterator<Item = &'l Layout>,
    ) -> Result<(), SpecError> {
        let displacements = ports.iter().map(|port| port.displacement);
        let programs: Vec<_> = displacements.zip(layouts).collect();
        self.memory.place(spec, &programs)
    }

    /// Whether several cores reach the caches.
    pub(crate) fn are_of_several(&self) -> bool {
        self.cores > 1
    }

    /// Whether a core may go on behind its loads before it is known when they end: that matters before a DRAM only.
    #[inline(always)]
    pub(crate) fn leave_loads_open(&self) -> bool {
        self.memory.leaves_times_open()
    }

    /// Whether a store brings its line into the first cache, and goes no further.
    pub(crate) fn stores_to_first(&self, port: &Port) -> bool {
        !port.writes_through && self.levels[port.first].write_allocate
    }

    /// Cycles that a hit in the core's first cache takes.
    pub(crate) fn first_latency(&self, port: &Port) -> u64 {
        self.levels[port.first].latency
    }

    /// Gets the set in which an access looks for its line first into the host's caches.
    #[inline(always)]
    pub(crate) fn foresee_first(&self, port: &Port, address: u64) {
        let cache = &self.levels[port.first].cache;
        cache.foresee(address.wrapping_add(port.displacement) >> cache.line_shift());
    }

    /// The same of the sets behind the first, in which it looks if it does not find its line at once.
    #[inline(always)]
    pub(crate) fn foresee_others(&self, port: &Port, address: u64) {
        let address = address.wrapping_add(port.displacement);
        let first = &self.levels[port.first].cache;
        if first.at_once(address >> first.line_shift()).is_some() {
            return;
        }
        for &place in &port.path()[1..] {
            let cache = &self.levels[place].cache;
            cache.foresee(address >> cache.line_shift());
        }
    }

    /// Begins an access to bytes, told by address and number, and gives the cycle from which they can be used if the first
    /// cache has them. Else [`Hierarchy::access_on`] has to follow with what was found. Bytes past the end of the address space do not exist.
    #[inline(always)]
    pub(crate) fn access_at_once(
        &mut self,
        port: &mut Port,
        (address, size): (u64, u64),
        when: When,
        purpose: Purpose,
    ) -> Result<u64, Look> {
        let address = address.wrapping_add(port.displacement);
        let line = address >> self.levels[port.first].cache.line_shift();
        port.accesses += 1;
        let look = self.look(port, line, when, purpose);
        match look {
            Look::Hit(complete) if (address & port.in_line) + size < port.further => Ok(complete),
            _ => Err(look),
        }
    }

    /// Looks the line up in the first cache: by far the most accesses end there.
    #[inline(always)]
    fn look(&mut self, port: &mut Port, line: u64, when: When, purpose: Purpose) -> Look {
        let first = &mut self.levels[port.first];
        let Some(held) = first.cache.touch(line) else {
            return Look::Missed;
        };
        if purpose == Purpose::Store {
            if port.stores_go_on {
                return Look::Held;
            }
            held.make_dirty();
        }
        if matches!(purpose, Purpose::Prefetch | Purpose::PrefetchNta) {
            port.useless_prefetches += 1;
        }
        let hit = when.time + first.latency;
        if !held.is_settled(hit) && !held.settles_expected(hit, purpose.is_use()) {
            return Look::Held;
        }
        Look::Hit(hit)
    }

    /// Goes on with an access whose first line has been looked up, but which does not end there.
    #[inline(always)]
    pub(crate) fn access_on<T: Time>(
        &mut self,
        port: &mut Port,
        look: Look,
        (address, size): (u64, u64),
        when: When,
        (purpose, site): (Purpose, u16),
    ) -> Served {
        let address = address.wrapping_add(port.displacement);
        port.not_at_once += u64::from(!matches!(look, Look::Hit(_)));
        if (address & port.in_line) + size < port.further && !port.is_coherent {
            let line = address >> self.levels[port.first].cache.line_shift();
            return self.serve::<T>(port, look, line, when, purpose, &mut LookUps::default());
        }
        self.access_lines::<T>(port, look, (address, size, 0), when, (purpose, site))
    }

    /// The same of an access to several lines, the last of which to come is waited for, or from which prefetchers learn, or that other
    /// cores may notice. So many of its bytes lie `before` these.
    #[inline(never)]
    fn access_lines<T: Time>(
        &mut self,
        port: &mut Port,
        mut look: Look,
        (mut address, size, before): (u64, u64, u64),
        when: When,
        (purpose, site): (Purpose, u16),
    ) -> Served {
        let shift = self.levels[port.first].cache.line_shift();
        let straddles = before + size <= 1 << shift;
        let mut is_rest = straddles && before > 0;
        let mut line = address >> shift;
        let end = address.saturating_add(size.max(1));
        let last = (end - 1) >> shift;
        let mut latest: Option<Served> = None;
        loop {
            let mut look_ups = LookUps::default();
            let bytes = (address, end - address);
            let missed = port.is_coherent && matches!(look, Look::Missed);
            if missed && purpose.is_use() {
                self.count_sharing::<T>(port, bytes, when);
            }
            // What it has now, or is about to, may have come back to it.
            let asks = port.is_coherent && !matches!(look, Look::Hit(_));
            let still_held = asks.then(|| self.still_held::<T>(port, bytes, when, purpose));
            let served = match still_held.flatten() {
                Some(served) => served,
                None => {
                    let served = self.serve::<T>(port, look, line, when, purpose, &mut look_ups);
                    if port.is_coherent && purpose == Purpose::Store {
                        let when = look_ups.behind_first(when);
                        self.claim::<T>(port, bytes, when, (served, missed))
                    } else {
                        served
                    }
                }
            };
            if port.prefetches {
                let access = (address, site, is_rest);
                self.train::<T>(port, access, when, purpose, look_ups);
            }
            is_rest = straddles;
            let waited = latest.map_or(served, |before| self.both::<T>(before, served));
            if line == last {
                return waited;
            }
            latest = Some(waited);
            line += 1;
            address = line << shift;
            look = self.look_further(port, line, when, purpose);
        }
    }

    /// What an access gets that waits for two lines: the last to come counts.
    pub(crate) fn both<T: Time>(&mut self, one: Served, other: Served) -> Served {
        let last = if one.lateness::<T>() >= other.lateness::<T>() {
            one
        } else {
            other
        };
        let complete = self.memory.later([one.complete, other.complete]);
        Served { complete, ..last }
    }

    /// Goes on with an access whose bytes `before` lie in other pages.
    pub(crate) fn access_further<T: Time>(
        &mut self,
        port: &mut Port,
        (address, size, before): (u64, u64, u64),
        when: When,
        reason: (Purpose, u16),
    ) -> Served {
        let address = address.wrapping_add(port.displacement);
        let line = address >> self.levels[port.first].cache.line_shift();
        let look = self.look_further(port, line, when, reason.0);
        self.access_lines::<T>(port, look, (address, size, before), when, reason)
    }

    /// Looks up a line that is not the first of its access.
    fn look_further(&mut self, port: &mut Port, line: u64, when: When, purpose: Purpose) -> Look {
        let look = self.look(port, line, when, purpose);
        port.counts[0].hits += u64::from(matches!(look, Look::Hit(_)));
        look
    }

    /// Serves a line that has been looked up in the first cache.
    #[inline(always)]
    fn serve<T: Time>(
        &mut self,
        port: &mut Port,
        look: Look,
        line: u64,
        when: When,
        purpose: Purpose,
        look_ups: &mut LookUps,
    ) -> Served {
        match look {
            Look::Hit(complete) => Served { complete, level: 0 },
            Look::Missed => self.miss::<T>(port, line, when, purpose, look_ups),
            Look::Held if purpose == Purpose::Store && port.writes_through => {
                self.store_through::<T>(port, line, when, look_ups)
            }
            Look::Held if purpose == Purpose::Store && port.is_coherent => {
                let served = self.unsettled::<T>(port, line, when.time, purpose, look_ups);
                self.level(port, 0).cache.make_dirty(line);
                served
            }
            Look::Held => self.unsettled::<T>(port, line, when.time, purpose, look_ups),
        }
    }

    /// A hit in the first cache on a line that is still on its way, or was prefetched and not used.
    #[inline(never)]
    fn unsettled<T: Time>(
        &mut self,
        port: &mut Port,
        line: u64,
        time: u64,
        purpose: Purpose,
        look_ups: &mut LookUps,
    ) -> Served {
        let address = line << self.levels[port.first].cache.line_shift();
        let found = self.find::<T>(port, 0, address, time, purpose, look_ups);
        found.expect("it was found a moment ago")
    }

    /// The core asks for nothing any more, while others may go on for long: when its outstanding misses complete is kept until
    /// [`Hierarchy::drained`] asks.
    pub(crate) fn keep(&mut self, port: &mut Port) {
        port.mshrs.keep(&mut self.memory);
    }

    /// Lets buffers and memory finish, of a core that has come to cycle `time`, and gives the cycle in which its last outstanding miss completes.
    pub(crate) fn drained(&mut self, port: &mut Port, time: u64) -> u64 {
        self.send_all(port, time);
        port.mshrs.settle_all(&mut self.memory);
        self.memory.drain();
        port.mshrs.drained(&self.memory)
    }

    /// Empties everything on the core's way to memory; what is in flight is forgotten. The buses and the memory go on if other cores have
    /// requests there.
    pub(crate) fn clear(&mut self, port: &mut Port) {
        for &place in port.path() {
            let level = &mut self.levels[place];
            level.cache.clear();
            level.prefetchers.iter_mut().for_each(Prefetcher::clear);
            if level.inclusion == Inclusion::Inclusive {
                // Nearer caches hold nothing that it does not hold, whoever's they are.
                for near in 0..self.levels[place].nearer.len() {
                    let near = self.levels[place].nearer[near];
                    self.levels[near].cache.clear();
                }
            }
        }
        if let Some(code) = port.code {
            self.instructions[code].clear();
        }
        if let Some(directory) = &mut self.directory {
            directory.forget(port.core);
        }
        port.mshrs.clear();
        port.combining.clear();
        if self.cores == 1 {
            self.memory.clear();
        }
    }
}
