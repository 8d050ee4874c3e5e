//! The eight tables.

use serde::{Deserialize, Serialize};

/// A table of TPC-H.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Table {
    Lineitem,
    Orders,
    Partsupp,
    Part,
    Customer,
    Supplier,
    Nation,
    Region,
}
