//! A structure with an address space of its own, moved to a place in a larger one.

use crate::tracer::{Dep, Token, Trace};
use traces::OpClass;

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
    fn work(&mut self, instructions: u32) {
        self.trace.work(instructions);
    }

    #[inline]
    fn load(
        &mut self,
        site: impl Into<u16>,
        address: u64,
        size: u16,
        words: u16,
        dep: Dep,
    ) -> Token {
        let site = self.sites + site.into();
        self.trace
            .load(site, self.bytes + address, size, words, dep)
    }

    #[inline]
    fn store(
        &mut self,
        site: impl Into<u16>,
        address: u64,
        size: u16,
        words: u16,
        dep: Dep,
    ) -> Token {
        let site = self.sites + site.into();
        self.trace
            .store(site, self.bytes + address, size, words, dep)
    }

    #[inline]
    fn prefetch(&mut self, site: impl Into<u16>, address: u64, dep: Dep) {
        let site = self.sites + site.into();
        self.trace.prefetch(site, self.bytes + address, dep);
    }

    #[inline]
    fn branch(&mut self, site: impl Into<u16>, taken: bool, dep: Dep) {
        self.trace.branch(self.sites + site.into(), taken, dep);
    }

    #[inline]
    fn op(&mut self, site: impl Into<u16>, class: OpClass, dep: Dep) -> Token {
        self.trace.op(self.sites + site.into(), class, dep)
    }

    fn call(&mut self, call: u16) {
        self.trace.call(call);
    }

    fn page_read(&mut self, page: u64) {
        self.trace.page_read(page);
    }

    fn page_write(&mut self, page: u64) {
        self.trace.page_write(page);
    }

    fn page_prefetch(&mut self, page: u64) {
        self.trace.page_prefetch(page);
    }

    fn mark(&mut self, phase: u16) {
        self.trace.mark(phase);
    }

    fn flush(&mut self) {
        self.trace.flush();
    }

    fn failed(&self) -> bool {
        self.trace.failed()
    }

    fn end(&mut self) {
        self.trace.end();
    }
}
