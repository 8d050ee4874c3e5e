//! How long a core may go on before others have theirs.

use super::Machinery;
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

    /// Gets into the host's caches what `later` events of the core will need of the simulated ones.
    fn foresee(&self, machinery: &Machinery, caches: &Hierarchy, later: &[Event]);
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
        // Who meets whom at a barrier is for others to say.
        event.kind != Kind::Barrier
            && (now() < self.cycle
                || self.may_run_ahead && machinery.keeps_to_itself(caches, event))
    }

    #[inline(always)]
    fn foresee(&self, machinery: &Machinery, caches: &Hierarchy, later: &[Event]) {
        if self.has_others {
            machinery.foresight.look(&machinery.port, caches, later);
        }
    }
}
