//! Parameters of joins.

use super::algorithm::JoinAlgorithm;
use crate::bounds::{LINE_BYTES, SHARE, THREADS};
use crate::join::ahead::Ahead;
use crate::join::algorithm::{Order, OutputPages, PassAlgorithm};
use crate::join::lengths::{Lengths, TupleLengths};
use crate::join::limits::{
    CACHE_BYTES, DUPLICATES, PAGE_AHEAD, PAGE_BYTES, PARTITIONS, SHORTEST_TUPLE_BYTES, SWITCH_AT,
    TUPLE_BYTES, TUPLES, TUPLES_AHEAD,
};
use crate::join::nearly_sorted::TupleOrder;
use crate::join::pages::PageFormat;
use crate::join::stored::PAGES_ASKED_AHEAD;
use crate::ranks::SKEW;
use crate::schema::{applies, bytes, has_effect, parameters, required, takes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which of the build tuples' keys have matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MatchedKeys {
    /// As large a share of them as of the probe tuples.
    Share,
    /// All, if there are as many probe tuples with matches.
    All,
}

/// Joins of partitions that are in memory, or on storage (thesis chapters 4 and 5, join phase).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(transform = parameters::<Self>)]
pub struct JoinWorkload {
    /// How partitions are joined.
    #[schemars(transform = required)]
    pub algorithm: JoinAlgorithm,
    /// Tuples of the build relation, all partitions together.
    #[schemars(transform = required, transform = takes(TUPLES))]
    pub build_tuples: u64,
    /// Tuples of the probe relation, all partitions together.
    #[schemars(transform = required, transform = takes(TUPLES))]
    pub probe_tuples: u64,
    /// Bytes of a tuple of either relation, of which the key takes four; of the longest ones, if lengths differ.
    #[schemars(transform = takes(TUPLE_BYTES), transform = bytes)]
    pub tuple_bytes: u32,
    /// How long tuples are.
    pub tuple_lengths: TupleLengths,
    /// Bytes of the shortest tuples, of which key, length and number take twelve.
    #[schemars(transform = takes(SHORTEST_TUPLE_BYTES), transform = bytes, transform = applies("tuple_lengths", vec![TupleLengths::Uniform]))]
    pub shortest_tuple_bytes: u32,
    /// Build tuples of each key.
    #[schemars(transform = takes(DUPLICATES))]
    pub duplicates: u32,
    /// Share of the probe tuples that have matches.
    #[schemars(transform = takes(SHARE))]
    pub match_share: f64,
    /// Which of the build tuples' keys have matches.
    pub matched_keys: MatchedKeys,
    /// Zipf's exponent of how often these keys occur among the probe tuples of a partition; 0 for all alike.
    #[schemars(transform = takes(SKEW))]
    pub skew: f64,
    /// Probability that the partition phase's filter let a key pass that is not there, or each sub-partition's filter of `inspector`; 1 for no filter.
    #[schemars(transform = takes(SHARE))]
    pub false_positives: f64,
    /// Sub-partitions that a probe tuple of a partition matches on average, from which on `choosing-inspector` partitions it again.
    #[schemars(transform = takes(SWITCH_AT), transform = applies("algorithm", vec![JoinAlgorithm::ChoosingInspector]))]
    pub switch_at: u32,
    /// How tuples of either relation follow each other in their partitions.
    pub order: TupleOrder,
    /// Share of the tuples of sorted relations that are somewhere else, at random.
    #[schemars(transform = takes(SHARE), transform = applies("order", vec![TupleOrder::NearlySorted]))]
    pub displaced: f64,
    /// Tuples of a group.
    #[schemars(transform = takes(TUPLES_AHEAD), transform = has_effect("algorithm", JoinAlgorithm::IN_GROUPS.to_vec()))]
    pub group_size: u32,
    /// Iterations between two stages of a tuple, between the prefetch of a buffered pair and its visit, or of a tuple out of order and its turn.
    #[schemars(transform = takes(TUPLES_AHEAD), transform = has_effect("algorithm", JoinAlgorithm::AT_A_DISTANCE.to_vec()))]
    pub prefetch_distance: u32,
    /// Tuples that prefetches of input pages are ahead of their use; 0 for a whole page when it is opened.
    #[schemars(transform = takes(PAGE_AHEAD), transform = has_effect("algorithm", JoinAlgorithm::PREFETCHING.to_vec()))]
    pub page_ahead: u32,
    /// Tuples that prefetches of output pages are ahead of their use; 0 for a whole page when it is begun.
    #[schemars(transform = takes(PAGE_AHEAD), transform = has_effect("algorithm", JoinAlgorithm::PREFETCHING.to_vec()))]
    pub output_ahead: u32,
    /// Bytes of cache that the build tuples of a sub-partition and their hash table have to fit into.
    #[schemars(transform = takes(CACHE_BYTES), transform = bytes, transform = has_effect("algorithm", JoinAlgorithm::OF_SUB_PARTITIONS.to_vec()))]
    pub cache_bytes: u32,
    /// Whether tuples go to sub-partitions past the caches, by non-temporal stores.
    #[schemars(transform = has_effect("algorithm", JoinAlgorithm::COPYING_IN_GROUPS.to_vec()))]
    pub non_temporal: bool,
    /// What becomes of full output pages.
    pub output: OutputPages,
    /// Pages of a partition that are asked for before the one that is read, if partitions are on storage; 0 if they are in memory.
    #[schemars(transform = takes(PAGES_ASKED_AHEAD))]
    pub pages_asked_ahead: u32,
    /// Partitions of each relation, which the threads share evenly.
    #[schemars(transform = takes(PARTITIONS))]
    pub partitions: u32,
    /// Threads, each of which joins partitions of its own.
    #[schemars(transform = takes(THREADS))]
    pub threads: u32,
    /// Bytes of a page of a partition, and of an output page.
    #[schemars(transform = takes(PAGE_BYTES), transform = bytes)]
    pub page_bytes: u32,
    /// Bytes between prefetches of what spans several lines: those of a cache line.
    #[schemars(transform = takes(LINE_BYTES), transform = bytes, transform = has_effect("algorithm", JoinAlgorithm::PREFETCHING.to_vec()))]
    pub line_bytes: u32,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for JoinWorkload {
    fn default() -> Self {
        Self {
            algorithm: JoinAlgorithm::Grace,
            build_tuples: 10_000,
            probe_tuples: 20_000,
            tuple_bytes: 100,
            tuple_lengths: TupleLengths::Fixed,
            // The thesis's shortest (section 4.7.3).
            shortest_tuple_bytes: 20,
            duplicates: 1,
            match_share: 1.0,
            matched_keys: MatchedKeys::Share,
            skew: 0.0,
            false_positives: 1.0,
            // The thesis's (section 5.6.5).
            switch_at: 4,
            order: TupleOrder::Random,
            displaced: 0.0,
            // The best in the thesis (section 4.7.3).
            group_size: 25,
            prefetch_distance: 1,
            page_ahead: 6,
            output_ahead: 6,
            // Half of the largest cache of the thesis (section 5.3.2: what can be counted on is a fraction of it).
            cache_bytes: 1 << 20,
            non_temporal: false,
            output: OutputPages::Fresh,
            pages_asked_ahead: 0,
            partitions: 1,
            threads: 1,
            page_bytes: 8192,
            line_bytes: 64,
            seed: 1,
        }
    }
}

impl JoinWorkload {
    /// The order of the tuples' stages.
    pub(super) fn stages_order(&self) -> Order {
        self.order_of(self.algorithm.of_passes())
    }

    /// How far ahead output pages are prefetched, if any pages are.
    pub(super) fn ahead_of_output(&self) -> Option<Ahead> {
        let order = Order {
            page_ahead: self.output_ahead,
            ..self.stages_order()
        };
        order.ahead(true)
    }

    /// That of copying tuples into sub-partitions.
    pub(super) fn repartitioning_order(&self) -> Order {
        self.order_of(self.algorithm.of_repartitioning())
    }

    fn order_of(&self, algorithm: PassAlgorithm) -> Order {
        Order {
            algorithm,
            group_size: self.group_size,
            prefetch_distance: self.prefetch_distance,
            page_ahead: self.page_ahead,
            line_bytes: self.line_bytes,
        }
    }

    /// How long tuples are.
    pub(super) fn lengths(&self) -> Lengths {
        Lengths::new(
            self.tuple_lengths,
            self.shortest_tuple_bytes,
            self.tuple_bytes,
        )
    }

    /// What pages of partitions look like; those that the inspector's filters let pass have slots of their own. Inspector joins do without
    /// lengths in slots.
    pub(super) fn partition_format(&self) -> PageFormat {
        let format = PageFormat::new(self.page_bytes, self.lengths()).with_codes();
        if self.algorithm.inspects() {
            format.without_lengths()
        } else {
            format
        }
    }

    /// What they look like if all tuples have the mean length: as many lie on a page on average, or a few more.
    pub(super) fn mean_format(&self) -> PageFormat {
        self.partition_format().of_length(self.lengths().mean())
    }

    /// Tuples of a relation of `tuples` that are in a partition.
    pub(super) fn share(&self, tuples: u64, partition: u32) -> u64 {
        self.before(tuples, partition + 1) - self.before(tuples, partition)
    }

    /// Tuples of a relation of `tuples` that are in the partitions before one.
    pub(super) fn before(&self, tuples: u64, partition: u32) -> u64 {
        u64::from(partition) * tuples / u64::from(self.partitions)
    }
}
