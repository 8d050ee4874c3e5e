//! How a program moves bytes within a page towards higher addresses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What moves bytes towards higher addresses, where source and target overlap and `memcpy` cannot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UpwardMoves {
    /// Byte by byte from the last on, as a plain `memmove`.
    #[default]
    Bytes,
    /// `memcpy` to a buffer and back, as on the thesis's Itanium 2 (section 3.5.1).
    ThroughBuffer,
}
