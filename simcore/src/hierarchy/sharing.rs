//! What cores with coherent caches did for and to each other.

/// What a core and others did for or to each other, counted in lines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CoherenceCounts {
    /// Lines that came from another core.
    pub(crate) transfers: u64,
    /// Stores that found their line and had to take it from others.
    pub(crate) upgrades: u64,
    /// Loads and stores that missed a line because another core had written to it: that used what had been written, and that did not.
    pub(crate) true_sharing: u64,
    pub(crate) false_sharing: u64,
}
