//! Translations of addresses: TLB, and walks of the page table.

use super::{Machinery, bytes};
use crate::arrival::Arrival;
use crate::hierarchy::{Hierarchy, Purpose, Time};
use traces::{Event, Kind};

impl Machinery {
    /// The cycle, at or after `ready`, in which no walk keeps a memory operation from issuing.
    #[inline(always)]
    pub(crate) fn after_walk(&self, ready: u64) -> u64 {
        self.walkers.after(ready)
    }

    /// Translations asked for so far: one for each page of a load or a store, and one for each prefetch that was not dropped.
    pub(crate) fn translations(&self) -> u64 {
        self.port.accesses + self.port.non_temporal_stores + self.further_pages
    }

    /// Page-table walks so far.
    pub(crate) fn walks(&self) -> u64 {
        self.tlb.walks
    }

    /// When the latest of them began.
    pub(crate) fn walk_began(&self) -> u64 {
        self.walk_began
    }

    /// Translates `address` at cycle `time` and gives the cycle in which the translation is there.
    #[inline(always)]
    pub(super) fn translate<T: Time>(
        &mut self,
        caches: &mut Hierarchy,
        address: u64,
        time: u64,
        now: u64,
    ) -> u64 {
        match self.tlb.translate_hinted(address) {
            Some(latency) => time + latency,
            None => self.search_translation::<T>(caches, address, time, now),
        }
    }

    /// Translates all pages that bytes lie in, the first at cycle `time`, and gives the cycle in which the last translation is there.
    #[inline(always)]
    pub(super) fn translate_all<T: Time>(
        &mut self,
        caches: &mut Hierarchy,
        (address, size): (u64, u64),
        time: u64,
        now: u64,
    ) -> u64 {
        let translated = self.translate::<T>(caches, address, time, now);
        if self.tlb.is_in_one_page(address, size) {
            return translated;
        }
        self.translate_further::<T>(caches, (address, size), time, now)
            .max(translated)
    }

    /// The same of the pages after the first, each as soon as walks for others let it.
    #[inline(never)]
    fn translate_further<T: Time>(
        &mut self,
        caches: &mut Hierarchy,
        (mut address, size): (u64, u64),
        time: u64,
        now: u64,
    ) -> u64 {
        let end = address.saturating_add(size);
        let mut latest = time;
        while let Some(next) = self.tlb.next_page(address, end) {
            address = next;
            self.further_pages += 1;
            let unblocked = self.after_walk(time);
            latest = latest.max(self.translate::<T>(caches, address, unblocked, now));
        }
        latest
    }

    #[inline(never)]
    fn search_translation<T: Time>(
        &mut self,
        caches: &mut Hierarchy,
        address: u64,
        time: u64,
        now: u64,
    ) -> u64 {
        let awaited_from = T::awaited_from(now);
        if let Some(there) = self.tlb.translate(address, time, awaited_from) {
            return there;
        }
        let end = self.walk::<T>(caches, address, time, now);
        self.tlb
            .fill(address, Arrival { start: time, end }, awaited_from);
        end
    }

    /// Walks the page table for an access at cycle `time`, as soon as a walker has time for what a walk takes at least, and gives the end.
    fn walk<T: Time>(&mut self, caches: &mut Hierarchy, address: u64, time: u64, now: u64) -> u64 {
        self.ledger.count_walk();
        let walk = self.walkers.begin(time, self.least_walk);
        self.walk_began = walk.start;
        let mut end = walk.start + self.walk_latency;
        if let Some(table) = &mut self.page_table {
            let page_shift = self.tlb.page_shift(address);
            end = table.walk::<T>((caches, &mut self.port), address, page_shift, end, now);
        }
        if !T::PASSES {
            return time;
        }
        self.walkers.end(walk, end, now);
        end
    }

    /// Whether the TLB holds all pages that a load, a store or a prefetch needs.
    pub(in crate::core) fn tlb_holds(&mut self, event: &Event) -> bool {
        let purpose = match event.kind {
            Kind::Prefetch | Kind::PrefetchNta => Purpose::Prefetch,
            _ => Purpose::Load,
        };
        let (mut address, size) = bytes(event, purpose);
        let end = address.saturating_add(size);
        loop {
            if !self.tlb.holds(address) {
                return false;
            }
            match self.tlb.next_page(address, end) {
                Some(next) => address = next,
                None => return true,
            }
        }
    }
}
