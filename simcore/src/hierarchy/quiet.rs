//! Accesses that no other core notices, and that notice no other core: a core may make them ahead of the others.

use super::{Hierarchy, Port};
use crate::memory::is_pending;
use crate::spec::{CacheSpec, Inclusion, MachineSpec, MemorySpec, WritePolicy};

/// How many levels of a machine, from the first on, serve accesses that no other core may notice.
///
/// None, if prefetchers or a first level that writes through go further than the level that serves. More than the first only in
/// front of a memory of fixed times, as others are asked when a miss handler is free.
pub(super) fn quiet_levels(spec: &MachineSpec) -> usize {
    let first = &spec.caches[0];
    let mut caches = spec.caches.iter();
    if first.write_policy == WritePolicy::WriteThrough
        || caches.any(|cache| !cache.prefetchers.is_empty())
    {
        return 0;
    }
    if !first.write_allocate || !matches!(spec.memory.first(), MemorySpec::Fixed { .. }) {
        return 1;
    }
    let serves = |pair: &[CacheSpec]| {
        let [nearer, cache] = pair else { return false };
        // A line that moves nearer displaces others in all levels on its way.
        !cache.shared
            && cache.inclusion != Inclusion::Exclusive
            && cache.write_policy == WritePolicy::WriteBack
            && nearer.inclusion == Inclusion::NonInclusive
    };
    let further = spec.caches.windows(2).take_while(|pair| serves(pair));
    1 + further.count()
}

impl Hierarchy {
    /// Whether an access of the core would find all that it needs in the core's own caches, and go no further.
    #[inline(always)]
    pub(crate) fn hits_quietly(&self, port: &Port, address: u64, size: u64) -> bool {
        let first = &self.levels[port.first].cache;
        let displaced = address.wrapping_add(port.displacement);
        let is_latest = || {
            let held = first.at_once(displaced >> first.line_shift());
            held.is_some_and(|held| !is_pending(held.ready()))
        };
        // By far the most are uses of the line that its set used last.
        port.quiet_levels > 0
            && ((displaced & port.in_line) + size < port.further && is_latest()
                || self.searches_quietly(port, displaced, size))
    }

    /// The same as [`Hierarchy::hits_quietly`] of an access to `address` among the machine's, of a core that has quiet accesses.
    #[inline(never)]
    fn searches_quietly(&self, port: &Port, address: u64, size: u64) -> bool {
        let first = &self.levels[port.first].cache;
        let last = address.saturating_add(size.max(1) - 1) >> first.line_shift();
        let mut lines = address >> first.line_shift()..=last;
        let holds = |line: u64| {
            let held = first.find(line);
            held.is_some_and(|held| !is_pending(held.ready()))
        };
        if *lines.start() == last {
            holds(last) || self.moves_quietly(port, last << first.line_shift())
        } else {
            // What one line displaces may be another.
            lines.all(holds)
        }
    }

    /// Whether a level of the core's own, behind the first, holds the line at `address`, which the first lacks, and whether each level
    /// takes what the one before it gives up for that without having to make room.
    fn moves_quietly(&self, port: &Port, address: u64) -> bool {
        let cache = |level: usize| &self.levels[port.place(level)].cache;
        let holds = |level: usize, address: u64| {
            let cache = cache(level);
            cache.holds(address >> cache.line_shift())
        };
        let mut behind = 1..port.quiet_levels;
        let Some(serves) = behind.find(|&level| holds(level, address)) else {
            return false;
        };
        // By level, for those that the line moves into.
        let displaced = |level: usize| {
            let cache = cache(level);
            let victim = cache.displaced_by(address >> cache.line_shift())?;
            Some((victim, victim.number.wrapping_shl(cache.line_shift())))
        };
        (0..serves).all(|level| {
            let Some((victim, victim_address)) = displaced(level) else {
                return false;
            };
            let next = level + 1;
            let stays = || {
                let gives_up = |(_, own): (_, u64)| {
                    let shift = cache(next).line_shift();
                    own >> shift == victim_address >> shift
                };
                next == serves || displaced(next).is_some_and(|own| !gives_up(own))
            };
            !victim.is_dirty() || holds(next, victim_address) && stays()
        })
    }
}
