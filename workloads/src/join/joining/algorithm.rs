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
    /// The same with group prefetching; sub-partitions are joined as by `inspector` (section 5.6.1).
    EnhancedCachePartitioning,
    /// Build tuples stay where they are: consecutive pages are a sub-partition, of which filters have told which probe tuples may match (section 5.5).
    Inspector,
    /// The same, but partitions whose probe tuples match several sub-partitions on average are joined as by `enhanced-cache-partitioning`:
    /// their build keys are duplicates (section 5.6.5).
    ChoosingInspector,
    /// Tuples that are out of order, of which partitioning has told (`division.rs`), are sorted, and all are merged (sections 5.3.4 and 5.6.5).
    SortMerge,
}

impl JoinAlgorithm {
    /// Those that prefetch anything.
    pub(super) const PREFETCHING: [Self; 8] = [
        Self::Simple,
        Self::Group,
        Self::Pipelined,
        Self::CachePartitioning,
        Self::EnhancedCachePartitioning,
        Self::Inspector,
        Self::ChoosingInspector,
        Self::SortMerge,
    ];

    /// Those that join what the cache holds.
    pub(super) const OF_SUB_PARTITIONS: [Self; 4] = [
        Self::CachePartitioning,
        Self::EnhancedCachePartitioning,
        Self::Inspector,
        Self::ChoosingInspector,
    ];

    /// Those in which groups of tuples are under way.
    pub(super) const IN_GROUPS: [Self; 3] = [
        Self::Group,
        Self::EnhancedCachePartitioning,
        Self::ChoosingInspector,
    ];

    /// Those in which tuples are some iterations apart.
    pub(super) const AT_A_DISTANCE: [Self; 5] = [
        Self::Pipelined,
        Self::EnhancedCachePartitioning,
        Self::Inspector,
        Self::ChoosingInspector,
        Self::SortMerge,
    ];

    /// Those that copy tuples into sub-partitions, a group at a time.
    pub(super) const COPYING_IN_GROUPS: [Self; 2] =
        [Self::EnhancedCachePartitioning, Self::ChoosingInspector];

    /// How tuples are inserted, and how they probe unless their matches are buffered.
    pub(super) fn of_passes(self) -> PassAlgorithm {
        match self {
            Self::Grace => PassAlgorithm::Grace,
            Self::Group => PassAlgorithm::Group,
            Self::Pipelined => PassAlgorithm::Pipelined,
            _ => PassAlgorithm::Simple,
        }
    }

    /// How tuples are copied into sub-partitions.
    pub(super) fn of_repartitioning(self) -> PassAlgorithm {
        if Self::COPYING_IN_GROUPS.contains(&self) {
            PassAlgorithm::Group
        } else {
            PassAlgorithm::Simple
        }
    }

    /// Whether partitions are partitioned again, or may be.
    pub(super) fn repartitions(self) -> bool {
        matches!(
            self,
            Self::CachePartitioning | Self::EnhancedCachePartitioning | Self::ChoosingInspector
        )
    }

    /// Whether filters have told which sub-partitions a probe tuple may match.
    pub(super) fn inspects(self) -> bool {
        matches!(self, Self::Inspector | Self::ChoosingInspector)
    }

    /// Whether tuples are sorted, and so need no hash table.
    pub(super) fn sorts(self) -> bool {
        self == Self::SortMerge
    }

    /// Whether pairs of tuples with one hash code are buffered before they are visited.
    pub(super) fn buffers_pairs(self) -> bool {
        self.repartitions() && self != Self::CachePartitioning || self.inspects()
    }
}
