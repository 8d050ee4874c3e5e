//! Writes a trace file, all of it or nothing.

use crate::event::Event;
use crate::sink::{EventSink, SinkError};
use crate::store::encoder::Encoder;
use crate::store::error::StoreError;
use crate::store::info::{TraceInfo, TraceSummary};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Records events into a trace file.
///
/// The events go to a temporary file in the same directory, which takes the final name when [`Writer::finish`] has
/// seen everything onto the disk. A writer that is dropped or killed before leaves nothing under the final name, and
/// leaves a trace that stood there as it was.
pub struct Writer {
    path: PathBuf,
    /// Nothing after a failure.
    encoder: Option<Encoder<NamedTempFile>>,
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
        let encoder = Encoder::new(file, path.clone(), info.clone())?;
        Ok(Self {
            path,
            encoder: Some(encoder),
        })
    }

    /// Says what the kernel computed, once that is known.
    pub fn set_outcome(&mut self, outcome: Map<String, Value>) {
        if let Some(encoder) = &mut self.encoder {
            encoder.info_mut().outcome = outcome;
        }
    }

    /// Ends the trace: brings it onto the disk and gives it its name.
    ///
    /// # Errors
    /// A write failed, now or before; then nothing stands under the name.
    pub fn finish(mut self) -> Result<TraceSummary, StoreError> {
        let encoder = self.encoder.take().ok_or_else(|| self.given_up())?;
        let (file, summary) = encoder.finish()?;
        persist(file, &self.path).map_err(|error| StoreError::io(&self.path, error))?;
        Ok(summary)
    }

    fn given_up(&self) -> StoreError {
        StoreError::GivenUp {
            path: self.path.display().to_string(),
        }
    }
}

impl EventSink for Writer {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        let Some(encoder) = &mut self.encoder else {
            return Err(self.given_up().into());
        };
        encoder.push(events).map_err(|error| {
            // Removes the temporary file at once: the disk may be full.
            self.encoder = None;
            error.into()
        })
    }
}

/// A temporary file beside `path`, so that it can take its name.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a file name is missing",
        ));
    };
    // Renaming over a directory or a device would fail at the end or, worse, replace it.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "exists and is not a regular file",
        ));
    }
    let mut prefix = OsString::from(".");
    prefix.push(name);
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory(path))
}

/// Gives the temporary file its final name so that either all of it is there after a crash, or nothing.
fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
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
