//! A structure with an address space of its own, moved to a place in a larger one.

use crate::tracer::{Dep, Token, Trace};
use traces::{Event, Kind};

/// Passes on what a kernel does, with addresses and sites moved up by a constant.
pub(crate) struct Relocated<'t, T> {
    trace: &'t mut T,
    bytes: u64,
    sites: u16,
}

impl<'t, T> Relocated<'t, T> {
    /// Moves addresses up by `bytes` and site numbers by `sites`.
    pub(crate) fn new(trace: &'t mut T, bytes: u64, sites: u16) -> Self {
        Self {
            trace,
            bytes,
            sites,
        }
    }
}

impl<T: Trace> Trace for Relocated<'_, T> {
    const NATIVE: bool = T::NATIVE;

    #[inline]
    fn emit(&mut self, mut event: Event, dep: Dep) -> Token {
        let is_at_address = event.kind.is_access() || event.kind.is_of_latch();
        if is_at_address || event.kind == Kind::PageArrival {
            event.address += self.bytes;
        }
        if event.kind.is_instruction() || event.kind.wants_latch() {
            event.site += self.sites;
        }
        self.trace.emit(event, dep)
    }

    #[inline]
    fn prefetch(&mut self, site: impl Into<u16>, address: u64, host: *const u8, dep: Dep) {
        let site = site.into() + self.sites;
        self.trace.prefetch(site, address + self.bytes, host, dep);
    }

    #[inline]
    fn prefetch_nta(&mut self, site: impl Into<u16>, address: u64, host: *const u8, dep: Dep) {
        let site = site.into() + self.sites;
        self.trace
            .prefetch_nta(site, address + self.bytes, host, dep);
    }

    #[inline]
    fn work(&mut self, instructions: u32) {
        self.trace.work(instructions);
    }

    fn failed(&self) -> bool {
        self.trace.failed()
    }

    fn end(&mut self) {
        self.trace.end();
    }

    fn wait_for_turn(&mut self) {
        self.trace.wait_for_turn();
    }
}
