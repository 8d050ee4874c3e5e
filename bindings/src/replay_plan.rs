//! How a trace file is to be run.

use serde::Deserialize;
use traces::Dependences;
use traces::window::Window;

/// How a trace file is to be run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// What the instructions wait for, once for each run.
    pub(crate) dependences: Vec<Dependences>,
    /// Accounts by site are kept beside those by segment.
    pub(crate) sites: bool,
    /// The part of the trace that is run.
    pub(crate) window: Window,
}
