//! Stores that go on to the next level: write-through, and misses that do not allocate.

use super::port::Traffic;
use super::{Hierarchy, LookUps, Port, Purpose, Served, Time, When};
use crate::calendar::Order;
use crate::spec::WritePolicy;

/// What became of a store in one level.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    /// When it had the line that it lacked; 0 if it fetched none.
    fetched: u64,
    /// When it has the data, if it keeps them; nothing if the store has to go on.
    kept: Option<Served>,
}

impl Hierarchy {
    /// A store that found its line in the first cache and goes on to the levels behind it.
    #[inline(never)]
    pub(super) fn store_through<T: Time>(
        &mut self,
        port: &mut Port,
        line: u64,
        when: When,
        look_ups: &mut LookUps,
    ) -> Served {
        let first = &self.levels[port.first];
        let address = line << first.cache.line_shift();
        self.unsettled::<T>(port, line, when.time, Purpose::Store, look_ups);
        self.write_below::<T>(port, 0, address, when, look_ups)
    }

    /// Writes at `address` to the first level behind `level` that keeps the data, and says when that has them.
    pub(super) fn write_below<T: Time>(
        &mut self,
        port: &mut Port,
        level: usize,
        address: u64,
        when: When,
        look_ups: &mut LookUps,
    ) -> Served {
        let mut complete = 0;
        for level in level + 1..port.levels() {
            let written = self.write_into::<T>(port, level, address, when, look_ups);
            complete = complete.max(written.fetched);
            if let Some(mut served) = written.kept {
                served.complete = served.complete.max(complete);
                return served;
            }
        }
        let sent = self.write_to_memory::<T>(port, address, Traffic::WriteThrough, when);
        Served {
            complete: sent.max(complete),
            level: port.levels(),
        }
    }

    /// Writes the line at `address` to memory, counts that, and gives the cycle in which it is on its way.
    #[inline]
    pub(super) fn write_to_memory<T: Time>(
        &mut self,
        port: &mut Port,
        address: u64,
        traffic: Traffic,
        when: When,
    ) -> u64 {
        self.count_traffic(port, address, traffic);
        let mut claim = when.claim(self.horizon);
        // What leaves the caches for a line has no handler.
        if !matches!(traffic, Traffic::NonTemporal) && claim.order != Order::Kept {
            claim.order = Order::Yielding;
        }
        T::write(&mut self.memory, address, claim)
    }

    /// Writes at `address` into one level.
    fn write_into<T: Time>(
        &mut self,
        port: &mut Port,
        level: usize,
        address: u64,
        when: When,
        look_ups: &mut LookUps,
    ) -> Written {
        let here = self.level(port, level);
        let keeps = here.write_policy == WritePolicy::WriteBack;
        let line = address >> here.cache.line_shift();
        let allocates = here.write_allocate;
        let mut written = Written::default();
        let served = match self.find::<T>(port, level, address, when.time, Purpose::Store, look_ups)
        {
            Some(served) => served,
            None if !allocates => return written,
            None => {
                let served = self.bring::<T>(port, level, address, when, Purpose::Load, look_ups);
                written.fetched = served.complete;
                served
            }
        };
        if keeps {
            self.level(port, level).cache.make_dirty(line);
            written.kept = Some(served);
        }
        written
    }
}
