//! The Parquet store.

use thiserror::Error;

/// Why a trace file could not be written or read.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
}
