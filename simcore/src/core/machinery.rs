//! What both pipelines drive beside the caches: TLB and its walker, predictor, and the ledger that is charged.

mod translation;

use super::foresight::Foresight;
use super::timing::Timing;
use crate::hierarchy::{
    Cycles, Hierarchy, Look, OpenCycles, Port, Purpose, Served, Standstill, Time, When,
};
use crate::ledger::{Ledger, Progress};
use crate::miss_end::MissEnd;
use crate::mshr::Delay;
use crate::page_table::PageTable;
use crate::predictor::Predictor;
use crate::spec::{MachineSpec, PrefetchOnTlbMiss};
use crate::statistics::PrefetchStatistics;
use crate::tlb::Tlb;
use crate::walkers::Walkers;
use std::num::NonZeroU64;
use traces::{Event, Kind, Layout};

/// The bytes that an event accesses: address and number. A prefetch is of one line, whatever it names.
#[inline(always)]
fn bytes(event: &Event, purpose: Purpose) -> (u64, u64) {
    let size = if purpose.is_use() { event.size } else { 1 };
    (event.address, u64::from(size))
}

/// Everything of a core but the pipeline.
#[derive(Debug)]
pub(crate) struct Machinery {
    /// The way into the caches, which may be shared with other cores.
    pub(crate) port: Port,
    pub(crate) tlb: Tlb,
    pub(crate) predictor: Predictor,
    pub(crate) ledger: Ledger,
    /// Branches predicted wrongly, and rightly.
    pub(crate) branches: [u64; 2],
    pub(crate) prefetches: PrefetchStatistics,
    pub(super) foresight: Foresight,
    walk_latency: u64,
    /// What a walk takes at least.
    least_walk: u64,
    pub(crate) page_table: Option<PageTable>,
    walkers: Walkers,
    prefetch_on_miss: PrefetchOnTlbMiss,
    /// When the latest walk began.
    walk_began: u64,
    /// Pages that accesses have reached into beyond their first.
    further_pages: u64,
}

impl Machinery {
    pub(crate) fn new(spec: &MachineSpec, layout: &Layout, ledger: Ledger, port: Port) -> Self {
        Self {
            port,
            tlb: Tlb::new(&spec.dtlb, layout),
            predictor: Predictor::new(&spec.core.branch_predictor),
            ledger,
            branches: [0; 2],
            prefetches: PrefetchStatistics::default(),
            foresight: Foresight::default(),
            walk_latency: u64::from(spec.dtlb.walk_latency_cycles),
            least_walk: spec.least_walk_cycles(),
            page_table: spec
                .dtlb
                .page_table
                .as_ref()
                .map(|table| PageTable::new(spec, table)),
            walkers: Walkers::new(&spec.dtlb),
            prefetch_on_miss: spec.dtlb.prefetch_on_miss,
            walk_began: 0,
            further_pages: 0,
        }
    }

    /// What the core has done when it has run so many instructions.
    #[inline(always)]
    pub(super) fn progress(&self, instructions: u64) -> Progress {
        Progress {
            instructions,
            accesses: self.port.accesses,
        }
    }

    /// Has the data structure that `event` accesses pay from now on, when so many instructions have run.
    #[inline(always)]
    pub(super) fn touch(&mut self, event: &Event, instructions: u64) {
        self.ledger.touch(event, self.progress(instructions));
    }

    /// The cycle, at or after `ready`, in which a miss would find a handler free.
    #[inline(always)]
    pub(super) fn handler_free(&self, ready: u64) -> u64 {
        self.port.mshrs.free_at(ready)
    }

    /// Whether an access may need a miss handler.
    pub(super) fn may_miss(&self, caches: &Hierarchy, event: &Event) -> bool {
        caches.may_miss(&self.port, (event.address, u64::from(event.size)))
    }

    /// Until which cycle memory has to be simulated before a miss at `time` may have a handler; nothing, if that is known.
    pub(super) fn handler_unknown_until(&mut self, caches: &Hierarchy, time: u64) -> Option<u64> {
        self.port.mshrs.unknown_until(time, &caches.memory)
    }

    /// What `access` accesses is counted for `place`, and not for what pays now.
    pub(super) fn on_behalf<R>(&mut self, place: u32, access: impl FnOnce(&mut Self) -> R) -> R {
        let now = self.ledger.count_for(place, self.port.accesses);
        let result = access(self);
        self.ledger.count_for(now, self.port.accesses);
        result
    }

    /// How many misses of stores have let others go first so far.
    #[inline(always)]
    pub(super) fn yielded(&self) -> u64 {
        self.port.mshrs.yielded()
    }

    /// What came of one of them, by its number, if that is known.
    pub(super) fn delay_of(&self, miss: NonZeroU64) -> Option<Delay> {
        self.port.mshrs.delay_of(miss.get())
    }

    /// The same, when nobody may come any more who asks before it; no later request is before `now`.
    pub(super) fn settle(
        &mut self,
        caches: &mut Hierarchy,
        miss: NonZeroU64,
        now: u64,
    ) -> Option<Delay> {
        self.port
            .mshrs
            .settle_to(miss.get(), now, &mut caches.memory);
        self.delay_of(miss)
    }

    /// Nobody comes any more who asks before any of them.
    pub(super) fn settle_all(&mut self, caches: &mut Hierarchy) {
        self.port.mshrs.settle_all(&mut caches.memory);
    }

    /// What the access that was `served` just now waited for to have a miss handler.
    #[inline(always)]
    pub(super) fn handled_behind(&self, served: Served) -> MissEnd {
        // What ends in the first cache at once leaves that of an access before it.
        if served.level == 0 {
            MissEnd::default()
        } else {
            self.port.handled_behind
        }
    }

    /// Accesses what the event names.
    #[inline(always)]
    fn access<T: Time>(
        &mut self,
        caches: &mut Hierarchy,
        event: &Event,
        when: When,
        purpose: Purpose,
    ) -> Served {
        match caches.access_at_once(&mut self.port, bytes(event, purpose), when, purpose) {
            Ok(complete) => Served { complete, level: 0 },
            Err(look) => self.access_on::<T>(caches, event, when, purpose, look),
        }
    }

    /// Goes on with an access that does not end where it began, and counts who served a load or a store.
    #[inline(never)]
    fn access_on<T: Time>(
        &mut self,
        caches: &mut Hierarchy,
        event: &Event,
        when: When,
        purpose: Purpose,
        look: Look,
    ) -> Served {
        self.port.forget_handler();
        let (bytes, reason) = (bytes(event, purpose), (purpose, event.site));
        let before = self.port.coherence.false_sharing;
        let served = caches.access_on::<T>(&mut self.port, look, bytes, when, reason);
        if purpose.is_use() {
            self.count_use(served.level, before);
        }
        served
    }

    /// Counts a load or a store that `level` served, before which so many lines had been shared falsely.
    fn count_use(&mut self, level: usize, shared_falsely: u64) {
        self.ledger.count_served(level);
        let lines = self.port.coherence.false_sharing - shared_falsely;
        self.ledger.count_false_sharing(lines);
    }

    /// Loads bytes that lie in several pages: those of each are asked for when its translation is there, and the last to come are waited for. Walks
    /// take the one kind of time, and lines the other.
    #[inline(never)]
    fn load_pages<W: Time, T: Time>(
        &mut self,
        caches: &mut Hierarchy,
        event: &Event,
        issue: u64,
        now: u64,
        purpose: Purpose,
    ) -> Timing {
        self.port.forget_handler();
        let shared_falsely = self.port.coherence.false_sharing;
        let mut address = event.address;
        let end = address.saturating_add(u64::from(event.size));
        let mut latest: Option<(Served, u64)> = None;
        loop {
            let unblocked = self.after_walk(issue);
            let translated = self.translate::<W>(caches, address, unblocked, now);
            let next = self.tlb.next_page(address, end);
            let bytes = (address, next.unwrap_or(end) - address);
            let (when, reason) = (When::ahead(translated, now), (purpose, event.site));
            let port = &mut self.port;
            let served = if address == event.address {
                match caches.access_at_once(port, bytes, when, purpose) {
                    Ok(complete) => Served { complete, level: 0 },
                    Err(look) => caches.access_on::<T>(port, look, bytes, when, reason),
                }
            } else {
                let bytes = (address, bytes.1, address - event.address);
                caches.access_further::<T>(port, bytes, when, reason)
            };
            latest = Some(match latest {
                None => (served, translated),
                Some((before, first)) => {
                    let is_later = before.lateness::<T>() < served.lateness::<T>();
                    let translated = if is_later { translated } else { first };
                    (caches.both::<T>(before, served), translated)
                }
            });
            let Some(next) = next else {
                break;
            };
            address = next;
            self.further_pages += 1;
        }
        let (served, translated) = latest.expect("an access has a page");
        self.count_use(served.level, shared_falsely);
        Timing {
            issue,
            translated,
            behind: self.port.handled_behind,
            complete: served.complete,
            level: served.level,
        }
    }

    /// Loads at cycle `issue`: to read, or to write at the same time ([`Purpose::Store`]). `now` is the earliest time that any later access
    /// may have.
    #[inline(always)]
    pub(crate) fn load(
        &mut self,
        caches: &mut Hierarchy,
        event: &Event,
        issue: u64,
        now: u64,
        purpose: Purpose,
    ) -> Timing {
        if !self
            .tlb
            .is_in_one_page(event.address, u64::from(event.size))
        {
            return self.load_pages::<Cycles, Cycles>(caches, event, issue, now, purpose);
        }
        self.access_in_page::<Cycles, Cycles>(caches, event, issue, now, purpose)
    }

    /// The same of what may come in a cycle that is not known yet: that is pending then.
    pub(crate) fn load_open(
        &mut self,
        caches: &mut Hierarchy,
        event: &Event,
        issue: u64,
        now: u64,
        purpose: Purpose,
    ) -> Timing {
        if !self.may_stay_open(caches, purpose) {
            return self.load(caches, event, issue, now, purpose);
        }
        let size = u64::from(event.size);
        if self.tlb.is_in_one_page(event.address, size) {
            self.access_in_page::<Cycles, OpenCycles>(caches, event, issue, now, purpose)
        } else {
            self.load_pages::<Cycles, OpenCycles>(caches, event, issue, now, purpose)
        }
    }

    /// Whether an access may end in a cycle that is not known yet. Stores that are written through, or past the first cache, are waited for.
    fn may_stay_open(&self, caches: &Hierarchy, purpose: Purpose) -> bool {
        purpose == Purpose::Load || caches.stores_to_first(&self.port)
    }

    /// Loads or prefetches bytes that lie in one page: walks take the one kind of time, and lines the other.
    #[inline(always)]
    fn access_in_page<W: Time, T: Time>(
        &mut self,
        caches: &mut Hierarchy,
        event: &Event,
        issue: u64,
        now: u64,
        purpose: Purpose,
    ) -> Timing {
        let unblocked = self.after_walk(issue);
        let translated = self.translate::<W>(caches, event.address, unblocked, now);
        let when = When::ahead(translated, now);
        let served = self.access::<T>(caches, event, when, purpose);
        Timing {
            issue,
            translated,
            behind: self.handled_behind(served),
            complete: served.complete,
            level: served.level,
        }
    }

    /// Translates a store at cycle `issue`; its data are written when it has graduated.
    #[inline(always)]
    pub(crate) fn translate_store(
        &mut self,
        caches: &mut Hierarchy,
        event: &Event,
        issue: u64,
        now: u64,
    ) -> Timing {
        let unblocked = self.after_walk(issue);
        let bytes = bytes(event, Purpose::Store);
        let translated = self.translate_all::<Cycles>(caches, bytes, unblocked, now);
        Timing {
            issue,
            translated,
            complete: translated + 1,
            ..Timing::default()
        }
    }

    /// Writes a store that has been translated.
    #[inline(always)]
    pub(crate) fn write(&mut self, caches: &mut Hierarchy, event: &Event, when: When) -> Served {
        self.access::<Cycles>(caches, event, when, Purpose::Store)
    }

    /// The same, where its line may come in a cycle that is not known yet: that is pending then.
    pub(crate) fn write_open(
        &mut self,
        caches: &mut Hierarchy,
        event: &Event,
        when: When,
    ) -> Served {
        if self.may_stay_open(caches, Purpose::Store) {
            self.access::<OpenCycles>(caches, event, when, Purpose::Store)
        } else {
            self.write(caches, event, when)
        }
    }

    /// Writes a non-temporal store that has been translated.
    pub(crate) fn write_past(
        &mut self,
        caches: &mut Hierarchy,
        event: &Event,
        when: When,
    ) -> Served {
        let bytes = bytes(event, Purpose::Store);
        caches.write_past::<Cycles>(&mut self.port, bytes, when)
    }

    /// Writes a non-temporal store in no time at cycle `time`.
    pub(crate) fn pass_by(&mut self, caches: &mut Hierarchy, event: &Event, time: u64) {
        let bytes = bytes(event, Purpose::Store);
        self.translate_all::<Standstill>(caches, bytes, time, time);
        caches.write_past::<Standstill>(&mut self.port, bytes, When::at_once(time));
    }

    /// Loads or stores in no time at cycle `time`.
    pub(crate) fn pass(
        &mut self,
        caches: &mut Hierarchy,
        event: &Event,
        purpose: Purpose,
        time: u64,
    ) {
        let (address, size) = bytes(event, purpose);
        if event.kind != Kind::Store && !self.tlb.is_in_one_page(address, size) {
            self.load_pages::<Standstill, Standstill>(caches, event, time, time, purpose);
            return;
        }
        self.translate_all::<Standstill>(caches, (address, size), time, time);
        self.access::<Standstill>(caches, event, When::at_once(time), purpose);
    }

    /// Prefetches at cycle `issue`, and gives when the line is there; at once, if the prefetch is dropped. Nothing waits for a prefetch.
    #[inline]
    pub(crate) fn prefetch<T: Time>(
        &mut self,
        caches: &mut Hierarchy,
        event: &Event,
        issue: u64,
        now: u64,
    ) -> Timing {
        self.prefetches.issued += 1;
        self.ledger.count_prefetch();
        if self.prefetch_on_miss == PrefetchOnTlbMiss::Drop && !self.tlb.holds(event.address) {
            self.prefetches.dropped += 1;
            self.ledger.count_dropped_prefetch();
            return Timing {
                issue,
                complete: issue,
                ..Timing::default()
            };
        }
        let purpose = if event.kind == Kind::PrefetchNta {
            Purpose::PrefetchNta
        } else {
            Purpose::Prefetch
        };
        self.access_in_page::<T, T>(caches, event, issue, now, purpose)
    }

    /// Fetches code at cycle `time` and gives the cycle in which it is there; nothing without an instruction cache.
    pub(crate) fn fetch<T: Time>(
        &mut self,
        caches: &mut Hierarchy,
        event: &Event,
        time: u64,
    ) -> Option<u64> {
        caches.instruction_cache(&self.port)?;
        let size = u64::from(event.size);
        let served = caches.fetch::<T>(&mut self.port, event.address, size, When::at_once(time));
        Some(served.map_or(time, |served| served.complete))
    }

    /// Fetches the line of code at `address` at cycle `time` and gives the cycle in which it is there.
    pub(crate) fn fetch_line<T: Time>(
        &mut self,
        caches: &mut Hierarchy,
        address: u64,
        time: u64,
    ) -> u64 {
        let served = caches.fetch::<T>(&mut self.port, address, 1, When::at_once(time));
        served.map_or(time, |served| served.complete)
    }

    /// Whether the branch was predicted right.
    #[inline]
    pub(crate) fn predict(&mut self, event: &Event) -> bool {
        let right = self.predictor.predict(event.site, event.address != 0);
        self.branches[usize::from(right)] += 1;
        right
    }

    /// Whether no other core can notice the event, nor any of its consequences: it accesses nothing, or all that it needs is in the core's
    /// TLB, or found by a walk that reads no cache, and in the core's own caches, which have to be nobody else's.
    #[inline(always)]
    pub(super) fn keeps_to_itself(
        &mut self,
        caches: &Hierarchy,
        event: &Event,
        has_own_caches: bool,
    ) -> bool {
        match event.kind {
            Kind::Branch | Kind::Op | Kind::Mark => true,
            Kind::Load | Kind::Store | Kind::Exchange | Kind::Prefetch | Kind::PrefetchNta => {
                has_own_caches
                    && caches.hits_quietly(&self.port, event.address, u64::from(event.size))
                    && (self.page_table.is_none() || self.tlb_holds(event))
            }
            _ => false,
        }
    }

    /// The core has run so many events.
    #[inline]
    pub(super) fn learn_foresight(&mut self, events: u64) {
        self.foresight.learn(events, &self.port);
    }

    /// Empties caches and TLB and forgets what is in flight.
    pub(crate) fn flush(&mut self, caches: &mut Hierarchy) {
        caches.clear(&mut self.port);
        self.tlb.clear();
        if let Some(table) = &mut self.page_table {
            table.clear();
        }
        self.walkers.clear();
    }
}
