//! What instructions a workload has, of kinds that others do without.

use serde::Serialize;

/// Kinds of instructions that machines have settings for, and whether a workload has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[allow(clippy::struct_excessive_bools, reason = "each stands for itself")]
pub struct Instructions {
    /// Branches that may be predicted wrongly with instructions behind them, its own or those of the DBMS that it calls. A loop that is left
    /// at the end of the program has none: predictors begin with branches that are taken.
    pub branches: bool,
    /// Stores, its own or those of the DBMS that it calls.
    pub stores: bool,
    /// Prefetches of lines.
    pub prefetches: bool,
    /// Multiplications that others wait for, as in hash functions.
    pub multiplies: bool,
    /// Divisions.
    pub divides: bool,
    /// Instructions that read and write at once (atomic exchanges), as those of threads that share data do.
    pub exchanges: bool,
}

impl Default for Instructions {
    /// What most have: branches, and of the rest nothing.
    fn default() -> Self {
        Self {
            branches: true,
            stores: false,
            prefetches: false,
            multiplies: false,
            divides: false,
            exchanges: false,
        }
    }
}
