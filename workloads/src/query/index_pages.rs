//! Where the pages of an index on records are, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the nodes of indexes on record numbers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IndexPages {
    /// All in the buffer pool before a query begins.
    #[default]
    InMemory,
    /// In storage, behind the pages of the relation: a node is read unless it is one of the two of its level that were used last.
    Stored,
}
