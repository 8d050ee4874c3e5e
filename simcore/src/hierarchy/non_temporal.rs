//! Non-temporal stores: they write past the caches, through the core's write-combining buffers.

use super::port::Traffic;
use super::{Cycles, Hierarchy, Port, Served, Time, When};
use crate::calendar::Claim;
use crate::memory::Transfer;
use crate::miss_end::MissEnd;
use crate::spec::Inclusion;
use crate::write_combining::{beside, by_line};

impl Hierarchy {
    /// Writes bytes, told by address and number, and says from when on buffers have them. A store that begins a line takes it out of the
    /// caches on the core's way to memory.
    ///
    /// A line that leaves its buffer takes a miss handler for as long as a fetched one would, as the line fill buffers of Intel's cores are
    /// both; a store waits until there is one.
    #[inline(never)]
    pub(crate) fn write_past<T: Time>(
        &mut self,
        port: &mut Port,
        (address, size): (u64, u64),
        when: When,
    ) -> Served {
        port.non_temporal_stores += 1;
        port.forget_handler();
        let address = address.wrapping_add(port.displacement);
        let shift = self.levels[port.first].cache.line_shift();
        let mut handled = MissEnd::default();
        for (line, bytes) in by_line(address, size, shift) {
            let combined = port.combining.write(line, bytes);
            if combined.begins {
                self.write_out_line::<T>(port, line << shift, when);
            } else {
                self.write_out_if_fetched::<T>(port, line << shift, when);
            }
            let leaves = combined.displaced.into_iter();
            for line in leaves.chain(combined.is_full.then_some(line)) {
                handled = handled.max(self.send::<T>(port, line << shift, when));
            }
        }
        port.handled_behind = handled;
        Served {
            complete: handled.cycle().max(when.time),
            level: port.levels(),
        }
    }

    /// Sends what the core's write-combining buffers have to memory at cycle `time`, at the end of a run. Nobody waits for that: others may
    /// be further, so that what is known of the bus is not of that time.
    pub(super) fn send_all(&mut self, port: &mut Port, time: u64) {
        let shift = self.levels[port.first].cache.line_shift();
        while let Some(line) = port.combining.take_oldest() {
            self.count_traffic(port, line << shift, Traffic::NonTemporal);
            Cycles::write(&mut self.memory, line << shift, Claim::ahead(time, 0));
        }
    }

    /// Sends what buffers have of a line of the last cache that somebody is about to fetch or to write a part of.
    #[inline(always)]
    pub(super) fn send_if_begun<T: Time>(&mut self, port: &mut Port, line: u64, when: When) {
        if !port.combining.is_empty() {
            self.send_begun::<T>(port, line, when);
        }
    }

    #[inline(never)]
    fn send_begun<T: Time>(&mut self, port: &mut Port, line: u64, when: When) {
        let shift = self.levels[port.first].cache.line_shift();
        let last = port.place(port.levels() - 1);
        let longer = self.levels[last].cache.line_shift() - shift;
        while let Some(begun) = port.combining.take(beside(line, longer)) {
            self.send::<T>(port, begun << shift, when);
        }
    }

    /// Whether buffers have some of a line of a level, by number.
    pub(super) fn is_combining(&self, port: &Port, level: usize, line: u64) -> bool {
        let shift = self.levels[port.first].cache.line_shift();
        let longer = self.levels[port.place(level)].cache.line_shift() - shift;
        port.combining.have(beside(line << longer, longer))
    }

    /// Sends the line at `address` to memory and gives the line that it waited for to leave its buffer.
    fn send<T: Time>(&mut self, port: &mut Port, address: u64, when: When) -> MissEnd {
        self.write_out_if_fetched::<T>(port, address, when);
        let handler = T::acquire(
            &mut port.mshrs,
            (address, Transfer::Write),
            when,
            &mut self.memory,
        );
        let (begun, behind) = (when.handled_by(&handler), handler.behind);
        let sent = self.write_to_memory::<T>(port, address, Traffic::NonTemporal, begun);
        let there = MissEnd::new(sent + self.memory.latency_of(address), port.levels());
        T::hold(&mut port.mshrs, handler, there, Some(Transfer::Write));
        behind
    }

    /// Takes the line of the last cache at `address` out of all caches on the core's way to memory, where it goes if it was dirty. What an
    /// inclusive one holds leaves the caches before it, whoever's they are. If caches are coherent, it leaves all, and first those of other
    /// cores, which lose it to a store. Lines on their way are dropped, as in [`Hierarchy::overwrite`].
    fn write_out_line<T: Time>(&mut self, port: &mut Port, address: u64, when: When) {
        let last = port.levels() - 1;
        let longest = self.level(port, last).cache.line_shift();
        let (address, bytes) = (address >> longest << longest, 1 << longest);
        let mut dirty =
            port.is_coherent && self.take_from_others(port, address >> longest, when.time);
        for level in 0..=last {
            let here = self.level(port, level);
            let shift = here.cache.line_shift();
            let is_inclusive = here.inclusion == Inclusion::Inclusive;
            for line in address >> shift..=(address + (bytes - 1)) >> shift {
                let Some(removed) = self.level(port, level).cache.remove(line) else {
                    continue;
                };
                dirty |= removed.is_dirty();
                port.prefetcher_counts[level].unused += u64::from(removed.is_unused());
                port.unused_prefetches += u64::from(removed.is_expected());
            }
            dirty |= is_inclusive && self.invalidate_nearer(port, level, address, bytes);
        }
        if dirty {
            self.write_to_memory::<T>(port, address, Traffic::WriteBack, when);
        }
    }

    /// If caches are coherent, does the same with a line that was begun before, if another core has fetched it since: that core may have it no
    /// more, but the levels that all share do.
    fn write_out_if_fetched<T: Time>(&mut self, port: &mut Port, address: u64, when: When) {
        if port.is_coherent && self.others_may_hold(port, address) {
            self.write_out_line::<T>(port, address, when);
        }
    }
}
