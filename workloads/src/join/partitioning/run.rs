//! Runs partitioning: each thread scans its part of each relation once.

use super::counts::Counts;
use super::filter_table::FilterTable;
use super::inspect::Inspect;
use super::ordered::{Ordered, Sortedness};
use super::pass;
use super::places::{Places, RelationPlaces, ThreadPlaces};
use super::shared::Shared;
use super::sift::Sift;
use super::sites::Site as OrderSite;
use super::spec::Input;
use super::spec::{Filtering, PartitionWorkload};
use super::stored_pages::StoredPages;
use super::tuples::Tuples;
use crate::family::Kernel;
use crate::join::buffers::Buffers;
use crate::join::distribute::Distribute;
use crate::join::filter::{self, Filters};
use crate::join::relation::Relation;
use crate::join::scan::Scan;
use crate::join::sites::Site;
use crate::join::stored::Stored;
use crate::outcome::{Checksum, Outcome};
use crate::tracer::Trace;
use std::sync::Arc;
use traces::Layout;

/// Phases: before it, and partitioning.
const PHASES: [&str; 2] = ["start", "partition"];
const PARTITION: u16 = 1;
/// The same with filters: of one kind, and of the other.
const WITH_ONE: [&str; 4] = ["start", "build relation", "merge filters", "probe relation"];
const WITH_MANY: [&str; 5] = [
    "start",
    "build relation",
    "convert filters",
    "probe relation",
    "look for duplicates",
];
const BUILD: u16 = 1;
const MAKE: u16 = 2;
const PROBE: u16 = 3;
const LOOK: u16 = 4;

/// A workload with its addresses.
#[derive(Clone, Debug)]
pub(crate) struct PartitionRun {
    pub(super) workload: PartitionWorkload,
    places: Places,
    /// All tuples of each relation.
    tuples: Vec<Tuples>,
    /// What the threads make for each other.
    pub(super) shared: Arc<Shared>,
}

/// A relation of a thread, and the pages that it goes to.
#[derive(Debug)]
pub(super) struct Side {
    from: Relation,
    pub(super) buffers: Buffers,
    /// Who puts tuples out of order apart.
    ordered: Option<Ordered>,
}

/// What was found out of filters, and of orders.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filtered {
    /// Filters of partitions, probe tuples that were dropped, and ids that the others have.
    pub(super) filters: u64,
    pub(super) dropped: u64,
    pub(super) ids: u64,
    /// Partitions of which tuples match so many sub-partitions that they are to be partitioned again.
    pub(super) switched: u64,
    /// Tuples that were put apart, and relations of which they were too many.
    pub(super) out_of_order: u64,
    pub(super) unsorted: u64,
}

impl Filtered {
    fn add(&mut self, found: Sortedness) {
        self.out_of_order += found.out_of_order;
        self.unsorted += u64::from(found.overflowed);
    }
}

impl Kernel for PartitionRun {
    fn layout(&self) -> Layout {
        let looks = self.workload.looks_for_order();
        let filters: &[&str] = match self.workload.filter {
            Filtering::None if !looks => &[],
            _ => filter::Site::NAMES,
        };
        let of_order: &[&str] = if looks { OrderSite::NAMES } else { &[] };
        let sites = Site::NAMES.iter().chain(filters).chain(of_order);
        Layout {
            segments: self.places.segments.clone(),
            sites: sites.map(ToString::to_string).collect(),
            phases: self.phases().iter().map(ToString::to_string).collect(),
            calls: Vec::new(),
        }
    }

    fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
        trace.mark(0);
        let mut sides = self.sides(thread);
        if T::NATIVE {
            // What the processor is timed at is partitioning alone.
            for side in &mut sides {
                side.buffers.touch();
                side.from.make_all();
                side.ordered.iter_mut().for_each(Ordered::touch);
            }
        }
        // Who has emptied the caches waits for those that still do.
        trace.flush();
        trace.barrier();
        let filtered = self.partition(thread, trace, &mut sides);
        trace.end();
        self.outcome(thread, sides, filtered)
    }
}

impl PartitionRun {
    pub(super) fn new(workload: &PartitionWorkload) -> Self {
        Self {
            places: Places::new(workload),
            tuples: workload
                .inputs()
                .iter()
                .map(|&input| Tuples::new(workload, input))
                .collect(),
            shared: Arc::new(Shared::new(workload)),
            workload: workload.clone(),
        }
    }

    fn phases(&self) -> &'static [&'static str] {
        match self.workload.filter {
            Filtering::None => &PHASES,
            Filtering::Single => &WITH_ONE,
            Filtering::Multiple => &WITH_MANY,
        }
    }

    fn places(&self, thread: u32) -> &ThreadPlaces {
        &self.places.threads[thread as usize]
    }

    /// The relations that a thread partitions.
    pub(super) fn sides(&self, thread: u32) -> Vec<Side> {
        let workload = &self.workload;
        let relations = workload.inputs().iter().zip(&self.places(thread).relations);
        let ahead = u64::from(workload.pages_asked_ahead);
        let mut stored = StoredPages::default();
        let side = |((&input, places), tuples): ((&Input, &RelationPlaces), &Tuples)| {
            let (first, extents) = stored.relation(workload, input, thread);
            let tuples = tuples.part(workload.tuples_of(input, thread));
            let scan = || Scan::new(workload.stages_order().ahead(true));
            let order = places.order;
            let memory = places.buffers.memory(workload.output_format());
            let buffers = Buffers::new(workload.buffers(), places.buffers, memory);
            Side {
                from: Relation::new(workload.input_format(), Box::new(tuples), places.input)
                    .on_storage((ahead > 0).then_some(Stored { first, ahead })),
                buffers: buffers.with_slots(workload.slots(input)).stored_in(extents),
                ordered: order.map(|places| Ordered::new(scan(), workload.buffers(), places)),
            }
        };
        relations.zip(&self.tuples).map(side).collect()
    }

    /// Partitions what a thread has.
    pub(super) fn partition<T: Trace>(
        &self,
        thread: u32,
        trace: &mut T,
        sides: &mut [Side],
    ) -> Filtered {
        let workload = &self.workload;
        match sides {
            [build, probe] => self.partition_both(thread, trace, build, probe),
            _ => {
                trace.mark(PARTITION);
                let mut found = Filtered::default();
                for side in sides {
                    let Side { from, buffers, .. } = side;
                    buffers.open(trace);
                    let mut distribute = workload.distribute(buffers);
                    let states = self.places(thread).states;
                    let (order, inputs) = (workload.stages_order(), (from, side.ordered.take()));
                    found.add(pass::run(&mut distribute, trace, order, inputs, states));
                    buffers.close(trace);
                }
                found
            }
        }
    }

    /// Partitions a build relation, and what of a probe relation may have matches.
    fn partition_both<T: Trace>(
        &self,
        thread: u32,
        trace: &mut T,
        build: &mut Side,
        probe: &mut Side,
    ) -> Filtered {
        let (workload, shared) = (&self.workload, &self.shared);
        trace.mark(BUILD);
        let mut found = Filtered::default();
        let (filters, order) = self.inspect(thread, trace, build);
        found.add(order);
        shared.leave_filters(workload, thread, filters);
        trace.barrier();
        trace.mark(MAKE);
        let filters = shared.make(workload, thread, trace, self.places.made);
        trace.barrier();
        trace.mark(PROBE);
        let (dropped, counts, order) = self.sift(thread, trace, probe);
        found.add(order);
        found.dropped = dropped;
        found.ids = counts.sum();
        if workload.filter == Filtering::Multiple {
            shared.leave_counts(thread, counts);
            trace.barrier();
            trace.mark(LOOK);
            found.switched = shared.look_for_duplicates(workload, thread, trace);
        }
        found.filters = filters;
        found
    }

    /// Partitions the build relation. Returns filters of its keys.
    fn inspect<T: Trace>(
        &self,
        thread: u32,
        trace: &mut T,
        side: &mut Side,
    ) -> ((Filters, Option<FilterTable>), Sortedness) {
        let Side { from, buffers, .. } = side;
        let (workload, places) = (&self.workload, self.places(thread));
        let count = workload.filters_of_thread();
        let mut filters = Filters::new(places.filters, workload.filter_bits(), count);
        let multiple = workload.filter == Filtering::Multiple;
        let mut table = multiple.then(|| FilterTable::new(workload.filter_table(places.table)));
        match &mut table {
            None => filters.clear(trace, 0),
            Some(table) => table.open(trace),
        }
        buffers.open(trace);
        let mut inspect = Inspect {
            distribute: workload.distribute(buffers),
            filters: &mut filters,
            table: table.as_mut(),
        };
        let (order, inputs) = (workload.stages_order(), (from, side.ordered.take()));
        let found = pass::run(&mut inspect, trace, order, inputs, places.states);
        buffers.close(trace);
        ((filters, table), found)
    }

    /// Partitions the probe relation. Returns how many tuples were dropped, and how many each sub-partition has.
    fn sift<T: Trace>(
        &self,
        thread: u32,
        trace: &mut T,
        side: &mut Side,
    ) -> (u64, Counts, Sortedness) {
        let Side { from, buffers, .. } = side;
        let (workload, places) = (&self.workload, self.places(thread));
        let most = workload.most_filters();
        let mut counts = Counts::new(places.counts, workload.partitions, most);
        buffers.open(trace);
        let mut sift = Sift {
            distribute: workload.distribute(buffers),
            tests: &self.shared.tests(workload, self.places.made),
            counts: &mut counts,
            dropped: 0,
        };
        let (order, inputs) = (workload.stages_order(), (from, side.ordered.take()));
        let found = pass::run(&mut sift, trace, order, inputs, places.states);
        let dropped = sift.dropped;
        buffers.close(trace);
        (dropped, counts, found)
    }

    fn outcome(&self, thread: u32, sides: Vec<Side>, filtered: Filtered) -> Outcome {
        let workload = &self.workload;
        let tuples = workload.inputs().iter().map(|&input| {
            let own = workload.tuples_of(input, thread);
            own.end - own.start
        });
        let (mut returned, mut all) = (0, Checksum::default());
        for mut side in sides {
            let (found, checksum) = side.buffers.found();
            returned += found;
            all.add(checksum);
        }
        let mut outcome = Outcome::default();
        outcome.set("operations", tuples.sum());
        outcome.set("returned", returned);
        outcome.set("checksum", all.value());
        if workload.filter != Filtering::None {
            outcome.set("dropped", filtered.dropped);
        }
        if workload.filter == Filtering::Multiple {
            outcome.set("filters", filtered.filters);
            outcome.set("ids", filtered.ids);
            outcome.set("switched", filtered.switched);
        }
        if workload.looks_for_order() {
            outcome.set("out_of_order", filtered.out_of_order);
            outcome.set("unsorted", filtered.unsorted);
        }
        outcome
    }
}

impl PartitionWorkload {
    /// Copying tuples into output pages.
    fn distribute<'b>(&self, buffers: &'b mut Buffers) -> Distribute<'b> {
        Distribute {
            buffers,
            interleaved: self.algorithm.interleaves(),
        }
    }
}
