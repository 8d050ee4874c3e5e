//! How long a core may go on before others have theirs.

use super::{EventTimes, Machinery};
use crate::hierarchy::Hierarchy;
use traces::{Event, Kind};

/// A pipeline's time.
pub(crate) trait Clocked {
    /// Cycle in which the next instruction is dispatched at the earliest. Nothing that the core does later is earlier.
    fn now(&self) -> u64;

    /// Cycle in which `event`, the next one, is dispatched behind the plain instructions before it: without those and with room for it it is
    /// the pipeline's time.
    fn dispatches(&self, event: &Event) -> u64;

    /// Cycle in which `event`, the next one, asks the caches for something, as far as that is known before: others come before it until then.
    /// It is `now` by the pipeline's time.
    fn begins(&self, now: u64, machinery: &Machinery, event: &Event) -> u64;
}

/// Whether the next event may be run.
pub(crate) trait Turn {
    /// Whether `event` may be run by a core whose time is that of `pipeline`.
    fn includes(
        &self,
        pipeline: &impl Clocked,
        machinery: &mut Machinery,
        caches: &Hierarchy,
        event: &Event,
    ) -> bool;

    /// Whether nobody else has turns: who empties the caches then empties those of one core.
    #[inline(always)]
    fn is_alone(&self) -> bool {
        true
    }

    /// Whether loads may stay open: nobody asks meanwhile how far the core is.
    #[inline(always)]
    fn leaves_loads_open(&self) -> bool {
        false
    }

    /// Gets into the host's caches what `later` events of the core will need of the simulated ones.
    fn foresee(&self, machinery: &Machinery, caches: &Hierarchy, later: &[Event]);

    /// Hears when an instruction's event got on.
    #[inline(always)]
    fn saw(&self, _: impl FnOnce() -> EventTimes) {}
}

/// There are no others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endless;

impl Turn for Endless {
    #[inline(always)]
    fn includes(&self, _: &impl Clocked, _: &mut Machinery, _: &Hierarchy, _: &Event) -> bool {
        true
    }

    #[inline(always)]
    fn leaves_loads_open(&self) -> bool {
        true
    }

    /// The host's caches hold one core's state anyway.
    #[inline(always)]
    fn foresee(&self, _: &Machinery, _: &Hierarchy, _: &[Event]) {}
}

/// There are no others, and no load is open, nor will be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closed;

impl Turn for Closed {
    #[inline(always)]
    fn includes(&self, _: &impl Clocked, _: &mut Machinery, _: &Hierarchy, _: &Event) -> bool {
        true
    }

    #[inline(always)]
    fn foresee(&self, _: &Machinery, _: &Hierarchy, _: &[Event]) {}
}

/// Another core's turn is next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until {
    /// What the core does at this cycle or later comes after what that other core does next.
    pub(crate) cycle: u64,
    /// Whether the core's own caches are nobody else's, so that what it finds there comes before no event of another core, or after one.
    pub(crate) has_own_caches: bool,
    /// Whether it may run such events even then. Always, but in tests of that.
    pub(crate) may_run_ahead: bool,
    /// Whether no such thing is known.
    pub(crate) is_endless: bool,
    /// Whether there is any other core: the host's caches hold the state of one.
    pub(crate) has_others: bool,
}

impl Turn for Until {
    #[inline]
    fn includes(
        &self,
        pipeline: &impl Clocked,
        machinery: &mut Machinery,
        caches: &Hierarchy,
        event: &Event,
    ) -> bool {
        let now = pipeline.now();
        let is_in_time = now < self.cycle;
        // Who meets whom at a barrier, and who has a latch, is for others to say.
        let runs = event.kind != Kind::Barrier && !event.kind.is_of_latch();
        runs && (is_in_time
            && (self.is_endless || pipeline.begins(now, machinery, event) < self.cycle)
            || (is_in_time || self.may_run_ahead)
                && machinery.keeps_to_itself(caches, event, self.has_own_caches))
    }

    fn is_alone(&self) -> bool {
        false
    }

    #[inline(always)]
    fn leaves_loads_open(&self) -> bool {
        true
    }

    #[inline(always)]
    fn foresee(&self, machinery: &Machinery, caches: &Hierarchy, later: &[Event]) {
        if self.has_others {
            machinery.foresight.look(&machinery.port, caches, later);
        }
    }
}

/// Whether the caches may be emptied before an event. Not before a barrier at which others are met, and so not before one at which nobody
/// is. Latches are alike.
pub(super) fn may_be_disturbed(event: &Event) -> bool {
    event.kind != Kind::Barrier && !event.kind.is_of_latch()
}

/// A turn up to the first event that is dispatched in a cycle in which the caches are emptied, or later.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before<'t, T> {
    pub(super) turn: &'t T,
    pub(super) cycle: u64,
}

impl<T: Turn> Turn for Before<'_, T> {
    #[inline]
    fn includes(
        &self,
        pipeline: &impl Clocked,
        machinery: &mut Machinery,
        caches: &Hierarchy,
        event: &Event,
    ) -> bool {
        (pipeline.dispatches(event) < self.cycle || !may_be_disturbed(event))
            && self.turn.includes(pipeline, machinery, caches, event)
    }

    fn is_alone(&self) -> bool {
        self.turn.is_alone()
    }

    #[inline(always)]
    fn foresee(&self, machinery: &Machinery, caches: &Hierarchy, later: &[Event]) {
        self.turn.foresee(machinery, caches, later);
    }

    #[inline(always)]
    fn saw(&self, times: impl FnOnce() -> EventTimes) {
        self.turn.saw(times);
    }
}
