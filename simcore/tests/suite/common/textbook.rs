//! The judge of all counts: caches as a textbook has them, with lists, marks and recursion, and no notion of time.
//!
//! A level is looked up when all before it missed. Who is filled, who is emptied and who is written to follows the
//! doc comments of `spec::{Inclusion, WritePolicy, CacheSpec}`.

use super::textbook_sets::{Held, Place, Set};
use simcore::Statistics;
use simcore::spec::{CacheSpec, Inclusion, MachineSpec, WritePolicy};
use traces::{Event, Kind};

/// Counts of one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub found: u64,
    pub missed: u64,
    pub write_backs: u64,
    pub back_invalidations: u64,
    pub overwritten: u64,
}

/// Lines and stores that passed between the last level and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bus {
    pub fills: u64,
    pub write_backs: u64,
    pub write_throughs: u64,
    pub non_temporal: u64,
}

struct Level {
    spec: CacheSpec,
    sets: Vec<Set>,
    counts: Counts,
}

impl Level {
    fn new(spec: &CacheSpec) -> Self {
        let set = Set::new(spec.replacement, spec.ways as usize);
        Self {
            spec: spec.clone(),
            sets: vec![set; spec.sets() as usize],
            counts: Counts::default(),
        }
    }

    fn set(&mut self, address: u64) -> (&mut Set, u64) {
        let line = address / self.spec.line_bytes;
        let number = line % self.sets.len() as u64;
        (&mut self.sets[number as usize], line)
    }

    fn touch(&mut self, address: u64) -> Option<&mut Held> {
        let (set, line) = self.set(address);
        set.touch(line)
    }

    fn remove(&mut self, address: u64) -> Option<Held> {
        let (set, line) = self.set(address);
        set.remove(line)
    }

    /// Looks up for a use and counts.
    fn look_up(&mut self, address: u64) -> bool {
        let found = self.touch(address).is_some();
        self.counts.found += u64::from(found);
        self.counts.missed += u64::from(!found);
        found
    }

    fn keeps_writes(&self) -> bool {
        self.spec.write_policy == WritePolicy::WriteBack
    }

    fn is(&self, inclusion: Inclusion) -> bool {
        self.spec.inclusion == inclusion
    }
}

/// All levels, nearest first.
pub struct Textbook {
    levels: Vec<Level>,
    bus: Bus,
    /// Lines that non-temporal stores have begun, with the bytes written, the oldest first; and how many there may be.
    combined: Vec<(u64, u64)>,
    buffers: usize,
}

impl Textbook {
    pub fn new(spec: &MachineSpec) -> Self {
        Self {
            levels: spec.caches.iter().map(Level::new).collect(),
            bus: Bus::default(),
            combined: Vec::new(),
            buffers: spec.mshrs() as usize,
        }
    }

    /// Runs the memory accesses of a trace.
    pub fn run(&mut self, events: &[Event]) {
        for event in events {
            match event.kind {
                Kind::Load | Kind::Store | Kind::Exchange => {
                    self.access(event, u64::from(event.size))
                }
                Kind::Prefetch | Kind::PrefetchNta => self.access(event, 1),
                Kind::PageArrival => self.arrive(event),
                Kind::StoreNta => self.write_past(event),
                _ => {}
            }
        }
    }

    /// What the simulator must have counted, when what is left in write-combining buffers has gone to memory.
    pub fn counts(&self) -> (Vec<Counts>, Bus) {
        let left = self.combined.len() as u64;
        let bus = Bus {
            non_temporal: self.bus.non_temporal + left,
            ..self.bus
        };
        let levels = self.levels.iter().map(|level| level.counts);
        (levels.collect(), bus)
    }

    /// A line that is begun leaves all caches, and a full one, or the oldest of too many, goes to memory.
    fn write_past(&mut self, event: &Event) {
        let line_bytes = self.levels[0].spec.line_bytes;
        let end = event.address.saturating_add(u64::from(event.size) - 1);
        for line in event.address / line_bytes..=end / line_bytes {
            let bytes = (event.address..=end).filter(|byte| byte / line_bytes == line);
            let open = self.combined.iter().position(|&(begun, _)| begun == line);
            let place = open.unwrap_or_else(|| {
                if self.combined.len() == self.buffers {
                    self.combined.remove(0);
                    self.bus.non_temporal += 1;
                }
                self.empty_line(line * line_bytes);
                self.combined.push((line, 0));
                self.combined.len() - 1
            });
            // Bytes written twice count twice.
            self.combined[place].1 += bytes.count() as u64;
            if self.combined[place].1 >= line_bytes {
                self.combined.remove(place);
                self.bus.non_temporal += 1;
            }
        }
    }

    /// No level holds what is in the last level's line of an address; if some of it was dirty, that line goes to memory.
    fn empty_line(&mut self, address: u64) {
        let longest = self.levels.last().unwrap().spec.line_bytes;
        let start = address / longest * longest;
        let mut dirty = false;
        for level in 0..self.levels.len() {
            let step = self.levels[level].spec.line_bytes;
            for part in (0..longest).step_by(step as usize) {
                let held = self.levels[level].remove(start + part);
                dirty |= held.is_some_and(|held| held.dirty);
            }
        }
        self.bus.write_backs += u64::from(dirty);
    }

    /// A line of the last level, a part of which is fetched or written while buffers have some of it: that goes to memory first.
    fn send_if_begun(&mut self, address: u64) {
        let (line, longest) = (
            self.levels[0].spec.line_bytes,
            self.levels.last().unwrap().spec.line_bytes,
        );
        let before = self.combined.len();
        self.combined
            .retain(|&(begun, _)| begun * line / longest != address / longest);
        self.bus.non_temporal += (before - self.combined.len()) as u64;
    }

    fn access(&mut self, event: &Event, size: u64) {
        let bytes = self.levels[0].spec.line_bytes;
        let last = event.address.saturating_add(size - 1) / bytes;
        for line in event.address / bytes..=last {
            self.access_line(line * bytes, event.kind);
        }
    }

    /// No level holds a byte of a page that has come, nor of what is with one in a line of the last level.
    fn arrive(&mut self, event: &Event) {
        let longest = self.levels.last().unwrap().spec.line_bytes;
        let bytes = u128::from(event.address)..u128::from(event.address) + u128::from(event.size);
        let touches = |start: u128| start < bytes.end && bytes.start < start + u128::from(longest);
        for level in &mut self.levels {
            let line_bytes = level.spec.line_bytes;
            for set in &mut level.sets {
                for line in set.lines() {
                    let start = line * line_bytes / longest * longest;
                    if !bytes.is_empty() && touches(start.into()) {
                        set.remove(line);
                        level.counts.overwritten += 1;
                    }
                }
            }
        }
    }

    fn access_line(&mut self, address: u64, kind: Kind) {
        let found = self.levels[0].look_up(address);
        if !found {
            self.send_if_begun(address);
        }
        if matches!(kind, Kind::Store | Kind::Exchange) {
            self.store(0, address, found);
        } else if !found {
            self.fetch(0, address, kind == Kind::PrefetchNta);
        }
    }

    /// A store that was looked up in a level, and goes on until one keeps it.
    fn store(&mut self, level: usize, address: u64, found: bool) {
        let here = &self.levels[level];
        let keeps = here.keeps_writes();
        let allocates = here.spec.write_allocate;
        if !found && allocates {
            self.fetch(level, address, false);
        }
        if keeps && (found || allocates) {
            let (set, line) = self.levels[level].set(address);
            set.make_dirty(line);
            return;
        }
        match self.levels.get_mut(level + 1) {
            None => self.bus.write_throughs += 1,
            Some(next) => {
                let found = next.look_up(address);
                self.store(level + 1, address, found);
            }
        }
    }

    /// Brings a line to a level that missed it, from the first level behind that holds it.
    fn fetch(&mut self, nearest: usize, address: u64, streams: bool) {
        let mut source = nearest + 1;
        while source < self.levels.len() && !self.levels[source].look_up(address) {
            source += 1;
        }
        let mut dirty = false;
        match self.levels.get_mut(source) {
            None => self.bus.fills += 1,
            Some(level) if level.is(Inclusion::Exclusive) => {
                dirty = level.remove(address).unwrap().dirty;
            }
            Some(_) => {}
        }
        for level in (nearest..source).rev() {
            let fills = match self.levels[level].spec.inclusion {
                _ if level == nearest => true,
                Inclusion::Inclusive => true,
                Inclusion::NonInclusive => !streams,
                Inclusion::Exclusive => false,
            };
            if fills {
                let place = if streams { Place::First } else { Place::Last };
                self.put(level, address, std::mem::take(&mut dirty), place);
            }
        }
    }

    fn put(&mut self, level: usize, address: u64, dirty: bool, place: Place) {
        let (set, line) = self.levels[level].set(address);
        let streams = place == Place::First;
        if let Some(victim) = set.put(
            Held {
                line,
                dirty,
                streams,
            },
            place,
        ) {
            self.leave(level, victim);
        }
    }

    /// A line was displaced.
    fn leave(&mut self, level: usize, victim: Held) {
        let bytes = self.levels[level].spec.line_bytes;
        let (first, mut dirty) = (victim.line * bytes, victim.dirty);
        if self.levels[level].is(Inclusion::Inclusive) {
            for nearer in &mut self.levels[..level] {
                for part in (0..bytes).step_by(nearer.spec.line_bytes as usize) {
                    if let Some(held) = nearer.remove(first + part) {
                        nearer.counts.back_invalidations += 1;
                        dirty |= held.dirty;
                    }
                }
            }
        }
        self.levels[level].counts.write_backs += u64::from(dirty);
        let next = self.levels.get(level + 1);
        // What is used once displaces nothing further on.
        let takes_clean = next.is_some_and(|next| next.is(Inclusion::Exclusive));
        if dirty || takes_clean && !victim.streams {
            self.receive(level + 1, (first, bytes), dirty);
        }
    }

    /// A level gets bytes that a level before displaced; a write-through level passes on what is dirty, and a level of longer lines what it
    /// lacks.
    fn receive(&mut self, level: usize, (address, bytes): (u64, u64), dirty: bool) {
        let Some(here) = self.levels.get_mut(level) else {
            self.bus.write_backs += 1;
            return;
        };
        let mut keeps = here.keeps_writes();
        if let Some(held) = here.touch(address) {
            held.dirty |= dirty && keeps;
        } else if bytes < here.spec.line_bytes {
            keeps = false;
        } else {
            let mut stays_dirty = dirty && keeps;
            // What enters a level leaves the exclusive one behind it.
            if let Some(next) = self.levels.get_mut(level + 1)
                && next.is(Inclusion::Exclusive)
            {
                stays_dirty |= next.remove(address).is_some_and(|held| held.dirty);
            }
            self.put(level, address, stays_dirty, Place::Last);
        }
        if dirty && !keeps {
            self.receive(level + 1, (address, bytes), true);
        }
    }
}

/// The simulator's counts in the form of the textbook's.
pub fn simulated(stats: &Statistics) -> (Vec<Counts>, Bus) {
    let levels = stats.caches.iter().map(|cache| Counts {
        found: cache.counts.hits + cache.counts.merges,
        missed: cache.counts.misses,
        write_backs: cache.counts.write_backs,
        back_invalidations: cache.back_invalidations.unwrap_or(0),
        overwritten: cache.overwritten.unwrap_or(0),
    });
    let bus = Bus {
        fills: stats.bus.fills,
        write_backs: stats.bus.write_backs,
        write_throughs: stats.bus.write_throughs.unwrap_or(0),
        non_temporal: stats.bus.non_temporal.unwrap_or(0),
    };
    (levels.collect(), bus)
}
