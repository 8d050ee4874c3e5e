//! How long a core may go on before others have theirs.

use super::{EventTimes, Machinery};
use crate::hierarchy::Hierarchy;
use traces::{Event, Kind};

/// Whether the next event may be run.
pub(crate) trait Turn {
    /// Whether `event` may be run by a core whose time `now` tells.
    fn includes(
        &self,
        now: impl FnOnce() -> u64,
        machinery: &mut Machinery,
        caches: &Hierarchy,
        event: &Event,
    ) -> bool;

    /// Whether the core runs `event` itself.
    #[inline(always)]
    fn runs(&self, _event: &Event) -> bool {
        true
    }

    /// Whether the turn of a core whose time is `now` lasts, for what others notice.
    fn lasts(&self, now: u64) -> bool;

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
    fn includes(
        &self,
        _: impl FnOnce() -> u64,
        _: &mut Machinery,
        _: &Hierarchy,
        _: &Event,
    ) -> bool {
        true
    }

    fn lasts(&self, _: u64) -> bool {
        true
    }

    /// The host's caches hold one core's state anyway.
    #[inline(always)]
    fn foresee(&self, _: &Machinery, _: &Hierarchy, _: &[Event]) {}
}

/// Another core's turn is next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until {
    /// What the core does at this cycle or later comes after what that other core does next.
    pub(crate) cycle: u64,
    /// Whether it may do so nevertheless where no other core notices.
    pub(crate) may_run_ahead: bool,
    /// Whether there is any other core: the host's caches hold the state of one.
    pub(crate) has_others: bool,
}

impl Turn for Until {
    #[inline]
    fn includes(
        &self,
        now: impl FnOnce() -> u64,
        machinery: &mut Machinery,
        caches: &Hierarchy,
        event: &Event,
    ) -> bool {
        self.runs(event)
            && (now() < self.cycle
                || self.may_run_ahead && machinery.keeps_to_itself(caches, event))
    }

    /// Who meets whom at a barrier is for others to say.
    #[inline(always)]
    fn runs(&self, event: &Event) -> bool {
        event.kind != Kind::Barrier
    }

    fn lasts(&self, now: u64) -> bool {
        now < self.cycle
    }

    #[inline(always)]
    fn foresee(&self, machinery: &Machinery, caches: &Hierarchy, later: &[Event]) {
        if self.has_others {
            machinery.foresight.look(&machinery.port, caches, later);
        }
    }
}

/// A turn up to a cycle in which something happens to the core.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before<'t, T> {
    pub(super) turn: &'t T,
    pub(super) cycle: u64,
}

impl<T: Turn> Turn for Before<'_, T> {
    #[inline]
    fn includes(
        &self,
        now: impl FnOnce() -> u64,
        machinery: &mut Machinery,
        caches: &Hierarchy,
        event: &Event,
    ) -> bool {
        let now = now();
        now < self.cycle && self.turn.includes(|| now, machinery, caches, event)
    }

    #[inline(always)]
    fn runs(&self, event: &Event) -> bool {
        self.turn.runs(event)
    }

    fn lasts(&self, now: u64) -> bool {
        now < self.cycle && self.turn.lasts(now)
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
