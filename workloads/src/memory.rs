//! How much of the host's memory a workload takes: known before anything is built, so that what does not fit is refused and not
//! half done.
//!
//! Each family estimates its own. Trees and pages of fixed-length records follow from their formats; the rest was fitted, and a test
//! holds it to what runs take.

use crate::validate::WorkloadError;
use traces::host_memory::{Free, size};

/// Bytes of the host's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// For what the workload runs on; nothing if it was built before.
    pub building: u64,
    /// For the run besides.
    pub running: u64,
    /// Of these, what is asked of the system in one piece, whether or not all of it is touched.
    pub piece: u64,
    /// The parameter that decides about them.
    pub parameter: &'static str,
    /// What makes them fewer, in words.
    pub remedy: &'static str,
}

impl Memory {
    /// Checks that there is so much memory; what the workload runs on may have been built before.
    ///
    /// # Errors
    /// There is not: the parameter that decides, what it would take and what is free.
    pub fn check(&self, free: Free, built: bool) -> Result<(), WorkloadError> {
        let takes = if built {
            self.running
        } else {
            self.building + self.running
        };
        let remedy = self.remedy;
        let message = if takes > free.memory {
            format!(
                "would take about {}, and {} of memory are free; {remedy}, or run fewer processes at once",
                size(takes),
                size(free.memory)
            )
        } else if !built && self.piece > free.piece {
            format!(
                "needs {} in one piece, and the system gives {} at most; {remedy}",
                size(self.piece),
                size(free.piece)
            )
        } else {
            return Ok(());
        };
        Err(WorkloadError::new(self.parameter, message))
    }
}

/// Bytes of a number that is drawn without repetition: in the list of them, and in the table of those that have moved.
pub(crate) const DRAWN_BYTES: u64 = 80;
/// Bytes of a key, a line or a place in a list.
pub(crate) const LISTED_BYTES: u64 = 8;
