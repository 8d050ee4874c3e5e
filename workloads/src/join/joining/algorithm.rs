//! The algorithms of the join phase.

use crate::join::algorithm::PassAlgorithm;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How partitions are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JoinAlgorithm {
    /// Tuple by tuple, without prefetches (GRACE).
    Grace,
    /// The same, with prefetches of input and output pages.
    Simple,
    /// In groups, stage by stage: each stage prefetches what the next visits (section 4.4).
    Group,
    /// Each stage for another tuple, a distance apart (section 4.5).
    Pipelined,
    /// Partitions are partitioned again, into sub-partitions that fit into the cache, and those are joined; both with simple prefetching.
    CachePartitioning,
}

impl JoinAlgorithm {
    /// Those that prefetch anything.
    pub(super) const PREFETCHING: [Self; 4] = [
        Self::Simple,
        Self::Group,
        Self::Pipelined,
        Self::CachePartitioning,
    ];

    /// How each pass over a partition or a part of it works.
    pub(super) fn of_passes(self) -> PassAlgorithm {
        match self {
            Self::Grace => PassAlgorithm::Grace,
            Self::Simple | Self::CachePartitioning => PassAlgorithm::Simple,
            Self::Group => PassAlgorithm::Group,
            Self::Pipelined => PassAlgorithm::Pipelined,
        }
    }

    /// Whether partitions are partitioned again.
    pub(super) fn repartitions(self) -> bool {
        self == Self::CachePartitioning
    }
}
