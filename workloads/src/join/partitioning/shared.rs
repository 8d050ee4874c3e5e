//! What the threads of a run make for each other: filters, out of which others are made, by which all test.

use super::counts::Counts;
use super::filter_table::FilterTable;
use super::sift::Tests;
use super::spec::{FilterLayout, Filtering, PartitionWorkload};
use crate::arena::{Arena, Far};
use crate::board::Board;
use crate::join::filter::{Conversion, Filters, Many, row_bytes};
use crate::tracer::Trace;
use std::sync::Arc;

/// A thread's filters, and which partitions' they are; without a table they are one.
#[derive(Debug)]
struct Inspected {
    filters: Arc<Filters>,
    table: Option<FilterTable>,
}

/// Boards of what threads leave.
#[derive(Debug)]
pub(super) struct Shared {
    /// By thread: its filters, its stripe of the merged one, its counts.
    inspected: Board<Inspected>,
    stripes: Board<Arena<Far>>,
    counts: Board<Counts>,
    /// By partition.
    many: Board<Many>,
}

impl Shared {
    pub(super) fn new(workload: &PartitionWorkload) -> Self {
        Self {
            inspected: Board::of(workload.threads),
            stripes: Board::of(workload.threads),
            counts: Board::of(workload.threads),
            many: Board::of(workload.partitions),
        }
    }

    /// A thread has filled its filters.
    pub(super) fn leave_filters(
        &self,
        workload: &PartitionWorkload,
        thread: u32,
        (filters, table): (Filters, Option<FilterTable>),
    ) {
        if workload.merges() || table.is_some() {
            let filters = Arc::new(filters);
            let inspected = Inspected { filters, table };
            self.inspected.leave(thread, Arc::new(inspected));
        } else {
            let whole = filters.into_memory();
            self.stripes.leave(thread, Arc::new(whole));
        }
    }

    /// A thread has counted its probe tuples.
    pub(super) fn leave_counts(&self, thread: u32, counts: Counts) {
        self.counts.leave(thread, Arc::new(counts));
    }

    /// Does a thread's part of making filters for tests out of those of all threads; they go to an address. Returns how many filters of
    /// partitions that were.
    pub(super) fn make<T: Trace>(
        &self,
        workload: &PartitionWorkload,
        thread: u32,
        trace: &mut T,
        base: u64,
    ) -> u64 {
        if workload.filter == Filtering::Multiple {
            return self.convert(workload, thread, trace, base);
        }
        if workload.merges() {
            let all = self.inspected.all();
            let filters: Vec<_> = all.iter().map(|one| Arc::clone(&one.filters)).collect();
            let stripe = workload.merge(base).run(trace, thread, &filters);
            self.stripes.leave(thread, Arc::new(stripe));
        }
        0
    }

    /// Collects the filters of a thread's share of the partitions, and converts them if they are to be tested as a whole.
    fn convert<T: Trace>(
        &self,
        workload: &PartitionWorkload,
        thread: u32,
        trace: &mut T,
        base: u64,
    ) -> u64 {
        let all = self.inspected.all();
        let (mut address, mut made) = (base, 0);
        for partition in 0..workload.partitions {
            let tables = || {
                all.iter()
                    .filter_map(|one| Some((one, one.table.as_ref()?)))
            };
            let counts = tables().map(|(_, table)| table.count(trace, partition).value);
            let filters: u32 = counts.sum();
            if partition % workload.threads == thread {
                let mut sources = Vec::new();
                for (one, table) in tables() {
                    let numbers = table.filters(trace, partition).into_iter();
                    sources.extend(numbers.map(|number| (Arc::clone(&one.filters), number)));
                }
                let many = match workload.filter_layout {
                    FilterLayout::Horizontal => Many::horizontal(sources),
                    FilterLayout::Vertical => {
                        let conversion = Conversion {
                            filters: sources,
                            bits: workload.filter_bits(),
                            line_bytes: workload.line_bytes,
                            ahead: workload.filters_ahead(),
                        };
                        Many::Vertical(conversion.run(trace, address))
                    }
                };
                self.many.leave(partition, Arc::new(many));
                made += u64::from(filters);
            }
            address += u64::from(workload.filter_bits()) * u64::from(row_bytes(filters));
        }
        made
    }

    /// What all threads made, to test by.
    pub(super) fn tests(&self, workload: &PartitionWorkload, base: u64) -> Tests {
        if workload.filter == Filtering::Multiple {
            return Tests::OfPartitions(self.many.all(), workload.filter_bits());
        }
        Tests::One(workload.merge(base).merged(&self.stripes))
    }

    /// Finds out, for a thread's share of the partitions, whether build keys are duplicates: by whole sub-partitions that a probe tuple
    /// matches on average. Returns of how many they are.
    pub(super) fn look_for_duplicates<T: Trace>(
        &self,
        workload: &PartitionWorkload,
        thread: u32,
        trace: &mut T,
    ) -> u64 {
        let (all, many) = (self.counts.all(), self.many.all());
        let mut found = 0;
        for (partition, filters) in (0..).zip(many) {
            if partition % workload.threads == thread {
                let (mut ids, mut tuples) = (0, 0);
                for counts in &all {
                    let (more_ids, more) = counts.add_up(trace, partition, filters.filters());
                    (ids, tuples) = (ids + more_ids, tuples + more);
                }
                let average = ids.checked_div(tuples).unwrap_or(0);
                found += u64::from(average >= workload.switch_at.into());
            }
        }
        found
    }
}
