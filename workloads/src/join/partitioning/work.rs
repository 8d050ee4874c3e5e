//! How much work partitioning is, and how much memory it takes.

use super::counts;
use super::spec::Input;
use super::spec::{Filtering, PartitionWorkload};
use crate::join::algorithm::{OutputPages, PassAlgorithm};
use crate::join::buffers::ENTRY_BYTES;
use crate::join::costs::COPY_STEP_BYTES;
use crate::join::lengths::TupleLengths;
use crate::join::nearly_sorted::{SORTED_BYTES, TupleOrder};
use crate::memory::Memory;
use crate::work::Work;

/// Events of a tuple, without its copy.
const PER_TUPLE: f64 = 9.0;
/// Events of prefetching input pages, and of states, prefetches and the holders of pages.
const PER_SIMPLE: f64 = 2.0;
const PER_INTERLEAVED: f64 = 18.0;
/// Events of a partition's first and last page.
const PER_PARTITION: f64 = 6.0;

/// Events of telling whether a tuple is in order, and of one that is not and is copied once more.
const PER_ORDERED: f64 = 6.0;
const PER_APART: f64 = 15.0;

/// The same of filters: setting or testing bits, which interleaved algorithms look for twice; finding ids, and the bits of a tuple in a
/// conversion.
const PER_KEY: f64 = 14.0;
const PER_PREFETCHED_KEY: f64 = 10.0;
const PER_ID: f64 = 8.0;
const PER_CONVERTED: f64 = 16.0;

impl PartitionWorkload {
    pub(super) fn estimated_work(&self) -> Work {
        let partitions = f64::from(self.partitions) * f64::from(self.threads);
        // The key, and the rest of the tuple.
        let lengths = self.lengths();
        let steps = 1 + (lengths.mean() - 4).div_ceil(COPY_STEP_BYTES);
        let copy = lengths.events_of_copy(steps.into());
        let more = match self.algorithm {
            PassAlgorithm::Grace => 0.0,
            PassAlgorithm::Simple => PER_SIMPLE,
            PassAlgorithm::Group | PassAlgorithm::Pipelined => PER_INTERLEAVED,
        };
        let pages = match self.algorithm {
            PassAlgorithm::Simple => {
                let turned = self.tuples as f64 / f64::from(self.mean_tuples());
                (partitions + turned) * f64::from(self.page_bytes) / f64::from(self.line_bytes)
            }
            _ => 0.0,
        };
        // Where the tuple begins and ends is read and written.
        let per_tuple = PER_TUPLE + more + copy + lengths.events_of_lengths(2.0);
        let events = self.tuples as f64 * per_tuple + partitions * PER_PARTITION + pages;
        let of_filters = self.work_of_filters(per_tuple);
        let of_orders = self.work_of_orders(copy);
        Work::estimate(0.0, events + of_filters + of_orders, 0.0)
    }

    /// Tuples on an output page, if all have the mean length.
    fn mean_tuples(&self) -> u32 {
        let format = self.output_format();
        format.of_length(self.lengths().mean()).tuples()
    }

    /// Events of looking for tuples out of order, the copy of one of which takes so many.
    fn work_of_orders(&self, copy: f64) -> f64 {
        if !self.looks_for_order() {
            return 0.0;
        }
        let apart = match self.order {
            TupleOrder::Random => 1.0,
            TupleOrder::NearlySorted => (2.0 * self.displaced).min(1.0),
        };
        let room = u64::from(self.order_buffer_pages) * u64::from(self.output_format().tuples());
        let room = (room * u64::from(self.threads)) as f64;
        let of_relation = |&input: &Input| {
            let tuples = self.tuples(input) as f64;
            let apart = (tuples * apart).min(room);
            // Nobody looks any further where there is no more room.
            let looked = if apart < room {
                tuples
            } else {
                (2.0 * room).min(tuples)
            };
            looked * PER_ORDERED + apart * (PER_APART + copy)
        };
        self.inputs().iter().map(of_relation).sum()
    }

    /// Events that there are for the sake of filters, those of the probe relation included.
    fn work_of_filters(&self, per_tuple: f64) -> f64 {
        if self.filter == Filtering::None {
            return 0.0;
        }
        let (build, probe) = (self.tuples as f64, self.probe_tuples as f64);
        let kept = self.match_share + (1.0 - self.match_share) * self.false_positive_rate;
        let per_key = match self.algorithm.interleaves() {
            true => PER_KEY + PER_PREFETCHED_KEY,
            false => PER_KEY,
        };
        let cleared = |bytes: u64| bytes as f64 / f64::from(COPY_STEP_BYTES);
        let filters = f64::from(self.filters_of_thread()) * f64::from(self.threads);
        let made = match self.filter {
            Filtering::None => 0.0,
            Filtering::Single => f64::from(u8::from(self.merges())) * (filters + 1.0),
            Filtering::Multiple => filters * (1.0 + f64::from(COPY_STEP_BYTES / 4)),
        };
        let converted = match self.filter {
            Filtering::Multiple => build * PER_CONVERTED + probe * kept * PER_ID,
            _ => 0.0,
        };
        (build + probe) * per_key
            // What is dropped is not copied.
            + probe * (per_tuple * kept + PER_TUPLE * (1.0 - kept))
            + cleared(self.filter_bytes()) * (filters + made)
            + converted
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
        let threads = u64::from(self.threads);
        let relations = self.inputs().len() as u64;
        // The last page of a thread's input may be nearly empty.
        let format = self.input_format().of_length(self.lengths().mean());
        let of_relation = |&input| format.pages(self.tuples(input)) + threads;
        let input = pages(self.inputs().iter().map(of_relation).sum());
        let first = u64::from(self.partitions) * threads * relations;
        let table = first * ENTRY_BYTES;
        let output = pages(self.all_output_pages());
        let filters = self.filter_bytes() * u64::from(self.filters_of_thread()) * threads
            + self.made_bytes()
            + self.bytes_of_filter_tables();
        let (parameter, remedy) = if pages(first) > input {
            ("partitions", "take fewer partitions")
        } else if self.output != OutputPages::Reused {
            ("output", "take `output: reused`")
        } else {
            ("tuples", "take fewer tuples")
        };
        let tuples = self
            .inputs()
            .iter()
            .map(|&input| self.tuples(input))
            .sum::<u64>();
        let orders = match self.order {
            TupleOrder::Random => 0,
            TupleOrder::NearlySorted => tuples * SORTED_BYTES,
        };
        // What is in the buffers is at most what there is.
        let buffers = (self.order_buffer_bytes() * threads * relations).min(2 * input);
        Memory {
            building: 0,
            running: input + table + output + filters + orders + buffers,
            piece: input.max(output).max(filters),
            parameter,
            remedy,
        }
    }

    /// Filter tables and counts.
    fn bytes_of_filter_tables(&self) -> u64 {
        let counts = counts::bytes(self.partitions, self.most_filters());
        match self.filter {
            Filtering::Multiple => {
                (self.filter_table(0).bytes() + counts) * u64::from(self.threads)
            }
            Filtering::None | Filtering::Single => 0,
        }
    }
}
