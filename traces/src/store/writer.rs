//! Writes a trace file, all of it or nothing.

use crate::atomic::{persist, temporary};
use crate::event::Event;
use crate::layout::Layout;
use crate::sink::{EventSink, SinkError};
use crate::store::encoder::Encoder;
use crate::store::error::StoreError;
use crate::store::info::{TraceInfo, TraceSummary};
use serde_json::{Map, Value};
use std::fmt;
use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// Records events into a trace file.
///
/// The events go to a temporary file in the same directory, which takes the final name when [`Writer::finish`] has
/// seen everything onto the disk. A writer that is dropped or killed before leaves nothing under the final name, and
/// leaves a trace that stood there as it was.
pub struct Writer {
    path: PathBuf,
    /// Nothing after a failure.
    recording: Option<Recording>,
}

/// A trace on its way to the temporary file, which goes when this goes.
struct Recording {
    encoder: Encoder<File>,
    temporary: TempPath,
}

impl Writer {
    /// Starts a trace that will be called `path`; a trace of that name is replaced at the end.
    ///
    /// # Errors
    /// The directory cannot be written, `path` is something else than a regular file, or the layout in `info`
    /// contradicts itself.
    pub fn create(path: impl AsRef<Path>, info: &TraceInfo) -> Result<Self, StoreError> {
        Self::start(path.as_ref(), info, Encoder::new)
    }

    /// Starts a trace whose segments, sites and phases are known when it ends: [`Writer::set_layout`] names them.
    ///
    /// # Errors
    /// As for [`Writer::create`].
    pub fn create_unnamed(path: impl AsRef<Path>, info: &TraceInfo) -> Result<Self, StoreError> {
        Self::start(path.as_ref(), info, Encoder::unnamed)
    }

    fn start(
        path: &Path,
        info: &TraceInfo,
        encoder: impl FnOnce(File, PathBuf, TraceInfo) -> Result<Encoder<File>, StoreError>,
    ) -> Result<Self, StoreError> {
        let path = path.to_path_buf();
        let file = temporary(&path).map_err(|error| StoreError::io(&path, error))?;
        let (file, temporary) = file.into_parts();
        let encoder = encoder(file, path.clone(), info.clone())?;
        let recording = Some(Recording { encoder, temporary });
        Ok(Self { path, recording })
    }

    /// Names segments, sites and phases of a trace that was created unnamed.
    pub fn set_layout(&mut self, layout: Layout) {
        if let Some(recording) = &mut self.recording {
            recording.encoder.info_mut().layout = layout;
        }
    }

    /// Says what the kernel computed, once that is known.
    pub fn set_outcome(&mut self, outcome: Map<String, Value>) {
        if let Some(recording) = &mut self.recording {
            recording.encoder.info_mut().outcome = outcome;
        }
    }

    /// Says what the events come from, once all of it is known.
    pub fn set_workload(&mut self, workload: Value) {
        if let Some(recording) = &mut self.recording {
            recording.encoder.info_mut().workload = workload;
        }
    }

    /// Takes the next events of a thread, of those that the trace's description tells of.
    ///
    /// # Errors
    /// As [`EventSink::consume`]; or an event depends on another that came before its thread's latest barrier.
    ///
    /// # Panics
    /// If there is no such thread.
    pub fn consume_of(&mut self, thread: usize, events: &[Event]) -> Result<(), SinkError> {
        let Some(recording) = &mut self.recording else {
            return Err(self.given_up().into());
        };
        recording.encoder.push(thread, events).map_err(|error| {
            // Removes the temporary file at once: the disk may be full.
            self.recording = None;
            error.into()
        })
    }

    /// Ends the trace: brings it onto the disk and gives it its name.
    ///
    /// # Errors
    /// A write failed, now or before, or the layout contradicts itself or lacks a name; then the trace does not take its
    /// name.
    pub fn finish(mut self) -> Result<TraceSummary, StoreError> {
        let recording = self.recording.take().ok_or_else(|| self.given_up())?;
        let (file, summary) = recording.encoder.finish()?;
        persist(file, recording.temporary, &self.path)
            .map_err(|error| StoreError::io(&self.path, error))?;
        Ok(summary)
    }

    fn given_up(&self) -> StoreError {
        StoreError::GivenUp {
            path: self.path.display().to_string(),
        }
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Writer");
        shown.field("path", &self.path).finish_non_exhaustive()
    }
}

impl EventSink for Writer {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        self.consume_of(0, events)
    }

    fn forget(&mut self) -> Result<(), SinkError> {
        let Some(Recording { encoder, temporary }) = self.recording.take() else {
            return Err(self.given_up().into());
        };
        let encoder = encoder.restart(empty)?;
        self.recording = Some(Recording { encoder, temporary });
        Ok(())
    }
}

fn empty(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()
}
