//! Misses: where a line is found behind a level that lacks it, and which levels it fills on its way.

use super::port::Traffic;
use super::{Hierarchy, Level, LookUps, Port, Purpose, Served, Time, When};
use crate::line::Line;
use crate::memory::{Memory, Transfer, Urgency, is_pending};
use crate::miss_end::MissEnd;
use crate::replacement::Position;
use crate::spec::Inclusion;
use std::ops::Range;

impl Hierarchy {
    /// Looks the line at `address` up in one level at cycle `time`, for a use, and counts that.
    pub(super) fn find<T: Time>(
        &mut self,
        port: &mut Port,
        level: usize,
        address: u64,
        time: u64,
        purpose: Purpose,
        look_ups: &mut LookUps,
    ) -> Option<Served> {
        look_ups.reached |= 1 << level;
        let Level {
            cache,
            journeys,
            latency,
            ..
        } = &mut self.levels[port.place(level)];
        let (line, hit) = (address >> cache.line_shift(), time + *latency);
        let counts = &mut port.counts[level];
        let Some(held) = cache.touch(line) else {
            counts.misses += 1;
            look_ups.found_new |= 1 << level;
            return None;
        };
        let memory = &mut self.memory;
        let ready = learn(memory, held, urgency::<T>(purpose));
        if T::PASSES && is_pending(ready) {
            journeys.ask_before(held, time, || {
                port.mshrs.has_free(time, memory) && memory.ask_before(ready, time)
            });
        }
        let merges = ready > hit;
        if held.make_used() {
            look_ups.found_new |= 1 << level;
            let prefetchers = &mut port.prefetcher_counts[level];
            prefetchers.useful += 1;
            prefetchers.late += u64::from(merges);
        }
        if purpose.is_use() && held.make_awaited() {
            port.late_prefetches += u64::from(merges);
        }
        if merges {
            counts.merges += 1;
            return Some(Served {
                complete: journeys.meet(held, time),
                level: held.source(),
            });
        }
        counts.hits += 1;
        Some(Served {
            complete: hit,
            level,
        })
    }

    /// Fetches a line that the first cache lacks.
    #[inline(never)]
    pub(super) fn miss<T: Time>(
        &mut self,
        port: &mut Port,
        line: u64,
        when: When,
        purpose: Purpose,
        look_ups: &mut LookUps,
    ) -> Served {
        let first = &self.levels[port.first];
        let address = line << first.cache.line_shift();
        port.counts[0].misses += 1;
        look_ups.found_new |= 1;
        let goes_around = purpose == Purpose::Store && !first.write_allocate;
        self.send_if_begun::<T>(port, line, when);
        if goes_around {
            return self.write_below::<T>(port, 0, address, when, look_ups);
        }
        let (mut served, behind) = self.bring_handled::<T>(port, address, when, purpose, look_ups);
        if behind.cycle() > when.time {
            port.handled_behind = behind;
            look_ups.sent = behind.cycle();
        }
        if purpose == Purpose::Store && port.writes_through {
            let written =
                self.write_below::<T>(port, 0, address, when.at(served.complete), look_ups);
            // The line came first, from where it took longer if that is further.
            served = Served {
                level: served.level.max(written.level),
                ..written
            };
        }
        served
    }

    /// Brings a line that the first cache lacks into it when there is a miss handler for it, and gives the line that it waited for to have one.
    #[inline(always)]
    fn bring_handled<T: Time>(
        &mut self,
        port: &mut Port,
        address: u64,
        when: When,
        purpose: Purpose,
        look_ups: &mut LookUps,
    ) -> (Served, MissEnd) {
        let handler = T::acquire(
            &mut port.mshrs,
            (address, Transfer::Read),
            when,
            &mut self.memory,
        );
        let behind = handler.behind;
        look_ups.read_memory = false;
        let begun = when.handled_by(&handler);
        let served = self.bring::<T>(port, 0, address, begun, purpose, look_ups);
        let transfer = look_ups.read_memory.then_some(Transfer::Read);
        T::hold(&mut port.mshrs, handler, served.end(), transfer);
        (served, behind)
    }

    /// Brings a line that `nearest` lacks into it, and into the levels behind it that miss it, from where it is.
    pub(super) fn bring<T: Time>(
        &mut self,
        port: &mut Port,
        nearest: usize,
        address: u64,
        when: When,
        purpose: Purpose,
        look_ups: &mut LookUps,
    ) -> Served {
        let (served, missed) =
            self.look_behind::<T>(port, nearest, address, when, purpose, look_ups);
        self.fill::<T>(port, nearest..missed, address, served, purpose, when);
        served
    }

    /// Fills the levels that miss a line, on its way from the level behind them.
    pub(super) fn fill<T: Time>(
        &mut self,
        port: &mut Port,
        missing: Range<usize>,
        address: u64,
        served: Served,
        purpose: Purpose,
        when: When,
    ) {
        let nearest = missing.start;
        let is_given = served.level > port.levels();
        let given = if is_given { port.given } else { 0 };
        let ready = T::arrival(served.complete);
        let streams = purpose == Purpose::PrefetchNta;
        let position = if streams {
            Position::Oldest
        } else {
            Position::Newest
        };
        let mut dirty = self.take_exclusive(port, missing.end, address);
        let now = when.now.min(self.horizon);
        for level in missing.rev() {
            let here = &mut self.levels[port.place(level)];
            let mut line = Line::new(address >> here.cache.line_shift(), ready, served.level);
            if streams {
                line.make_streaming();
            }
            if level == nearest {
                if purpose == Purpose::Hardware {
                    line.make_unused();
                }
                if level == 0 && purpose == Purpose::Store && !port.writes_through {
                    line.make_dirty();
                }
                if level == 0 && matches!(purpose, Purpose::Prefetch | Purpose::PrefetchNta) {
                    line.make_expected();
                }
            } else if here.inclusion == Inclusion::Exclusive
                // Streaming prefetches bypass the caches behind the first, so that they displace nothing there.
                || (streams && here.inclusion == Inclusion::NonInclusive)
            {
                continue;
            }
            if T::PASSES {
                here.journeys.begin(&mut line, (when.asked, given), now);
            }
            // What an exclusive level gave up is dirty in the furthest level that takes it.
            if std::mem::take(&mut dirty) {
                line.make_dirty();
            }
            self.put::<T>(port, level, line, position, when);
        }
    }

    /// Looks a line up behind `nearest` and gives who serves it and the first level that need not be filled.
    pub(super) fn look_behind<T: Time>(
        &mut self,
        port: &mut Port,
        nearest: usize,
        address: u64,
        when: When,
        purpose: Purpose,
        look_ups: &mut LookUps,
    ) -> (Served, usize) {
        let levels = port.levels();
        for missed in nearest + 1..levels {
            if missed == port.asks_before
                && let Some(served) = self.ask_others::<T>(port, address, when, purpose)
            {
                return (served, missed);
            }
            let found = if purpose == Purpose::Hardware {
                self.find_for_prefetch(port, missed, address, when.time, look_ups)
            } else {
                self.find::<T>(port, missed, address, when.time, purpose, look_ups)
            };
            if let Some(served) = found {
                return (served, missed);
            }
        }
        if levels == port.asks_before
            && let Some(served) = self.ask_others::<T>(port, address, when, purpose)
        {
            return (served, levels);
        }
        self.count_traffic(port, address, Traffic::Fill);
        look_ups.read_memory = true;
        let claim = when.claim(self.horizon);
        let served = Served {
            complete: T::read(&mut self.memory, address, claim, urgency::<T>(purpose)),
            level: levels,
        };
        (served, levels)
    }

    /// Whether an access may take a miss handler: the core's first cache lacks a line of it, or other cores have to be asked.
    pub(crate) fn may_miss(&self, port: &Port, (address, size): (u64, u64)) -> bool {
        let first = &self.levels[port.first].cache;
        let start = address.wrapping_add(port.displacement);
        let end = start.saturating_add(size.max(1) - 1);
        let mut lines = start >> first.line_shift()..=end >> first.line_shift();
        let holds_all = lines.all(|line| first.holds(line));
        !holds_all || port.is_coherent && !self.hits_quietly(port, address, size)
    }

    /// Reads at `address` for a page-table walk, `first` being the level looked up first, and gives the cycle in which
    /// the data are there.
    pub(crate) fn read_at<T: Time>(
        &mut self,
        port: &mut Port,
        first: usize,
        address: u64,
        when: When,
    ) -> u64 {
        let address = address.wrapping_add(port.displacement);
        // Walks do not train prefetchers.
        let look_ups = &mut LookUps::default();
        let served = match self.find::<T>(port, first, address, when.time, Purpose::Load, look_ups)
        {
            Some(served) => served,
            None if first == 0 => {
                self.bring_handled::<T>(port, address, when, Purpose::Load, look_ups)
                    .0
            }
            None => self.bring::<T>(port, first, address, when, Purpose::Load, look_ups),
        };
        served.complete
    }
}

/// Whether an access waits until it is known when its line comes.
pub(super) fn urgency<T: Time>(purpose: Purpose) -> Urgency {
    match purpose {
        Purpose::Load | Purpose::Store if !T::WAITS => Urgency::Deferred,
        Purpose::Load | Purpose::Store => Urgency::Awaited,
        Purpose::Prefetch | Purpose::PrefetchNta | Purpose::Hardware => Urgency::Deferred,
    }
}

/// Finds out when a line that may be on its way is there, if that is awaited.
pub(super) fn learn(memory: &mut Memory, held: &mut Line, urgency: Urgency) -> u64 {
    if !is_pending(held.ready()) {
        return held.ready();
    }
    let ready = match urgency {
        Urgency::Awaited => memory.wait(held.ready()),
        Urgency::Deferred => memory.known(held.ready()),
    };
    held.set_ready(ready);
    ready
}
