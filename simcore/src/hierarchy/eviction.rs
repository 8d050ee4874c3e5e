//! What happens to lines that leave a level.

use super::port::Traffic;
use super::{Cycles, Hierarchy, Port, Time, When};
use crate::calendar::Claim;
use crate::line::Line;
use crate::replacement::Position;
use crate::spec::{Inclusion, WritePolicy};

impl Hierarchy {
    /// Puts a line into a level that lacks it, and the line that it displaces where that belongs.
    #[inline]
    pub(super) fn put<T: Time>(
        &mut self,
        port: &mut Port,
        level: usize,
        line: Line,
        position: Position,
        when: When,
    ) {
        let here = self.level(port, level);
        let Some(victim) = here.cache.fill(line, position) else {
            return;
        };
        let matters = victim.is_dirty() || here.evicts_clean;
        port.unused_prefetches += u64::from(victim.is_expected());
        if matters {
            self.evict::<T>(port, level, victim, when);
        }
    }

    fn evict<T: Time>(&mut self, port: &mut Port, level: usize, mut victim: Line, when: When) {
        let here = self.level(port, level);
        let shift = here.cache.line_shift();
        let (address, bytes) = (victim.number << shift, 1 << shift);
        let inclusive = here.inclusion == Inclusion::Inclusive;
        port.prefetcher_counts[level].unused += u64::from(victim.make_used());
        if inclusive && self.invalidate_nearer(port, level, address, bytes) {
            victim.make_dirty();
        }
        let next = level + 1;
        let takes_clean = !victim.streams()
            && next < port.levels()
            && self.level(port, next).inclusion == Inclusion::Exclusive;
        if victim.is_dirty() {
            port.counts[level].write_backs += 1;
        }
        if victim.is_dirty() || takes_clean {
            self.hand_down::<T>(port, next, victim, shift, when);
        }
    }

    /// Gives a line of 2^`shift` bytes that left a level before to level `next`, or to memory. A write-through level keeps nothing dirty
    /// and gives that on. So does a level of longer lines that lacks what the line is a part of: it would have to fetch the rest.
    pub(super) fn hand_down<T: Time>(
        &mut self,
        port: &mut Port,
        next: usize,
        victim: Line,
        shift: u32,
        when: When,
    ) {
        let address = victim.number << shift;
        if next == port.levels() {
            self.write_to_memory::<T>(port, address, Traffic::WriteBack, when);
            return;
        }
        let level = self.level(port, next);
        let line = address >> level.cache.line_shift();
        let is_part = shift < level.cache.line_shift();
        let mut goes_on = victim.is_dirty() && level.write_policy == WritePolicy::WriteThrough;
        let stays_dirty = victim.is_dirty() && !goes_on;
        if let Some(held) = level.cache.touch(line) {
            if stays_dirty {
                held.make_dirty();
            }
        } else if is_part {
            goes_on = true;
        } else {
            // A line may leave before its data have come: then it is whoever brings them that serves it.
            let comes = victim.ready() > when.time;
            let ready = if victim.is_dirty() {
                victim.ready().max(when.time)
            } else {
                victim.ready()
            };
            let source = if comes { victim.source() } else { next };
            let mut line = Line::new(line, ready, source);
            // An exclusive level behind may hold what this level once had and only a nearer one kept.
            if self.take_exclusive(port, next + 1, address) || stays_dirty {
                line.make_dirty();
            }
            self.put::<T>(port, next, line, Position::Newest, when);
        }
        if goes_on {
            self.hand_down::<T>(port, next + 1, victim, shift, when);
        }
    }

    /// Takes the lines of an inclusive level's victim out of all caches before it, whoever's they are, and says whether one
    /// was dirty.
    pub(super) fn invalidate_nearer(
        &mut self,
        port: &mut Port,
        level: usize,
        address: u64,
        bytes: u64,
    ) -> bool {
        let mut dirty = false;
        let here = port.place(level);
        for place in 0..self.levels[here].nearer.len() {
            let near = self.levels[here].nearer[place];
            let nearer = &mut self.levels[near];
            let own = port.path()[..level].iter().position(|&own| own == near);
            let shift = nearer.cache.line_shift();
            for line in address >> shift..=(address + (bytes - 1)) >> shift {
                let Some(removed) = nearer.cache.remove(line) else {
                    continue;
                };
                let (lines, unused, expected) = match own {
                    Some(own) => (
                        &mut port.counts[own].back_invalidations,
                        &mut port.prefetcher_counts[own].unused,
                        &mut port.unused_prefetches,
                    ),
                    None => {
                        let taken = &mut nearer.taken;
                        (&mut taken.lines, &mut taken.unused, &mut taken.expected)
                    }
                };
                *lines += 1;
                *unused += u64::from(removed.is_unused());
                *expected += u64::from(removed.is_expected());
                dirty |= removed.is_dirty();
            }
        }
        for &code in &self.levels[here].nearer_code {
            self.instructions[code].invalidate(address, bytes);
        }
        dirty
    }

    /// Empties the data caches that are the core's own at cycle `time`. Dirty lines go to memory.
    pub(crate) fn write_out_own(&mut self, port: &mut Port, time: u64) {
        if let Some(directory) = &mut self.directory {
            directory.forget(port.core);
        }
        for level in 0..port.own {
            self.write_out_level(port, level, time);
        }
    }

    /// The same of those that it shares with others. What is dirty in these may be so in others' own caches, too: they come last.
    pub(crate) fn write_out_shared(&mut self, port: &mut Port, time: u64) {
        for level in port.own..port.levels() {
            self.write_out_level(port, level, time);
        }
    }

    fn write_out_level(&mut self, port: &mut Port, level: usize, time: u64) {
        let cache = &mut self.level(port, level).cache;
        let shift = cache.line_shift();
        let lines: Vec<Line> = cache.held().collect();
        cache.clear();
        for line in lines {
            port.prefetcher_counts[level].unused += u64::from(line.is_unused());
            port.unused_prefetches += u64::from(line.is_expected());
            if line.is_dirty() {
                port.counts[level].write_backs += 1;
                self.write_out(port, level + 1, line.number << shift, time);
            }
        }
    }

    /// Gives a dirty line to the first level from `next` on that holds it and writes back, or to memory.
    fn write_out(&mut self, port: &mut Port, next: usize, address: u64, time: u64) {
        for level in next..port.levels() {
            let here = self.level(port, level);
            let line = address >> here.cache.line_shift();
            // What writes through keeps nothing dirty.
            if here.write_policy == WritePolicy::WriteBack && here.cache.holds(line) {
                return here.cache.make_dirty(line);
            }
        }
        self.count_traffic(port, address, Traffic::WriteBack);
        let claim = Claim::ahead(time, time.min(self.horizon));
        Cycles::write(&mut self.memory, address, claim);
    }

    /// Takes a line that nearer levels get, or have, out of an exclusive level and says whether it was dirty.
    #[inline]
    pub(super) fn take_exclusive(&mut self, port: &mut Port, level: usize, address: u64) -> bool {
        if level == port.levels() {
            return false;
        }
        let served = self.level(port, level);
        if served.inclusion != Inclusion::Exclusive {
            return false;
        }
        let line = address >> served.cache.line_shift();
        let Some(removed) = served.cache.remove(line) else {
            return false;
        };
        port.prefetcher_counts[level].unused += u64::from(removed.is_unused());
        removed.is_dirty()
    }
}
