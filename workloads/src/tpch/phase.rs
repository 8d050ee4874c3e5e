//! The phases of a run.

/// What a run does for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Phase {
    /// Scans a table, and computes with what it finds.
    Scan = 1,
    /// Scans the smaller input of a join and builds hash tables.
    Build,
    /// Scans the larger input and probes them.
    Probe,
    /// Joins the partitions that went to storage.
    Destaged,
    /// Fills a table.
    Load,
    /// Scans a table and changes it.
    Update,
}

impl Phase {
    /// Names in the order of the numbers; phase 0 is what comes before the first.
    pub(super) const NAMES: [&str; 7] = [
        "start", "scan", "build", "probe", "destaged", "load", "update",
    ];
}
