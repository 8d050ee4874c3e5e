//! Lines that several cores use: what one of them writes leaves the caches of the others.
//!
//! Where a machine's caches are coherent, a directory knows who may hold a line. A core that lacks one asks it before the levels
//! that all share; a core that writes one that others hold takes it from them first.

use super::fetching::learn;
use super::{Hierarchy, InstructionCache, Level, Port, Purpose, Served, Time, When};
use crate::directory::{Cores, Sharing, parts};
use crate::line::Line;
use crate::spec::CoherenceProtocol;

/// What a core and others did for or to each other, counted in lines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CoherenceCounts {
    /// Lines that came from another core.
    pub(crate) transfers: u64,
    /// Stores that found their line and had to take it from others.
    pub(crate) upgrades: u64,
    /// Loads and stores that missed a line because another core had written to it: that used what had been written, and that did not.
    pub(crate) true_sharing: u64,
    pub(crate) false_sharing: u64,
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

impl Caches<'_> {
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
    /// A core that wrote the line, or alone holds it, serves it. So does any that holds it, if no shared level does. A store takes it from all.
    pub(super) fn ask_others<T: Time>(
        &mut self,
        port: &mut Port,
        address: u64,
        when: When,
        purpose: Purpose,
    ) -> Option<Served> {
        let line = self.line_of(port, address);
        let others = self.find_others(port, line)?;
        let owner = self.directory.as_ref()?.get(line)?.owner;
        let owner = owner.filter(|&owner| others.contains(owner));
        let serves = owner.is_some() || !self.is_in_shared_level(port, line);
        let (ready, written) = owner.map_or((0, None), |owner| self.copy_of::<T>(owner, line));
        let mut complete = when.time;
        if serves || purpose == Purpose::Store {
            complete = self.settle::<T>(line, when.time.max(ready));
        }
        if purpose == Purpose::Store {
            self.take_from_others(port, line);
        } else {
            self.share::<T>(port, (others, owner), written, address, when);
        }
        if !serves {
            return None;
        }
        port.coherence.transfers += 1;
        Some(Served {
            complete,
            level: port.levels() + 1,
        })
    }

    /// The number of the line at `address`: lines of coherent caches have one size.
    fn line_of(&self, port: &Port, address: u64) -> u64 {
        address >> self.levels[port.first].cache.line_shift()
    }

    fn is_in_shared_level(&self, port: &Port, line: u64) -> bool {
        let mut shared = port.path()[port.own..].iter();
        shared.any(|&place| self.levels[place].cache.holds(line))
    }

    /// The other cores that hold a line which the core is about to have; nothing if it has the line alone from now on.
    fn find_others(&mut self, port: &Port, line: u64) -> Option<Cores> {
        let directory = self.directory.as_mut()?;
        let caches = Caches {
            levels: &self.levels,
            instructions: &self.instructions,
            own: port.own,
            shift: self.levels[port.first].cache.line_shift(),
        };
        let Some(sharing) = directory.get_mut(line) else {
            directory.insert(line, Sharing::of(port.core), |line, cores| {
                cores.iter().any(|core| caches.hold(core, line))
            });
            return None;
        };
        sharing.regain(port.core);
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

    /// When a core has a line in its own caches, and the line as it is there if it was written.
    fn copy_of<T: Time>(&mut self, core: usize, line: u64) -> (u64, Option<Line>) {
        let own = self.directory.as_ref().map_or(0, |directory| directory.own);
        let (mut ready, mut written) = (0, None);
        for level in &mut self.levels[core * own..(core + 1) * own] {
            let Some(held) = level.cache.find_mut(line) else {
                continue;
            };
            if T::PASSES {
                ready = ready.max(learn(&mut self.memory, held, Purpose::Load));
            }
            if held.is_dirty() {
                written = Some(*held);
            }
        }
        (ready, written)
    }

    /// Transfers a line, or the right to write it, from cycle `time` on, and gives when that is done. Transfers of one line follow each other.
    fn settle<T: Time>(&mut self, line: u64, time: u64) -> u64 {
        let Some(directory) = self.directory.as_mut().filter(|_| T::PASSES) else {
            return time;
        };
        let transfer = directory.transfer;
        let Some(sharing) = directory.get_mut(line) else {
            return time;
        };
        sharing.settled = sharing.settled.max(time) + transfer;
        sharing.settled
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
        let keeps = directory.protocol == CoherenceProtocol::Moesi && written.is_some();
        if let Some(sharing) = directory.get_mut(line) {
            holders.insert(port.core);
            sharing.holders = holders;
            sharing.owner = owner.filter(|_| keeps);
        }
        if let (false, Some(owner), Some(written)) = (keeps, owner, written) {
            self.write_down::<T>(port, owner, written, address, when);
        }
    }

    /// The line that a core has `written` goes to the level behind the cores' own, and stays with it as a clean one.
    fn write_down<T: Time>(
        &mut self,
        port: &mut Port,
        owner: usize,
        written: Line,
        address: u64,
        when: When,
    ) {
        let own = port.own;
        for level in &mut self.levels[owner * own..(owner + 1) * own] {
            if let Some(held) = level.cache.find_mut(written.number) {
                held.make_clean();
            }
        }
        port.counts[own - 1].write_backs += 1;
        self.hand_down::<T>(port, own, written, address, when);
    }

    /// Makes the core the only one that holds a line, of which it writes bytes that `served` has brought, and gives when the store is done.
    pub(super) fn claim<T: Time>(
        &mut self,
        port: &mut Port,
        (address, size): (u64, u64),
        when: When,
        served: Served,
    ) -> Served {
        let line = self.line_of(port, address);
        let sharing = self.directory.as_ref().and_then(|all| all.get(line));
        if sharing.is_some_and(|sharing| !sharing.is_exclusive(port.core)) {
            port.coherence.upgrades += 1;
            self.settle::<T>(line, when.time);
            self.take_from_others(port, line);
        }
        let sharing = self.directory.as_mut().and_then(|all| all.get_mut(line));
        let Some(sharing) = sharing else {
            return served;
        };
        sharing.write(parts(address & port.in_line, size, port.in_line + 1));
        if !T::PASSES || sharing.settled <= served.complete {
            return served;
        }
        Served {
            complete: sharing.settled,
            level: port.levels() + 1,
        }
    }

    /// Takes a line out of the caches of all cores but this one, which alone may hold it from then on, and says whether one had written it.
    pub(super) fn take_from_others(&mut self, port: &Port, line: u64) -> bool {
        let Self {
            directory: Some(directory),
            levels,
            instructions,
            ..
        } = self
        else {
            return false;
        };
        let own = directory.own;
        let shift = levels[port.first].cache.line_shift();
        let mut dirty = false;
        for other in directory.give_to(line, port.core).iter() {
            let mut holds = false;
            for level in &mut levels[other * own..(other + 1) * own] {
                let Some(removed) = level.cache.remove(line) else {
                    continue;
                };
                holds = true;
                dirty |= removed.is_dirty();
                level.taken.unused += u64::from(removed.is_unused());
                level.taken.expected += u64::from(removed.is_expected());
            }
            if let Some(code) = instructions.get_mut(other) {
                code.invalidate(line << shift, 1 << shift);
            }
            if holds {
                directory.lose(line, other);
            }
        }
        dirty
    }

    /// Counts a load or a store of bytes whose line the first cache lacks, if it is because another core wrote to the line, which somebody
    /// still holds (Dubois et al., ISCA 1993: whether the bytes are among those written since).
    pub(super) fn count_sharing(&self, port: &mut Port, (address, size): (u64, u64)) {
        let line = self.line_of(port, address);
        let Some(directory) = &self.directory else {
            return;
        };
        let Some(sharing) = directory.get(line) else {
            return;
        };
        let Some(written) = sharing.written_since_lost(port.core) else {
            return;
        };
        let caches = Caches {
            levels: &self.levels,
            instructions: &self.instructions,
            own: port.own,
            shift: self.levels[port.first].cache.line_shift(),
        };
        let mut others = sharing.holders.without(port.core).iter();
        if !others.any(|other| caches.hold(other, line)) {
            return;
        }
        if written & parts(address & port.in_line, size, port.in_line + 1) != 0 {
            port.coherence.true_sharing += 1;
        } else {
            port.coherence.false_sharing += 1;
        }
    }
}
