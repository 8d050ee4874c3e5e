//! What can go wrong with a trace file, each in one line that names the file, the cause and the remedy.

use std::io::{self, ErrorKind};
use std::path::Path;
use thiserror::Error;

/// Why a trace file could not be written or read.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The operating system refused.
    #[error("{path}: {source}{}", remedy(source))]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file holds nothing at all.
    #[error("{path}: the file is empty; record the trace again")]
    Empty {
        /// The file.
        path: String,
    },
    /// The file is something else than a memwalk trace.
    #[error(
        "{path}: not a memwalk trace: {found}; give a file written by `memwalk trace record`, or by `memwalk trace import` of another tool's"
    )]
    NotATrace {
        /// The file.
        path: String,
        /// What stands there instead.
        found: String,
    },
    /// The file begins as a trace and stops before its end.
    #[error("{path}: the trace is cut short: {cause}; copy the file again or record it again")]
    Truncated {
        /// The file.
        path: String,
        /// How that shows.
        cause: String,
    },
    /// The file was written by a later memwalk.
    #[error(
        "{path}: trace schema version {version}, but this memwalk reads version {supported}; update memwalk"
    )]
    Version {
        /// The file.
        path: String,
        /// Schema version of the file.
        version: u64,
        /// Schema version that this build reads.
        supported: u64,
    },
    /// The bytes are not those that were written.
    #[error("{path}: {place}: {cause}; the file is damaged: copy it again or record it again")]
    Corrupt {
        /// The file.
        path: String,
        /// Which part of it, such as `row group 3`.
        place: String,
        /// What is wrong there.
        cause: String,
    },
    /// The file is intact, but a value in it is none that an event may have.
    #[error(
        "{path}: row group {row_group}, row {row} (event {event}): {cause}; record the trace again"
    )]
    Value {
        /// The file.
        path: String,
        /// Row group, from 0.
        row_group: usize,
        /// Row in the row group, from 0.
        row: usize,
        /// Event in the trace, from 0.
        event: u64,
        /// What is wrong, with the bad value and the right ones.
        cause: String,
    },
    /// A kernel handed over an event that no trace may hold.
    #[error("{path}: event {event} cannot be stored: {cause}")]
    Event {
        /// The file that was to be written.
        path: String,
        /// Event in the trace, from 0.
        event: u64,
        /// What is wrong, with the bad value and the right ones.
        cause: String,
    },
    /// The description handed over with the events contradicts itself.
    #[error("{path}: the trace's description cannot be stored: {cause}")]
    Info {
        /// The file that was to be written.
        path: String,
        /// What is wrong.
        cause: String,
    },
    /// The Parquet library could not encode the events.
    #[error("{path}: the events could not be encoded: {cause}")]
    Encode {
        /// The file that was to be written.
        path: String,
        /// What the library said.
        cause: String,
    },
    /// An earlier write failed and its error has been reported; the trace is given up.
    #[error("{path}: not written, because an earlier write failed")]
    GivenUp {
        /// The file that was to be written.
        path: String,
    },
}

impl StoreError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.display().to_string(),
            source,
        }
    }

    pub(super) fn corrupt(path: &Path, place: impl Into<String>, cause: impl ToString) -> Self {
        Self::Corrupt {
            path: path.display().to_string(),
            place: place.into(),
            cause: cause.to_string(),
        }
    }

    pub(super) fn not_a_trace(path: &Path, found: impl Into<String>) -> Self {
        Self::NotATrace {
            path: path.display().to_string(),
            found: found.into(),
        }
    }

    pub(super) fn encode(path: &Path, cause: impl ToString) -> Self {
        Self::Encode {
            path: path.display().to_string(),
            cause: cause.to_string(),
        }
    }
}

/// What the user can do about an error of the operating system, where that is known.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound => "; check the path",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "; check the permissions or choose another folder"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "; free some space or choose another disk"
        }
        ErrorKind::NotADirectory => "; a part of the path is a file: check the path",
        _ => "",
    }
}
