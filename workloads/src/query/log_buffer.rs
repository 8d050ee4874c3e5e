//! The buffer of the log, which all that changes records writes to.

use super::calls::Call;
use super::log_file::LogFile;
use super::sites::Site;
use crate::page::{Source, copy_words};
use crate::tracer::{Dep, Trace};

/// Bytes of the log record of one changed value: its place, the old and the new value, and what recovery keeps besides.
const LOG_RECORD_BYTES: u64 = 64;
/// Of these, what is no value.
const LOG_FRAME_BYTES: u64 = LOG_RECORD_BYTES - 2 * 8;

/// The log's buffer, written round and round.
#[derive(Clone, Copy, Debug)]
pub struct LogBuffer {
    address: u64,
    filled: u64,
    /// Where it goes to, if that is part of the run.
    file: Option<LogFile>,
}

impl LogBuffer {
    /// Bytes of the buffer.
    pub const BYTES: u64 = 64 * 1024;

    /// Pages in storage of a log that is written there.
    pub const PAGES: u64 = LogFile::PAGES;

    /// An empty buffer at an address.
    #[must_use]
    pub fn new(address: u64) -> Self {
        Self {
            address,
            filled: 0,
            file: None,
        }
    }

    /// The same of a log that is written to storage, to pages of so many bytes from number `first_page` on.
    #[must_use]
    pub fn stored(address: u64, first_page: u64, page_bytes: u64) -> Self {
        Self {
            file: Some(LogFile::new(first_page, page_bytes)),
            ..Self::new(address)
        }
    }

    /// Logs an inserted record of so many bytes, whose values are copied from where they are.
    pub fn append_record<T: Trace>(&mut self, trace: &mut T, bytes: usize, from: Source) {
        let copied = from.copy(trace);
        self.append_values(trace, bytes, copied);
    }

    /// Writes the page of storage that is not full. Returns how many pages were written.
    pub fn finish<T: Trace>(&mut self, trace: &mut T) -> u64 {
        self.file.as_mut().map_or(0, |file| file.finish(trace))
    }

    /// Logs one changed number, once both it and the one before are known.
    pub(super) fn append<T: Trace>(&mut self, trace: &mut T, known: Dep) {
        self.write(trace, LOG_RECORD_BYTES, known);
    }

    /// Logs values of so many bytes, the last of which `dep` brings.
    pub(super) fn append_values<T: Trace>(&mut self, trace: &mut T, bytes: usize, dep: Dep) {
        self.write(trace, LOG_FRAME_BYTES + bytes as u64, dep);
    }

    fn write<T: Trace>(&mut self, trace: &mut T, bytes: u64, dep: Dep) {
        trace.call(Call::LogRecord as u16);
        if self.filled + bytes > Self::BYTES {
            self.filled = 0;
        }
        let (place, words) = (self.address + self.filled, copy_words(bytes as usize));
        trace.store(Site::Log, place, bytes as u16, words, dep);
        self.filled += bytes;
        if let Some(file) = &mut self.file {
            file.take(trace, bytes);
        }
    }
}
