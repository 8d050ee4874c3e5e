//! The records of an elastic trace behind a header that suits their number.
//!
//! `TraceCPU` reads records by the window and needs two whole windows to start, so a short trace has a short window.

use super::Failure;
use super::gem5_packet::OBJECT;
use super::output::Output;
use crate::gem5::{InstDepRecord, InstDepRecordHeader, MessageWriter, TICKS_PER_SECOND};
use std::io;

/// Records that `TraceCPU` reads at a time: several times the largest reorder buffer.
const WINDOW: usize = 1024;

/// The records and, before them, the header with the length of the window.
pub(super) struct Records {
    writer: MessageWriter<Output>,
    /// Records held back until two whole windows are known to exist.
    held: Vec<InstDepRecord>,
    started: bool,
    /// Records so far, those held back among them.
    pub(super) written: u64,
}

impl Records {
    pub(super) fn new(output: Output) -> io::Result<Self> {
        Ok(Self {
            writer: MessageWriter::new(output)?,
            held: Vec::new(),
            started: false,
            written: 0,
        })
    }

    pub(super) fn write(&mut self, record: InstDepRecord) -> io::Result<()> {
        self.written += 1;
        if self.started {
            return self.writer.write(&record);
        }
        self.held.push(record);
        if self.held.len() == 2 * WINDOW {
            self.start(WINDOW)?;
        }
        Ok(())
    }

    fn start(&mut self, window: usize) -> io::Result<()> {
        self.started = true;
        self.writer.write(&InstDepRecordHeader {
            obj_id: OBJECT.to_owned(),
            ver: None,
            tick_freq: TICKS_PER_SECOND,
            // At most WINDOW.
            window_size: window as u32,
        })?;
        for record in self.held.drain(..) {
            self.writer.write(&record)?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Output, Failure> {
        if !self.started {
            let window = self.held.len() / 2;
            if window == 0 {
                return Err(Failure::Unsupported(
                    "the trace is too short: TraceCPU needs at least two instructions".to_owned(),
                ));
            }
            self.start(window)?;
        }
        Ok(self.writer.into_inner())
    }
}
