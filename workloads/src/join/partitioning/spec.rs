//! Parameters of partitioning.

use super::sift::Sift;
use crate::bounds::{LINE_BYTES, SHARE, THREADS};
use crate::join::algorithm::{Order, OutputPages, PassAlgorithm};
use crate::join::buffers::BufferSpec;
use crate::join::distribute::Distribute;
use crate::join::lengths::{Lengths, TupleLengths};
use crate::join::limits::{
    CACHE_BYTES, DUPLICATES, FALSE_POSITIVES, ORDER_BUFFER_PAGES, PAGE_AHEAD, PAGE_BYTES,
    PARTITIONS, SHORTEST_TUPLE_BYTES, SWITCH_AT, TUPLE_BYTES, TUPLES, TUPLES_AHEAD,
};
use crate::join::nearly_sorted::TupleOrder;
use crate::join::pages::PageFormat;
use crate::join::slots::Slots;
use crate::join::stored::PAGES_ASKED_AHEAD;
use crate::join::visit::Stages;
use crate::schema::{applies, bytes, has_effect, parameters, required, takes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What is found out about the build relation while it is partitioned, so that probe tuples without matches are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Filtering {
    /// Nothing.
    None,
    /// A Bloom filter of all its keys.
    Single,
    /// One of each sub-partition, so that probe tuples know theirs (inspector joins, section 5.4).
    Multiple,
}

impl Filtering {
    /// Those that partition a build and a probe relation.
    pub(super) const BUILT: [Self; 2] = [Self::Single, Self::Multiple];
}

/// How the filters of a partition lie in memory when they are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FilterLayout {
    /// One behind the other, as they were filled.
    Horizontal,
    /// All bits of one position together: they are converted before the probe relation is partitioned.
    Vertical,
}

/// Which relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// The build relation; all relations, where they are not told apart.
    Build,
    Probe,
}

/// Partitioning of relations (thesis chapters 4 and 5, partition phase).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(transform = parameters::<Self>)]
pub struct PartitionWorkload {
    /// How tuples go to their partitions.
    #[schemars(transform = required)]
    pub algorithm: PassAlgorithm,
    /// Tuples of the input, all relations one after the other; with filters, of the build relation.
    #[schemars(transform = required, transform = takes(TUPLES))]
    pub tuples: u64,
    /// Partitions that the input is divided into, each with an output page in memory.
    #[schemars(transform = required, transform = takes(PARTITIONS))]
    pub partitions: u32,
    /// Filters of the build relation.
    pub filter: Filtering,
    /// Tuples of the probe relation.
    #[schemars(transform = takes(TUPLES), transform = applies("filter", Filtering::BUILT.to_vec()))]
    pub probe_tuples: u64,
    /// Share of the probe tuples that have matches.
    #[schemars(transform = takes(SHARE), transform = applies("filter", Filtering::BUILT.to_vec()))]
    pub match_share: f64,
    /// Share of the keys that a filter does not hold, and takes for some that it holds.
    #[schemars(transform = takes(FALSE_POSITIVES), transform = applies("filter", Filtering::BUILT.to_vec()))]
    pub false_positive_rate: f64,
    /// How filters of sub-partitions lie in memory when they are tested.
    #[schemars(transform = applies("filter", vec![Filtering::Multiple]))]
    pub filter_layout: FilterLayout,
    /// Bytes of cache that the build tuples of a sub-partition and their hash table have to fit into; a page is the least.
    #[schemars(transform = takes(CACHE_BYTES), transform = bytes, transform = applies("filter", vec![Filtering::Multiple]))]
    pub cache_bytes: u32,
    /// Sub-partitions that a probe tuple of a partition matches on average, from which on a join is to partition again: keys are duplicates then.
    #[schemars(transform = takes(SWITCH_AT), transform = applies("filter", vec![Filtering::Multiple]))]
    pub switch_at: u32,
    /// Build tuples of each key.
    #[schemars(transform = takes(DUPLICATES))]
    pub duplicates: u32,
    /// How the tuples of a relation follow each other.
    pub order: TupleOrder,
    /// Share of the tuples of sorted relations that are somewhere else, at random.
    #[schemars(transform = takes(SHARE), transform = applies("order", vec![TupleOrder::NearlySorted]))]
    pub displaced: f64,
    /// Pages of memory for the tuples of a relation that are out of order, of each thread: if they are enough, it is nearly sorted, and these
    /// tuples are partitioned behind the others; 0 if nobody looks.
    #[schemars(transform = takes(ORDER_BUFFER_PAGES))]
    pub order_buffer_pages: u32,
    /// Bytes of a tuple, of which the key takes four; of the longest ones, if lengths differ.
    #[schemars(transform = takes(TUPLE_BYTES), transform = bytes)]
    pub tuple_bytes: u32,
    /// How long tuples are.
    pub tuple_lengths: TupleLengths,
    /// Bytes of the shortest tuples, of which key, length and number take twelve.
    #[schemars(transform = takes(SHORTEST_TUPLE_BYTES), transform = bytes, transform = applies("tuple_lengths", vec![TupleLengths::Uniform]))]
    pub shortest_tuple_bytes: u32,
    /// Tuples of a group.
    #[schemars(transform = takes(TUPLES_AHEAD), transform = has_effect("algorithm", vec![PassAlgorithm::Group]))]
    pub group_size: u32,
    /// Iterations between two stages of a tuple.
    #[schemars(transform = takes(TUPLES_AHEAD), transform = has_effect("algorithm", vec![PassAlgorithm::Pipelined]))]
    pub prefetch_distance: u32,
    /// Tuples that prefetches of input pages are ahead of their use; 0 for a whole page when it is opened.
    #[schemars(transform = takes(PAGE_AHEAD), transform = has_effect("algorithm", PassAlgorithm::PREFETCHING.to_vec()))]
    pub page_ahead: u32,
    /// What becomes of full output pages.
    pub output: OutputPages,
    /// Pages of the input that are asked for before the one that is read, if it is on storage; 0 if it is in memory.
    #[schemars(transform = takes(PAGES_ASKED_AHEAD))]
    pub pages_asked_ahead: u32,
    /// Threads, each of which partitions an equal part of the input into output pages of its own.
    #[schemars(transform = takes(THREADS))]
    pub threads: u32,
    /// Bytes of an input page, and of an output page.
    #[schemars(transform = takes(PAGE_BYTES), transform = bytes)]
    pub page_bytes: u32,
    /// Bytes between prefetches of what spans several lines, and of the lines that filters and each thread's counts begin with: those of a cache line.
    #[schemars(transform = takes(LINE_BYTES), transform = bytes)]
    pub line_bytes: u32,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for PartitionWorkload {
    fn default() -> Self {
        Self {
            algorithm: PassAlgorithm::Grace,
            tuples: 10_000,
            partitions: 25,
            filter: Filtering::None,
            probe_tuples: 20_000,
            match_share: 1.0,
            // The thesis's, of a single filter (section 5.6.1).
            false_positive_rate: 0.05,
            filter_layout: FilterLayout::Vertical,
            // As in the join phase.
            cache_bytes: 1 << 20,
            // The thesis's (section 5.6.5).
            switch_at: 4,
            duplicates: 1,
            order: TupleOrder::Random,
            displaced: 0.0,
            order_buffer_pages: 0,
            tuple_bytes: 100,
            tuple_lengths: TupleLengths::Fixed,
            // The thesis's shortest (section 4.7.3).
            shortest_tuple_bytes: 20,
            // As in the join phase.
            group_size: 25,
            prefetch_distance: 1,
            page_ahead: 6,
            output: OutputPages::Fresh,
            pages_asked_ahead: 0,
            threads: 1,
            page_bytes: 8192,
            line_bytes: 64,
            seed: 1,
        }
    }
}

impl PartitionWorkload {
    /// The order of the tuples' stages.
    pub(super) fn stages_order(&self) -> Order {
        Order {
            algorithm: self.algorithm,
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

    /// What input pages look like: nobody has hashed the keys yet.
    pub(super) fn input_format(&self) -> PageFormat {
        PageFormat::new(self.page_bytes, self.lengths())
    }

    /// What pages of partitions look like. Inspector joins do without lengths in slots.
    pub(super) fn output_format(&self) -> PageFormat {
        let format = self.input_format().with_codes();
        match self.filter {
            Filtering::None | Filtering::Single => format,
            Filtering::Multiple => format.without_lengths(),
        }
    }

    /// What output pages are like.
    pub(super) fn buffers(&self) -> BufferSpec {
        BufferSpec {
            format: self.output_format(),
            partitions: self.partitions,
            reused: self.output == OutputPages::Reused,
            whole_pages: self.algorithm == PassAlgorithm::Simple,
            waiting_closes: self.algorithm == PassAlgorithm::Pipelined,
            non_temporal: false,
            line_bytes: self.line_bytes,
        }
    }

    /// Whether tuples out of order are put apart.
    pub(super) fn looks_for_order(&self) -> bool {
        self.order_buffer_pages > 0
    }

    /// The relations that are partitioned, one after the other.
    pub(super) fn inputs(&self) -> &'static [Input] {
        match self.filter {
            Filtering::None => &[Input::Build],
            Filtering::Single | Filtering::Multiple => &[Input::Build, Input::Probe],
        }
    }

    /// Tuples of a relation.
    pub(super) fn tuples(&self, input: Input) -> u64 {
        match input {
            Input::Build => self.tuples,
            Input::Probe => self.probe_tuples,
        }
    }

    /// The tuples of a relation that a thread partitions.
    pub(super) fn tuples_of(&self, input: Input, thread: u32) -> Range<u64> {
        let until = |thread: u32| u64::from(thread) * self.tuples(input) / u64::from(self.threads);
        until(thread)..until(thread + 1)
    }

    /// The last stage of a tuple, of any relation.
    pub(super) fn last_stage(&self) -> usize {
        match self.filter {
            Filtering::None => Distribute::LAST,
            Filtering::Single | Filtering::Multiple => Sift::LAST,
        }
    }

    /// The slots of a relation's output pages.
    pub(super) fn slots(&self, input: Input) -> Slots {
        match (self.filter, input) {
            (Filtering::Multiple, Input::Probe) => Slots::Lists,
            _ => Slots::Even,
        }
    }

    /// Output pages that a thread's tuples of a relation take at most: those that are full, and one of each partition.
    pub(super) fn output_pages(&self, input: Input, thread: u32) -> u64 {
        let full = match self.output {
            OutputPages::Fresh | OutputPages::Stored => {
                let own = self.tuples_of(input, thread);
                let on_page = self
                    .slots(input)
                    .tuples(self.output_format(), self.most_filters());
                (own.end - own.start) / u64::from(on_page)
            }
            OutputPages::Reused => 0,
        };
        // Tuples out of order begin with pages of their own.
        let first = 1 + u64::from(self.looks_for_order());
        full + first * u64::from(self.partitions)
    }
}
