//! What is wrong with a page file.

use std::fmt::Display;
use std::path::Path;
use thiserror::Error;

/// A page file that cannot be read or written: which, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {what}")]
pub struct PageFileError {
    /// The file.
    pub path: String,
    /// What is wrong, and what would be right.
    pub what: String,
}

impl PageFileError {
    pub(crate) fn new(path: &Path, what: impl Display) -> Self {
        Self {
            path: path.display().to_string(),
            what: what.to_string(),
        }
    }
}
