//! What a workload asks storage for.

use serde::Serialize;

/// Kinds of requests for pages, and whether a workload makes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// It waits for pages that it needs.
    pub reads: bool,
    /// It gives pages back.
    pub writes: bool,
    /// It asks for pages ahead of their use.
    pub asks_ahead: bool,
}
