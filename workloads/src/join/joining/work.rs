//! How much work a join is, and how much memory it takes.

use super::algorithm::JoinAlgorithm;
use super::output;
use super::spec::JoinWorkload;
use super::table::{CELL_BYTES, HEADER_BYTES, MOST_CELLS};
use crate::join::costs::COPY_STEP_BYTES;
use crate::join::lengths::TupleLengths;
use crate::join::limits::WORD;
use crate::join::nearly_sorted::{SORTED_BYTES, TupleOrder};
use crate::memory::Memory;
use crate::work::Work;

/// Events of inserting a build tuple, and of probing, whatever is found.
const PER_BUILD: f64 = 9.0;
const PER_PROBE: f64 = 9.0;
/// Events of a match, without the copy of its tuples.
const PER_MATCH: f64 = 9.0;
/// Events of copying a tuple into a sub-partition, without the copy itself.
const PER_REPARTITIONED: f64 = 11.0;
/// Events of finding a tuple's state in each stage and of prefetching for the next.
const PER_STAGE: f64 = 5.0;

/// Events of reading a slot with sub-partitions, of adding a pointer to an array and reading it there, and of a pair that is buffered, without
/// the prefetches of its tuples' further lines.
const PER_SLOT: f64 = 3.0;
const PER_POINTER: f64 = 7.0;
const PER_PAIR: f64 = 7.0;

/// Events of reading a tuple by its key, of an entry that is sorted, and of one in each merge of runs.
const PER_MERGED: f64 = 9.0;
const PER_ENTRY: f64 = 9.0;
const PER_RUN: f64 = 4.0;

/// Probe tuples that pass, and positive tests of theirs: one each if there is one filter.
struct Passing {
    tuples: f64,
    positives: f64,
}

impl JoinWorkload {
    /// Pairs of tuples that match.
    fn matches(&self) -> f64 {
        self.probe_tuples as f64 * self.match_share * f64::from(self.duplicates)
    }

    /// Probe tuples that are expected to pass the filters.
    fn passing(&self) -> Passing {
        let matching = self.probe_tuples as f64 * self.match_share;
        let others = self.probe_tuples as f64 - matching;
        if !self.algorithm.inspects() {
            let tuples = matching + others * self.false_positives;
            return Passing {
                tuples,
                positives: tuples,
            };
        }
        let largest = self.share(self.build_tuples, self.partitions - 1);
        let pages = self.mean_format().pages(largest);
        let filters = self.stationary_sub_partitions(pages).max(1) as f64;
        let rejected = |filters: f64| (1.0 - self.false_positives).powf(filters);
        let held = filters * (1.0 - (1.0 - 1.0 / filters).powf(self.duplicates.into()));
        let mistaken = |filters: f64| filters * self.false_positives;
        Passing {
            tuples: matching + others * (1.0 - rejected(filters)),
            positives: matching * (held + mistaken(filters - held)) + others * mistaken(filters),
        }
    }

    /// Share of the tuples that sort-merge finds out of order: about twice those that are (`division.rs`), or nearly all.
    fn out_of_order(&self) -> f64 {
        match self.order {
            TupleOrder::Random => 1.0,
            TupleOrder::NearlySorted => (2.0 * self.displaced).min(1.0),
        }
    }

    /// Events of sorting and merging so many tuples.
    fn work_of_sorting(&self, tuples: f64) -> f64 {
        let lines = f64::from(self.tuple_bytes / self.line_bytes);
        let out_of_order = tuples * self.out_of_order();
        let each = (out_of_order / f64::from(self.partitions) / 2.0).max(2.0);
        tuples * (PER_MERGED + lines) + out_of_order * (PER_ENTRY + PER_RUN * each.log2())
    }

    pub(super) fn estimated_work(&self) -> Work {
        let build = self.build_tuples as f64;
        let Passing { tuples, positives } = self.passing();
        let lengths = self.lengths();
        let copy = lengths.events_of_copy(1.0 + f64::from(lengths.mean() / COPY_STEP_BYTES));
        // Two lengths are read, and where the output tuple ends is written.
        let match_events = PER_MATCH + 2.0 * copy + lengths.events_of_lengths(2.5);
        // Where the tuple begins and ends is read and written.
        let again = PER_REPARTITIONED + copy + lengths.events_of_lengths(2.0);
        let stages = match self.algorithm {
            JoinAlgorithm::Group | JoinAlgorithm::Pipelined => PER_STAGE,
            _ => 0.0,
        };
        // An inspector that chooses goes one way or the other.
        let switches = self.algorithm == JoinAlgorithm::ChoosingInspector
            && positives >= tuples * f64::from(self.switch_at);
        let in_place = self.algorithm.inspects() && !switches;
        let positives = if switches { tuples } else { positives };
        let repartitioned = match self.algorithm {
            JoinAlgorithm::CachePartitioning => again,
            _ if switches || self.algorithm == JoinAlgorithm::EnhancedCachePartitioning => {
                again + 2.0 * PER_STAGE
            }
            _ => 0.0,
        };
        let extracted = if in_place {
            tuples * PER_SLOT + positives * PER_POINTER
        } else {
            0.0
        };
        let paired = if self.algorithm.buffers_pairs() {
            PER_PAIR + 2.0 * f64::from(self.tuple_bytes / self.line_bytes)
        } else {
            0.0
        };
        if self.algorithm.sorts() {
            let matched = self.matches() * match_events;
            let events = self.work_of_sorting(build + tuples) + matched;
            return Work::estimate(0.0, events, 0.0);
        }
        let events = build * (PER_BUILD + 2.0 * stages)
            + positives * (PER_PROBE + 3.0 * stages)
            + self.matches() * (match_events + paired)
            + (build + tuples) * repartitioned
            + extracted;
        Work::estimate(0.0, events, 0.0)
    }

    /// More is reserved than is touched if lengths differ: room for as many tuples of the longest.
    pub(super) fn estimated_memory(&self) -> Memory {
        let touched = Self {
            tuple_lengths: TupleLengths::Fixed,
            tuple_bytes: self.lengths().mean(),
            ..self.clone()
        };
        Memory {
            running: touched.reserved_memory().running,
            ..self.reserved_memory()
        }
    }

    fn reserved_memory(&self) -> Memory {
        let pages = |pages: u64| pages.saturating_mul(self.page_bytes.into());
        let format = self.mean_format();
        let build = pages(format.pages(self.build_tuples));
        let Passing { tuples, positives } = self.passing();
        let probe = pages(format.pages(tuples as u64));
        let arrays = if self.algorithm.inspects() {
            positives as u64 * 2 * u64::from(WORD)
        } else {
            0
        };
        let sorts = self.algorithm.sorts();
        let entries = self.out_of_order() * (self.build_tuples as f64 + tuples);
        let table = if sorts {
            // Two arrays of the larger side, and one for merging.
            entries as u64 * 3 * 2 * u64::from(WORD)
        } else {
            self.build_tuples * (HEADER_BYTES + MOST_CELLS * CELL_BYTES)
        };
        let orders = if sorts || self.order == TupleOrder::NearlySorted {
            (self.build_tuples + self.probe_tuples) * SORTED_BYTES
        } else {
            0
        };
        let output = pages(output::pages(self, self.matches() as u64));
        let threads = 0..self.threads;
        let sub_pages = threads.flat_map(|thread| self.sub_pages_of(thread));
        let sub_partitions = pages(sub_pages.sum());
        let running = build + probe + table + sub_partitions + arrays + orders;
        let (parameter, remedy) = if output > running {
            ("output", "take `output: reused`")
        } else {
            ("probe_tuples", "take fewer tuples")
        };
        Memory {
            building: 0,
            running: running.saturating_add(output),
            piece: build.max(probe).max(table).max(sub_partitions).max(output),
            parameter,
            remedy,
        }
    }
}
