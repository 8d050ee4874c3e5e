//! How a workload names the page file that its runs start from.

use crate::paged_tree::file::PageFileError;
use crate::validate::WorkloadError;
use serde::{Deserialize, Serialize};

/// The parameter that names a page file.
pub(super) const PARAMETER: &str = "page_file";

/// The page file that runs start from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Named")]
pub struct PageFile {
    /// Where it is.
    pub path: String,
    /// Digest of its bytes, in hexadecimal, if it has to be that file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// How a workload may name a page file.
#[derive(Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "a page file is named by its path, as text"
)]
enum Named {
    Path(String),
    Known {
        path: String,
        sha256: Option<String>,
    },
}

impl From<Named> for PageFile {
    fn from(named: Named) -> Self {
        match named {
            Named::Path(path) => Self { path, sha256: None },
            Named::Known { path, sha256 } => Self { path, sha256 },
        }
    }
}

/// What a page file is no good for is wrong about the parameter that names it.
pub(super) fn wrong(error: &PageFileError) -> WorkloadError {
    WorkloadError::new(PARAMETER, error.to_string())
}
