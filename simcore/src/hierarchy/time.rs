//! Two ways for accesses to go by: in cycles, or in no time at all.

use super::When;
use crate::calendar::Claim;
use crate::memory::{Memory, Transfer, Urgency};
use crate::miss_end::MissEnd;
use crate::mshr::{Handler, Mshrs};

/// How time goes by for accesses. What they do to lines does not depend on it.
pub(crate) trait Time {
    /// Whether there is any.
    const PASSES: bool;

    /// Whether loads and stores wait until it is known when their lines come. Else that may stay pending: see [`Memory::read`].
    const WAITS: bool;

    /// A miss handler for the line at `address`, from the first cycle on in which one is free.
    fn acquire(
        mshrs: &mut Mshrs,
        line: (u64, Transfer),
        when: When,
        memory: &mut Memory,
    ) -> Handler;

    /// A miss handler for the line at `address` that is free when it is wanted, if there is one.
    fn find_free(
        mshrs: &mut Mshrs,
        address: u64,
        when: When,
        memory: &mut Memory,
    ) -> Option<Handler>;

    /// Holds a miss handler until its miss completes; see [`Mshrs::hold`].
    fn hold(mshrs: &mut Mshrs, handler: Handler, until: MissEnd, transfer: Option<Transfer>);

    /// Reads a line from memory and gives the cycle in which it is there; see [`Memory::read`].
    fn read(memory: &mut Memory, address: u64, claim: Claim, urgency: Urgency) -> u64;

    /// Writes a line to memory and gives the cycle in which it is on its way; see [`Memory::write`].
    fn write(memory: &mut Memory, address: u64, claim: Claim) -> u64;

    /// The cycle from which a cache has a line that comes in cycle `complete`.
    fn arrival(complete: u64) -> u64;

    /// The cycle from which on somebody may wait for a translation, which is not before `now`.
    fn awaited_from(now: u64) -> u64;
}

/// Accesses take the cycles that they take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InCycles<const WAITS: bool>;

/// Whoever loads or stores finds out how many.
pub(crate) type Cycles = InCycles<true>;

/// Whoever loads or stores goes on before that is known.
pub(crate) type OpenCycles = InCycles<false>;

impl<const WAITS: bool> Time for InCycles<WAITS> {
    const PASSES: bool = true;
    const WAITS: bool = WAITS;

    #[inline(always)]
    fn acquire(
        mshrs: &mut Mshrs,
        line: (u64, Transfer),
        when: When,
        memory: &mut Memory,
    ) -> Handler {
        mshrs.acquire(line, when.claim(when.now), memory)
    }

    #[inline]
    fn find_free(
        mshrs: &mut Mshrs,
        address: u64,
        when: When,
        memory: &mut Memory,
    ) -> Option<Handler> {
        mshrs.acquire_free(address, when.claim(when.now), memory)
    }

    #[inline(always)]
    fn hold(mshrs: &mut Mshrs, handler: Handler, until: MissEnd, transfer: Option<Transfer>) {
        mshrs.hold(handler, until, transfer);
    }

    #[inline(always)]
    fn read(memory: &mut Memory, address: u64, claim: Claim, urgency: Urgency) -> u64 {
        memory.read(address, claim, urgency)
    }

    #[inline(always)]
    fn write(memory: &mut Memory, address: u64, claim: Claim) -> u64 {
        memory.write(address, claim)
    }

    #[inline(always)]
    fn arrival(complete: u64) -> u64 {
        complete
    }

    #[inline(always)]
    fn awaited_from(now: u64) -> u64 {
        now
    }
}

/// Accesses move lines and take no time: functional warming. What is in flight stays as it is, and memory sees nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standstill;

impl Time for Standstill {
    const PASSES: bool = false;
    const WAITS: bool = true;

    fn acquire(_: &mut Mshrs, _: (u64, Transfer), when: When, _: &mut Memory) -> Handler {
        Handler::at_once(when.time)
    }

    fn find_free(_: &mut Mshrs, _: u64, when: When, _: &mut Memory) -> Option<Handler> {
        Some(Handler::at_once(when.time))
    }

    fn hold(_: &mut Mshrs, _: Handler, _: MissEnd, _: Option<Transfer>) {}

    fn read(_: &mut Memory, _: u64, _: Claim, _: Urgency) -> u64 {
        0
    }

    fn write(_: &mut Memory, _: u64, claim: Claim) -> u64 {
        claim.time
    }

    fn arrival(_: u64) -> u64 {
        0
    }

    /// Where time stands still, nobody waits.
    fn awaited_from(_: u64) -> u64 {
        u64::MAX
    }
}
