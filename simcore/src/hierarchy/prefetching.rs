//! Hardware prefetchers at work: what they learn from, and where their lines go.

use super::{Hierarchy, Level, LookUps, Port, Purpose, Served, Time, When};
use crate::prefetcher::{Requests, Trigger};
use crate::spec::Inclusion;

impl Hierarchy {
    /// Lets the prefetchers of all levels that an access reached learn from it, and fetches what they ask for. It is told by address and site,
    /// and whether it is the rest of one that began in the line before.
    #[inline(never)]
    pub(super) fn train<T: Time>(
        &mut self,
        port: &mut Port,
        access: (u64, u16, bool),
        when: When,
        purpose: Purpose,
        mut look_ups: LookUps,
    ) {
        // Software prefetches do not teach the first level.
        look_ups.reached = look_ups.reached & !1 | u32::from(purpose.is_use());
        self.train_reached::<T>(port, access, when.kept(), look_ups);
    }

    /// The same of an access or a request of a prefetcher. It reaches the furthest level before what it sets off in a nearer one does.
    fn train_reached<T: Time>(
        &mut self,
        port: &mut Port,
        (address, site, is_rest): (u64, u16, bool),
        when: When,
        look_ups: LookUps,
    ) {
        for level in (0..port.levels()).rev() {
            let reached = look_ups.reached >> level & 1 != 0;
            if !reached || self.level(port, level).prefetchers.is_empty() {
                continue;
            }
            let shift = self.level(port, level).cache.line_shift();
            let page = address >> self.page_shift << self.page_shift;
            let trigger = Trigger {
                address,
                line: address >> shift,
                site,
                is_rest,
                is_new: look_ups.found_new >> level & 1 != 0,
                page: page >> shift..=(page + ((1 << self.page_shift) - 1)) >> shift,
            };
            let when = if level == 0 {
                when
            } else {
                look_ups.behind_first(when)
            };
            for number in 0..self.level(port, level).prefetchers.len() {
                let mut requests = Requests::new();
                self.level(port, level).prefetchers[number].train(&trigger, &mut requests);
                for &line in requests.lines() {
                    // It reaches further levels only, so that this comes to an end.
                    let look_ups = self.prefetch_into::<T>(port, level, line, when);
                    let access = (line << shift, site, false);
                    self.train_reached::<T>(port, access, when, look_ups);
                }
            }
        }
    }

    /// Whether a level's prefetcher must not fetch a line: it is there, or in a nearer cache that the level has nothing in common with, or the
    /// core is writing it past the caches. What a core has of a line that others share may be newer than what is behind them.
    fn has_no_use_for(&self, port: &Port, level: usize, line: u64) -> bool {
        let here = &self.levels[port.place(level)];
        let is_apart = here.inclusion == Inclusion::Exclusive || level >= port.asks_before;
        here.cache.holds(line)
            || (is_apart && (here.nearer.iter()).any(|&near| self.levels[near].cache.holds(line)))
            || self.is_combining(port, level, line)
    }

    /// Fetches a line into one level, unless it has no use for it. Gives what that looked up.
    fn prefetch_into<T: Time>(
        &mut self,
        port: &mut Port,
        level: usize,
        line: u64,
        when: When,
    ) -> LookUps {
        let mut look_ups = LookUps::default();
        if self.has_no_use_for(port, level, line) {
            return look_ups;
        }
        let address = line << self.level(port, level).cache.line_shift();
        // The first level's misses need a miss handler; a prefetcher does not wait for one.
        let handler = if level > 0 {
            None
        } else {
            let wanted = When {
                now: when.now.min(self.horizon),
                ..when
            };
            let Some(handler) = T::find_free(&mut port.mshrs, address, wanted, &mut self.memory)
            else {
                port.prefetcher_counts[level].dropped += 1;
                return look_ups;
            };
            Some(handler)
        };
        port.prefetcher_counts[level].issued += 1;
        let served = self.bring::<T>(port, level, address, when, Purpose::Hardware, &mut look_ups);
        if let Some(handler) = handler {
            T::hold(&mut port.mshrs, handler, served.end(), None);
        }
        look_ups
    }

    /// Looks the line at `address` up in one level at cycle `time` on behalf of a prefetcher of a nearer level: a use of what prefetchers of this level
    /// brought, which nobody waits for, and no access to be counted.
    pub(super) fn find_for_prefetch(
        &mut self,
        port: &mut Port,
        level: usize,
        address: u64,
        time: u64,
        look_ups: &mut LookUps,
    ) -> Option<Served> {
        look_ups.reached |= 1 << level;
        let Level {
            cache,
            journeys,
            latency,
            ..
        } = &mut self.levels[port.place(level)];
        let hit = time + *latency;
        let Some(held) = cache.touch(address >> cache.line_shift()) else {
            look_ups.found_new |= 1 << level;
            return None;
        };
        if held.make_used() {
            look_ups.found_new |= 1 << level;
            port.prefetcher_counts[level].useful += 1;
        }
        Some(if held.ready() > hit {
            Served {
                complete: journeys.meet(held, time),
                level: held.source(),
            }
        } else {
            Served {
                complete: hit,
                level,
            }
        })
    }
}
