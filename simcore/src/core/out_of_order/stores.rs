//! Stores: they ask for their lines when they have graduated, and wait for them in the store buffer.

use super::{OutOfOrder, Seen, Start};
use crate::core::machinery::Machinery;
use crate::core::timing::Timing;
use crate::core::units::Release;
use crate::hierarchy::{Hierarchy, When};
use std::num::NonZeroU64;
use traces::Event;

impl OutOfOrder {
    /// Stores, past the caches if it is `NON_TEMPORAL`.
    #[inline(always)]
    pub(super) fn store<const NON_TEMPORAL: bool>(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        event: &Event,
        start: Start,
    ) -> Seen {
        machinery.touch(event, start.before);
        let issue = self.ports(event.words, start.ready);
        let timing = machinery.translate_store(caches, event, issue, start.dispatched);
        self.arrive(machinery, timing, start);
        let place = machinery.ledger.place();
        self.wait_for_store_buffer(machinery, caches, start, 0, place);
        let graduated = self.slots.graduation(start.before);
        let yielded = machinery.yielded();
        let when = When::behind_earlier(graduated, start.dispatched);
        let served = if NON_TEMPORAL {
            machinery.write_past(caches, event, when)
        } else {
            machinery.write(caches, event, when)
        };
        let miss = NonZeroU64::new(machinery.yielded()).filter(|miss| miss.get() > yielded);
        let behind = machinery.handled_behind(served);
        self.store_buffer.put(served, behind, miss);
        for word in 1..u64::from(event.words) {
            self.wait_for_store_buffer(machinery, caches, start, word, place);
            self.store_buffer.put_word(served.level);
        }
        Seen {
            arrived: served.complete,
            timing: Timing {
                behind,
                level: served.level,
                ..timing
            },
            mispredicted: false,
        }
    }

    /// Leaves slots empty until the store buffer has room for a word of an event. They count as waiting for the line it waits for, and
    /// `place` pays.
    #[inline]
    pub(super) fn wait_for_store_buffer(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        start: Start,
        word: u64,
        place: u32,
    ) {
        let graduated = start.before + word;
        self.store_buffer
            .learn_oldest(|pending| caches.memory.wait(pending));
        if let Some(miss) = self.store_buffer.oldest_miss() {
            self.learn_oldest(machinery, caches, miss, (graduated, start.dispatched));
        }
        let free = self.store_buffer.free();
        self.wait_for_stores(machinery, graduated, free, place);
    }

    /// Finds out when the oldest store leaves the store buffer: instruction `graduated` waits for that.
    #[inline(never)]
    fn learn_oldest(
        &mut self,
        machinery: &mut Machinery,
        caches: &mut Hierarchy,
        miss: NonZeroU64,
        (graduated, now): (u64, u64),
    ) {
        let told = self.store_buffer.free().cycle;
        let delay = match machinery.delay_of(miss) {
            None if self.slots.graduates_before(graduated, told) => {
                machinery.settle(caches, miss, now)
            }
            delay => delay,
        };
        if let Some(delay) = delay {
            self.store_buffer.delay_oldest(delay);
        }
    }

    /// All stores have their times: whoever comes next does so when they are written.
    pub(crate) fn settle_stores(&mut self, machinery: &mut Machinery, caches: &mut Hierarchy) {
        machinery.settle_all(caches);
        self.store_buffer
            .learn(|pending| caches.memory.wait(pending));
        self.store_buffer.delay(|miss| machinery.delay_of(miss));
    }

    /// Leaves slots empty before instruction `graduated` until a cycle in which the store buffer gets rid of a store, which waits for its line.
    #[inline]
    pub(super) fn wait_for_stores(
        &mut self,
        machinery: &mut Machinery,
        graduated: u64,
        release: Release,
        place: u32,
    ) {
        if self.slots.graduates_before(graduated, release.cycle) {
            self.wait_for_store(machinery, graduated, release, place);
        }
    }

    #[inline(never)]
    fn wait_for_store(
        &mut self,
        machinery: &mut Machinery,
        graduated: u64,
        release: Release,
        place: u32,
    ) {
        let left = Timing::of_store(release);
        self.wait_at(machinery, place, left, graduated, (0, self.fetched));
    }

    /// Leaves slots empty until all stores are written, one behind the other. Each counts as the wait for the line that it waits for.
    pub(crate) fn wait_until_written(&mut self, machinery: &mut Machinery) {
        let releases: Vec<_> = self.store_buffer.releases().collect();
        let place = machinery.ledger.place();
        for store in releases {
            self.wait_for_stores(machinery, self.slots.instructions(), store, place);
        }
    }
}
