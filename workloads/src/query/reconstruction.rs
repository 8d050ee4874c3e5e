//! How records of a decomposed relation are put together, as data.

use crate::validate::WorkloadError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the values of a record are found in their files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reconstruction {
    /// A join: each value is stored beside its record's number and found through an index on it (PAX section 4.3).
    #[default]
    Index,
    /// A join, too: files have their values in the same order, and their scans move from record to record together
    /// (Clotho section 7.1).
    Merge,
    /// No join: a value's page and place in it follow from the record's number, and only values that are wanted are
    /// turned to.
    Position,
}

impl Reconstruction {
    /// Checks that there is something to put together.
    ///
    /// # Errors
    /// For a choice that is not the default and a layout that keeps records whole.
    pub(crate) fn validate(self, decomposed: bool) -> Result<(), WorkloadError> {
        if decomposed || self == Self::default() {
            return Ok(());
        }
        let message = "`merge` and `position` are for `dsm`, other layouts keep records whole; it must be `index`";
        Err(WorkloadError::new("reconstruction", message))
    }
}
