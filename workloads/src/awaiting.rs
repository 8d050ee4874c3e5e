//! What is done with something that has to be there first: an entry that is copied from where a slot says.

use crate::tracer::{Dep, Token, Trace};
use traces::Event;

/// Passes on what a kernel does; whatever waits for nothing waits for `dep`.
pub(crate) struct Awaiting<'t, T> {
    trace: &'t mut T,
    dep: Dep,
}

impl<'t, T> Awaiting<'t, T> {
    /// Has events wait for `dep` that would not wait.
    pub(crate) fn new(trace: &'t mut T, dep: Dep) -> Self {
        Self { trace, dep }
    }
}

impl<T: Trace> Trace for Awaiting<'_, T> {
    const NATIVE: bool = T::NATIVE;

    #[inline]
    fn emit(&mut self, event: Event, dep: Dep) -> Token {
        self.trace.emit(event, dep.or(self.dep))
    }

    #[inline]
    fn prefetch(&mut self, site: impl Into<u16>, address: u64, host: *const u8, dep: Dep) {
        self.trace.prefetch(site, address, host, dep.or(self.dep));
    }

    #[inline]
    fn prefetch_nta(&mut self, site: impl Into<u16>, address: u64, host: *const u8, dep: Dep) {
        let dep = dep.or(self.dep);
        self.trace.prefetch_nta(site, address, host, dep);
    }

    #[inline]
    fn work(&mut self, instructions: u32) {
        self.trace.work(instructions);
    }

    fn failed(&self) -> bool {
        self.trace.failed()
    }
}
