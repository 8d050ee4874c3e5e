//! Writes a trace file, all of it or nothing.

use crate::event::Event;
use crate::sink::{EventSink, SinkError};
use crate::store::encoder::Encoder;
use crate::store::error::StoreError;
use crate::store::info::{TraceInfo, TraceSummary};
use serde_json::{Map, Value};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile, TempPath};

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
        let path = path.as_ref().to_path_buf();
        let file = temporary(&path).map_err(|error| StoreError::io(&path, error))?;
        let (file, temporary) = file.into_parts();
        let encoder = Encoder::new(file, path.clone(), info.clone())?;
        let recording = Some(Recording { encoder, temporary });
        Ok(Self { path, recording })
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

    /// Ends the trace: brings it onto the disk and gives it its name.
    ///
    /// # Errors
    /// A write failed, now or before; then the trace does not take its name.
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
        let Some(recording) = &mut self.recording else {
            return Err(self.given_up().into());
        };
        recording.encoder.push(events).map_err(|error| {
            // Removes the temporary file at once: the disk may be full.
            self.recording = None;
            error.into()
        })
    }
}

/// A temporary file beside `path`, so that it can take its name.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    if path.file_name().is_none() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a file name is missing",
        ));
    }
    // Renaming over a directory or a device would fail at the end or, worse, replace it.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "exists and is not a regular file",
        ));
    }
    // Opened here and not by the library, which makes it private and adds its name to every error.
    let mut options = File::options();
    options.write(true).create_new(true);
    let mut builder = Builder::new();
    builder.prefix(".memwalk-").suffix(".tmp");
    builder.make_in(directory(path), |temporary| options.open(temporary))
}

/// Gives the temporary file its final name so that either all of it is there after a crash, or nothing.
fn persist(file: File, temporary: TempPath, path: &Path) -> io::Result<()> {
    file.sync_all()?;
    drop(file);
    temporary.persist(path).map_err(|error| error.error)?;
    // The name itself is on the disk once the directory is; only Unix can open a directory.
    if cfg!(unix) {
        File::open(directory(path))?.sync_all()
    } else {
        Ok(())
    }
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
