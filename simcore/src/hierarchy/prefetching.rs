//! Hardware prefetchers at work: what they learn from, and where their lines go.

use super::{Hierarchy, Level, LookUps, Port, Purpose, Served, Time, When};
use crate::prefetcher::{Requests, Trigger};
use crate::spec::Inclusion;

impl Hierarchy {
    /// Lets the prefetchers of all levels that an access reached learn from it, and fetches what they ask for.
    #[inline(never)]
    pub(super) fn train<T: Time>(
        &mut self,
        port: &mut Port,
        address: u64,
        site: u16,
        when: When,
        purpose: Purpose,
        look_ups: LookUps,
    ) {
        let reached = look_ups.reached | 1;
        let is_demand = purpose.is_use();
        for level in 0..port.levels() {
            let trains = reached >> level & 1 != 0 && (level > 0 || is_demand);
            if !trains || self.level(port, level).prefetchers.is_empty() {
                continue;
            }
            let shift = self.level(port, level).cache.line_shift();
            let page = address >> self.page_shift << self.page_shift;
            let trigger = Trigger {
                address,
                line: address >> shift,
                site,
                is_new: look_ups.found_new >> level & 1 != 0,
                page: page >> shift..=(page + ((1 << self.page_shift) - 1)) >> shift,
            };
            let mut requests = Requests::new();
            for prefetcher in &mut self.level(port, level).prefetchers {
                prefetcher.train(&trigger, &mut requests);
            }
            for &line in requests.lines() {
                self.prefetch_into::<T>(port, level, line, when);
            }
        }
    }

    /// Fetches a line into one level, unless it is there already, or where the level may not have it too.
    fn prefetch_into<T: Time>(&mut self, port: &mut Port, level: usize, line: u64, when: When) {
        let excluded = level > 0
            && self.level(port, level).inclusion == Inclusion::Exclusive
            && self.level(port, level - 1).cache.holds(line);
        let here = self.level(port, level);
        if excluded || here.cache.holds(line) {
            return;
        }
        let address = line << here.cache.line_shift();
        // The first level's misses need a miss handler; a prefetcher does not wait for one.
        let register = if level > 0 {
            None
        } else {
            let Some(register) = T::find_free(&mut port.mshrs, when.time, &self.memory) else {
                port.prefetcher_counts[level].dropped += 1;
                return;
            };
            Some(register)
        };
        port.prefetcher_counts[level].issued += 1;
        // What it finds on its way trains nobody.
        let look_ups = &mut LookUps::default();
        let served = self.bring::<T>(port, level, address, when, Purpose::Hardware, look_ups);
        if let Some(register) = register {
            T::hold(&mut port.mshrs, register, served.complete);
        }
    }

    /// Looks the line at `address` up in one level at cycle `time` on behalf of a prefetcher of a nearer level: no use of the line, and not counted.
    pub(super) fn find_for_prefetch(
        &mut self,
        port: &Port,
        level: usize,
        address: u64,
        time: u64,
    ) -> Option<Served> {
        let Level { cache, latency, .. } = self.level(port, level);
        let hit = time + *latency;
        let held = cache.touch(address >> cache.line_shift())?;
        Some(if held.ready() > hit {
            Served {
                complete: held.ready(),
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
