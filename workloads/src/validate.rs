//! What is wrong with a workload, and the checks that families share.

use thiserror::Error;

/// A workload that cannot run: which parameter, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {message}")]
pub struct WorkloadError {
    /// Place in the workload, such as `tree.node_lines`.
    pub path: String,
    /// What is wrong with it and what would be right.
    pub message: String,
}

impl WorkloadError {
    pub(crate) fn new(path: &str, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }
}

pub(crate) fn within<N: PartialOrd + std::fmt::Display>(
    path: &str,
    value: N,
    low: N,
    high: N,
) -> Result<(), WorkloadError> {
    if value >= low && value <= high {
        return Ok(());
    }
    Err(WorkloadError::new(
        path,
        format!("{value} is out of range; it must be from {low} to {high}"),
    ))
}

pub(crate) fn power_of_two(
    path: &str,
    value: u32,
    low: u32,
    high: u32,
) -> Result<(), WorkloadError> {
    if value.is_power_of_two() && value >= low && value <= high {
        return Ok(());
    }
    Err(WorkloadError::new(
        path,
        format!("{value} bytes; it must be a power of two from {low} to {high}"),
    ))
}

/// Checks that addresses up to `end` fit a word.
pub(crate) fn address_space(path: &str, word_bytes: u32, end: u64) -> Result<(), WorkloadError> {
    if word_bytes == 4 && end > u64::from(u32::MAX) {
        let message = format!(
            "these take {:.1} GiB of addresses, but word_bytes 4 reaches 4 GiB; take fewer, or word_bytes 8",
            end as f64 / f64::from(1 << 30)
        );
        return Err(WorkloadError::new(path, message));
    }
    Ok(())
}
