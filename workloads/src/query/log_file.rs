//! The log in storage.

use crate::tracer::Trace;

/// Pages in a row that the log is written to round and round, each when it is full.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogFile {
    first_page: u64,
    page_bytes: u64,
    /// Bytes that wait for their page to be full.
    waiting: u64,
    written: u64,
}

impl LogFile {
    /// Pages there are: more than are written together, so that a batch has no page twice.
    pub(super) const PAGES: u64 = 8192;

    pub(super) fn new(first_page: u64, page_bytes: u64) -> Self {
        Self {
            first_page,
            page_bytes,
            waiting: 0,
            written: 0,
        }
    }

    /// Takes so many bytes more, and writes the pages that are full.
    pub(super) fn take<T: Trace>(&mut self, trace: &mut T, bytes: u64) {
        self.waiting += bytes;
        while self.waiting >= self.page_bytes {
            self.waiting -= self.page_bytes;
            self.write(trace);
        }
    }

    /// Writes what waits. Returns how many pages were written in all.
    pub(super) fn finish<T: Trace>(&mut self, trace: &mut T) -> u64 {
        if self.waiting > 0 {
            self.waiting = 0;
            self.write(trace);
        }
        self.written
    }

    fn write<T: Trace>(&mut self, trace: &mut T) {
        trace.page_write(self.first_page + self.written % Self::PAGES);
        self.written += 1;
    }
}
