//! Lines that several cores use: what one of them writes leaves the caches of the others.
//!
//! Where a machine's caches are coherent, a directory knows who may hold a line. A core that lacks one asks it before the levels
//! that all share; a core that writes one that others hold takes it from them first.

use super::fetching::{learn, urgency};
use super::{Hierarchy, InstructionCache, Level, Port, Purpose, Served, Time, When};
use crate::directory::{Cores, Lost, Sharing, parts};
use crate::line::Line;
use crate::memory::{Urgency, is_pending};
use crate::spec::{CoherenceProtocol, Inclusion};

/// What a core has of a line that another wants.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    /// When it has it, for who wants it then.
    ready: u64,
    /// The line as it is there, if it was written.
    written: Option<Line>,
    /// The level that it comes from, if the other wants it before this core asked for it: it is the other that fetches it, then.
    brought_by: Option<usize>,
}

/// What cores have caches of their own in.
#[derive(Clone, Copy)]
struct Caches<'h> {
    levels: &'h [Level],
    instructions: &'h [InstructionCache],
    /// Data caches of each core's own, which stand before those that all share.
    own: usize,
    shift: u32,
}

impl<'h> Caches<'h> {
    /// Those of a hierarchy, as a port of any of its cores shows them.
    fn of(levels: &'h [Level], instructions: &'h [InstructionCache], port: &Port) -> Self {
        Self {
            levels,
            instructions,
            own: port.own,
            shift: levels[port.first].cache.line_shift(),
        }
    }

    /// Whether a core has a line in a cache of its own.
    fn hold(self, core: usize, line: u64) -> bool {
        let mut own = self.levels[core * self.own..(core + 1) * self.own].iter();
        let mut code = self.instructions.get(core).into_iter();
        own.any(|level| level.cache.holds(line))
            || code.any(|code| code.holds_some(line << self.shift, 1 << self.shift))
    }
}

impl Hierarchy {
    /// The line at `address`, which the core's own caches lack, from another core; nothing if what all share has to serve it.
    ///
    /// A core that wrote the line, or alone holds it, serves it. If no shared level has it, so does the first that has it of those that hold it.
    /// A store takes it from all then; one that what all share serves does so in [`Hierarchy::claim`].
    pub(super) fn ask_others<T: Time>(
        &mut self,
        port: &mut Port,
        address: u64,
        when: When,
        purpose: Purpose,
    ) -> Option<Served> {
        let line = self.line_of(port, address);
        let others = self.find_others(port, line, when)?;
        let owner = self.directory.as_ref()?.get(line)?.owner();
        let owner = owner.filter(|&owner| others.contains(owner));
        let stores = purpose == Purpose::Store;
        if owner.is_none() && self.is_in_shared_level(port, line) {
            if !stores {
                self.share::<T>(port, (others, None), None, address, when);
            }
            return None;
        }
        let giver = match owner {
            Some(owner) => owner,
            None => self.first_to_have(port.own, others, line)?,
        };
        let copy = self.copy_of::<T>(port.own, giver, line, when.time);
        let mut served = Served {
            complete: copy.ready.max(when.time),
            level: copy.brought_by.unwrap_or(port.levels() + 1),
        };
        port.given = copy.ready;
        if copy.brought_by.is_none() {
            served.complete = self.settle::<T>(line, when.delayed_to(served.complete));
        }
        if served.level > port.levels() {
            port.coherence.transfers += 1;
        } else if port.own < port.levels() {
            // It finds the line on its way to the level behind the cores' own.
            port.counts[port.own].merges += 1;
        }
        if stores {
            self.take_from_others(port, line, when.time);
        } else {
            let when = when.delayed_to(served.complete);
            self.share::<T>(port, (others, owner), copy.written, address, when);
        }
        Some(served)
    }

    /// The core, of some with `own` caches each, that has a line first.
    fn first_to_have(&mut self, own: usize, cores: Cores, line: u64) -> Option<usize> {
        cores.iter().min_by_key(|core| {
            let levels = &mut self.levels[core * own..(core + 1) * own];
            let held = levels
                .iter_mut()
                .filter_map(|level| level.cache.find_mut(line));
            held.map(|held| learn(&mut self.memory, held, Urgency::Deferred))
                .max()
        })
    }

    /// The number of the line at `address`: lines of coherent caches have one size.
    fn line_of(&self, port: &Port, address: u64) -> u64 {
        address >> self.levels[port.first].cache.line_shift()
    }

    /// Whether the core alone may hold the line at `address`.
    pub(super) fn has_alone(&self, port: &Port, address: u64) -> bool {
        let line = self.line_of(port, address);
        let sharing = self.directory.as_ref().and_then(|all| all.get(line));
        sharing.is_none_or(|sharing| sharing.exclusive_to() == Some(port.core))
    }

    /// Whether the line at `address` has come to other cores since one has had it alone. It may have left them.
    pub(super) fn others_may_hold(&self, port: &Port, address: u64) -> bool {
        let line = self.line_of(port, address);
        let sharing = self.directory.as_ref().and_then(|all| all.get(line));
        sharing.is_some_and(|sharing| !sharing.holders.without(port.core).is_empty())
    }

    fn is_in_shared_level(&self, port: &Port, line: u64) -> bool {
        let mut shared = port.path()[port.own..].iter();
        shared.any(|&place| self.levels[place].cache.holds(line))
    }

    /// The other cores that hold a line which the core is about to have; nothing if it has the line alone from now on.
    fn find_others(&mut self, port: &Port, line: u64, when: When) -> Option<Cores> {
        let now = when.now.min(self.horizon);
        let directory = self.directory.as_mut()?;
        let caches = Caches::of(&self.levels, &self.instructions, port);
        directory.regain(line, port.core, now);
        let Some(sharing) = directory.get_mut(line) else {
            directory.insert(line, Sharing::of(port.core), |line, cores| {
                cores.iter().any(|core| caches.hold(core, line))
            });
            return None;
        };
        let mut others = Cores::default();
        let may_hold = sharing.holders.without(port.core).iter();
        may_hold
            .filter(|&other| caches.hold(other, line))
            .for_each(|other| others.insert(other));
        if others.is_empty() {
            sharing.give_to(port.core);
            return None;
        }
        Some(others)
    }

    /// What a core, of those with `own` caches each, has of a line for another that comes for it at `time`.
    fn copy_of<T: Time>(&mut self, own: usize, core: usize, line: u64, time: u64) -> Held {
        let mut copy = Held::default();
        for level in &mut self.levels[core * own..(core + 1) * own] {
            let Some(held) = level.cache.find_mut(line) else {
                continue;
            };
            if held.is_dirty() {
                copy.written = Some(*held);
            }
            if !T::PASSES {
                continue;
            }
            let ready = learn(&mut self.memory, held, Urgency::Awaited);
            let there = if ready <= time {
                ready
            } else if held.source() < own {
                // It comes from a cache of the core's own, which has it.
                time
            } else {
                level.journeys.meet(held, time)
            };
            if there < ready && held.source() >= own {
                copy.brought_by = Some(held.source());
            }
            copy.ready = copy.ready.max(there);
        }
        copy
    }

    /// Transfers a line, or the right to write it, to a core that asks for it, and gives when that is done.
    fn settle<T: Time>(&mut self, line: u64, when: When) -> u64 {
        let When { time, now, .. } = when;
        let now = now.min(self.horizon);
        let Some(directory) = self.directory.as_mut().filter(|_| T::PASSES) else {
            return time;
        };
        let cycles = directory.transfer;
        let sharing = directory.get_mut(line);
        sharing.map_or(time, |sharing| sharing.transfer(time, cycles, now))
    }

    /// Serves an access to bytes of a line that the core has lost to a store which is later in time, though it came before here: the core has
    /// it still. Who took it keeps it: a store writes to what the core had alone, and asks nobody.
    pub(super) fn still_held<T: Time>(
        &mut self,
        port: &mut Port,
        (address, size): (u64, u64),
        when: When,
        purpose: Purpose,
    ) -> Option<Served> {
        let line = self.line_of(port, address);
        let directory = self.directory.as_mut().filter(|_| T::PASSES)?;
        let lost = directory.held_before(line, port.core, when.time)?;
        let stores = purpose == Purpose::Store;
        if stores && !lost.was_alone {
            return None;
        }
        let hit = when.time + self.levels[port.first].latency;
        if stores {
            directory.write(line, port.core, parts_of(port, (address, size)));
        }
        let mut held = lost.held;
        if learn(&mut self.memory, &mut held, urgency::<T>(purpose)) <= hit {
            port.counts[0].hits += 1;
            return Some(Served {
                complete: hit,
                level: 0,
            });
        }
        // It has not come yet.
        port.counts[0].merges += 1;
        let there = self.levels[lost.place].journeys.meet(&mut held, when.time);
        Some(Served {
            complete: hit.max(there),
            level: held.source(),
        })
    }

    /// The core is about to hold a line that others hold, too, of whom `owner` may have `written` it.
    fn share<T: Time>(
        &mut self,
        port: &mut Port,
        (mut holders, owner): (Cores, Option<usize>),
        written: Option<Line>,
        address: u64,
        when: When,
    ) {
        let line = self.line_of(port, address);
        let Some(directory) = &mut self.directory else {
            return;
        };
        // An exclusive level has nothing that cores have: it could not keep the line.
        let mut behind = port.path()[port.own..].iter();
        let keeps_nothing = behind
            .next()
            .is_some_and(|&place| self.levels[place].inclusion == Inclusion::Exclusive);
        let keeps =
            written.is_some() && (keeps_nothing || directory.protocol == CoherenceProtocol::Moesi);
        if let Some(sharing) = directory.get_mut(line) {
            holders.insert(port.core);
            sharing.own(holders, owner.filter(|_| keeps));
        }
        if let (false, Some(owner), Some(written)) = (keeps, owner, written) {
            self.write_down::<T>(port, owner, written, when);
        }
    }

    /// The line that a core has `written` goes to the level behind the cores' own, which has it when the reader does, and stays with it as a clean
    /// one.
    fn write_down<T: Time>(&mut self, port: &mut Port, owner: usize, written: Line, when: When) {
        let own = port.own;
        for level in &mut self.levels[owner * own..(owner + 1) * own] {
            if let Some(held) = level.cache.find_mut(written.number) {
                held.make_clean();
            }
        }
        self.levels[(owner + 1) * own - 1].taken.write_backs += 1;
        let shift = self.level(port, own - 1).cache.line_shift();
        self.hand_down::<T>(port, own, written, shift, when);
        if own == port.levels() || !T::PASSES {
            return;
        }
        let behind = self.level(port, own).cache.find_mut(written.number);
        if let Some(held) = behind.filter(|held| !is_pending(held.ready())) {
            held.set_ready(held.ready().max(when.time));
        }
    }

    /// Makes the core the only one that holds a line, of which it writes bytes that `served` has brought, and gives when the store is done. It may
    /// have `missed` the line.
    pub(super) fn claim<T: Time>(
        &mut self,
        port: &mut Port,
        (address, size): (u64, u64),
        when: When,
        (served, missed): (Served, bool),
    ) -> Served {
        let line = self.line_of(port, address);
        let mut upgraded = 0;
        if !self.has_alone(port, address) {
            port.coherence.upgrades += u64::from(!missed);
            upgraded = self.settle::<T>(line, when);
            self.take_from_others(port, line, when.time);
            // What exclusive levels were given by an owner that has evicted the line is old.
            for level in port.own..port.levels() {
                self.take_exclusive(port, level, address);
            }
        }
        if let Some(directory) = &mut self.directory {
            directory.write(line, port.core, parts_of(port, (address, size)));
        }
        if !T::PASSES || upgraded <= served.complete {
            return served;
        }
        Served {
            complete: upgraded,
            level: port.levels() + 1,
        }
    }

    /// Takes a line out of the caches of all cores but this one, which asks in cycle `at` and alone may hold it from then on, and says whether
    /// one had written it.
    pub(super) fn take_from_others(&mut self, port: &Port, line: u64, at: u64) -> bool {
        let Self {
            directory: Some(directory),
            levels,
            instructions,
            ..
        } = self
        else {
            return false;
        };
        let own = port.own;
        let shift = levels[port.first].cache.line_shift();
        let mut dirty = false;
        let alone = directory.get(line).and_then(Sharing::exclusive_to);
        for other in directory.give_to(line, port.core).iter() {
            let mut held = None;
            for (place, level) in levels.iter_mut().enumerate().skip(other * own).take(own) {
                let Some(removed) = level.cache.remove(line) else {
                    continue;
                };
                held.get_or_insert((removed, place));
                dirty |= removed.is_dirty();
                level.taken.unused += u64::from(removed.is_unused());
                level.taken.expected += u64::from(removed.is_expected());
            }
            if let Some(code) = instructions.get_mut(other) {
                code.invalidate(line << shift, 1 << shift);
            }
            if let Some((held, place)) = held {
                let lost = Lost {
                    core: other,
                    at,
                    by: port.core,
                    was_alone: alone == Some(other),
                    held,
                    place,
                    written: 0,
                };
                directory.lose(line, lost);
            }
        }
        dirty
    }

    /// Counts a load or a store of bytes whose line the first cache lacks, if it is because another core wrote to the line, which somebody
    /// still holds (Dubois et al., ISCA 1993: whether the bytes are among those written since).
    pub(super) fn count_sharing<T: Time>(
        &self,
        port: &mut Port,
        (address, size): (u64, u64),
        when: When,
    ) {
        let line = self.line_of(port, address);
        let Some(directory) = &self.directory else {
            return;
        };
        let Some(lost) = directory.lost(line, port.core) else {
            return;
        };
        let Some(sharing) = directory.get(line) else {
            return;
        };
        if T::PASSES && lost.is_behind(when.time) {
            return;
        }
        let caches = Caches::of(&self.levels, &self.instructions, port);
        let mut others = sharing.holders.without(port.core).iter();
        if !others.any(|other| caches.hold(other, line)) {
            return;
        }
        if lost.written & parts_of(port, (address, size)) != 0 {
            port.coherence.true_sharing += 1;
        } else {
            port.coherence.false_sharing += 1;
        }
    }
}

/// The parts of their line that bytes are, told by address and number.
fn parts_of(port: &Port, (address, size): (u64, u64)) -> u64 {
    parts(address & port.in_line, size, port.in_line + 1)
}
