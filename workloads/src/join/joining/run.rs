//! Runs a join: each thread builds and probes the tables of its partitions.

use super::build::Build;
use super::inspector::{Arrays, Filters, ListScan, Passed, extract, probe_partition};
use super::output::Output;
use super::pairs::{Buffered, Pairs};
use super::places::{PartitionPlaces, Places};
use super::probe::Probe;
use super::sites;
use super::sort_merge::{self, Entries, Groups, merge};
use super::spec::JoinWorkload;
use super::sub_partitions::SubPartitions;
use super::table::Table;
use super::tuples::{Side, Tuples};
use crate::family::Kernel;
use crate::join::ahead::Reuse;
use crate::join::algorithm::OutputPages;
use crate::join::one_by_one;
use crate::join::relation::Relation;
use crate::join::scan::Scan;
use crate::join::sites::Site;
use crate::join::stored::Stored;
use crate::outcome::Outcome;
use crate::tracer::Trace;
use traces::Layout;

/// Phases: before the join, partitioning again or sorting pointers if the algorithm does that, building and probing, or sorting and merging.
const PHASES: [&str; 7] = [
    "start",
    "re-partition",
    "extract",
    "build",
    "probe",
    "sort",
    "merge",
];
const REPARTITION: usize = 1;
const EXTRACT: usize = 2;
const BUILD: usize = 3;
const PROBE: usize = 4;
const SORT: usize = 5;
const MERGE: usize = 6;

/// A workload with its addresses.
#[derive(Clone, Debug)]
pub(crate) struct JoinRun {
    workload: JoinWorkload,
    places: Places,
}

/// What a thread is to join, one pair of partitions after the other.
enum Pair<'p> {
    Hashed(Box<Inputs<'p>>),
    /// Both sides, each divided into tuples in order and others.
    Sorted(Box<[sort_merge::Inputs; 2]>),
}

/// The inputs of a partition.
struct Inputs<'p> {
    build: Relation,
    probe: Relation,
    /// What an inspector's filters let pass.
    passed: Option<&'p Passed>,
    places: PartitionPlaces,
}

/// What a thread uses for one pair of partitions after the other.
struct Workspace {
    output: Output,
    /// States of tuples under way.
    states: u64,
    /// Of build and probe tuples, if partitions are partitioned again.
    sub_partitions: Option<[SubPartitions; 2]>,
    /// Pointers to the probe tuples of each sub-partition, if build tuples stay where they are.
    arrays: Option<Arrays>,
    /// What is found before it is visited, if it is buffered.
    pairs: Option<Pairs>,
    /// What is sorted, and the build tuples of one key, if sides are merged.
    sorted: Option<(Entries, Groups)>,
}

impl Kernel for JoinRun {
    fn layout(&self) -> Layout {
        Layout {
            segments: self.places.segments.clone(),
            sites: self.sites().iter().map(ToString::to_string).collect(),
            phases: self.phases().map(ToString::to_string).collect(),
            calls: Vec::new(),
        }
    }

    fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
        let workload = &self.workload;
        trace.mark(0);
        let mut workspace = self.workspace(thread);
        let partitions = workload.partitions_of(thread);
        let mut pairs: Vec<Pair<'_>> = partitions.map(|number| self.pair(number)).collect();
        if T::NATIVE {
            // What the processor is timed at is the join alone.
            workspace.output.touch();
            let sub_partitions = workspace.sub_partitions.iter_mut().flatten();
            sub_partitions.for_each(SubPartitions::touch);
            workspace.arrays.iter_mut().for_each(Arrays::touch);
            let sorted = workspace.sorted.iter_mut();
            sorted.for_each(|(entries, _)| entries.touch());
            pairs.iter_mut().for_each(Pair::make_all);
        }
        // Who has emptied the caches waits for those that still do.
        trace.flush();
        trace.barrier();
        for mut pair in pairs {
            if trace.failed() {
                break;
            }
            match &mut pair {
                Pair::Hashed(inputs) => self.join(trace, inputs, &mut workspace),
                Pair::Sorted(sides) => self.sort_and_merge(trace, sides, &mut workspace),
            }
        }
        workspace.output.close(trace);
        trace.end();
        let mut outcome = Outcome::default();
        let probed = workload.partitions_of(thread);
        let probed = probed.map(|number| workload.share(workload.probe_tuples, number));
        outcome.set("operations", probed.sum());
        outcome.set("returned", workspace.output.tuples);
        outcome.set("checksum", workspace.output.checksum());
        outcome
    }
}

impl Pair<'_> {
    fn make_all(&mut self) {
        match self {
            Self::Hashed(inputs) => {
                inputs.build.make_all();
                inputs.probe.make_all();
            }
            Self::Sorted(sides) => sides.iter_mut().for_each(sort_merge::Inputs::make_all),
        }
    }
}

impl JoinRun {
    pub(super) fn new(workload: &JoinWorkload) -> Self {
        Self {
            places: Places::new(workload),
            workload: workload.clone(),
        }
    }

    fn pair(&self, number: u32) -> Pair<'_> {
        let Some([build, probe]) = self.places.divided(number) else {
            return Pair::Hashed(Box::new(self.inputs(number)));
        };
        let (format, places) = (
            self.workload.partition_format(),
            self.places.partition(number),
        );
        let stored = |base| self.stored(base);
        Pair::Sorted(Box::new([
            build.inputs(format, places.build, stored),
            probe.inputs(format, places.probe, stored),
        ]))
    }

    /// Where pages are read from that are to lie from an address on, if they are on storage.
    fn stored(&self, base: u64) -> Option<Stored> {
        let (first, ahead) = (
            self.places.stored_page(base),
            u64::from(self.workload.pages_asked_ahead),
        );
        (ahead > 0).then_some(Stored { first, ahead })
    }

    fn inputs(&self, number: u32) -> Inputs<'_> {
        let (workload, places) = (&self.workload, self.places.partition(number));
        let side = |side, base| {
            let tuples = Tuples::new(workload, number, side);
            Relation::new(workload.partition_format(), Box::new(tuples), base)
                .on_storage(self.stored(base))
        };
        let passed = self.places.passed(number);
        Inputs {
            build: side(Side::Build, places.build),
            probe: match passed {
                Some(passed) => {
                    let filters = Filters::new(workload, number);
                    probe_partition(workload, &filters, (places.probe, passed.pages))
                        .on_storage(self.stored(places.probe))
                }
                None => side(Side::Probe, places.probe),
            },
            passed,
            places,
        }
    }

    fn workspace(&self, thread: u32) -> Workspace {
        let (workload, pages) = (&self.workload, self.places.output(thread));
        let stored = workload.output == OutputPages::Stored;
        let sub_partitions = self.places.sub_partitions(thread);
        let arrays = self.places.arrays(thread);
        Workspace {
            output: Output::new(
                workload,
                pages,
                stored.then(|| self.places.stored_page(pages.0)),
                workload.ahead_of_output(),
            ),
            states: self.places.states(thread),
            sub_partitions: sub_partitions
                .map(|sides| sides.map(|places| SubPartitions::new(workload, places))),
            arrays: arrays.map(|places| Arrays::new(places, workload.line_bytes)),
            pairs: workload
                .algorithm
                .buffers_pairs()
                .then(|| Pairs::new(self.places.pairs(thread), workload.prefetch_distance)),
            sorted: self
                .places
                .sorts(thread)
                .map(|places| (Entries::new(places), Groups::new(places))),
        }
    }

    /// Places in the code: where partitions are partitioned again, that of partitioning, too.
    fn sites(&self) -> Vec<&'static str> {
        if self.workload.algorithm.sorts() {
            sort_merge::all_sites().collect()
        } else if self.workload.algorithm.buffers_pairs() {
            sites::all(self.workload.algorithm.inspects() && self.workload.algorithm.repartitions())
                .collect()
        } else if self.workload.algorithm.repartitions() {
            Site::NAMES.to_vec()
        } else {
            Site::of_joins().to_vec()
        }
    }

    /// The phases that there are.
    fn phases(&self) -> impl Iterator<Item = &'static str> {
        let numbers = (0..PHASES.len()).filter(|&phase| self.has(phase));
        numbers.map(|phase| PHASES[phase])
    }

    fn has(&self, phase: usize) -> bool {
        match phase {
            REPARTITION => self.workload.algorithm.repartitions(),
            EXTRACT => self.workload.algorithm.inspects(),
            BUILD | PROBE => !self.workload.algorithm.sorts(),
            SORT | MERGE => self.workload.algorithm.sorts(),
            _ => true,
        }
    }

    /// A phase begins.
    fn mark<T: Trace>(&self, trace: &mut T, phase: usize) {
        let before = (0..phase).filter(|&phase| self.has(phase));
        trace.mark(before.count() as u16);
    }

    /// Joins a pair of partitions, or the pairs of their sub-partitions.
    fn join<T: Trace>(&self, trace: &mut T, inputs: &mut Inputs<'_>, workspace: &mut Workspace) {
        let in_place = inputs
            .passed
            .is_some_and(|passed| !passed.choose(trace, &self.workload));
        if in_place {
            self.join_in_place(trace, inputs, workspace);
        } else if self.workload.algorithm.repartitions() {
            self.join_again_partitioned(trace, inputs, workspace);
        } else {
            let mut table = Table::new(inputs.places.table);
            let pair = (&mut inputs.build, &mut inputs.probe);
            self.join_pair(trace, &mut table, pair, workspace);
        }
    }

    /// Sorts what is out of order of both sides, and merges them.
    fn sort_and_merge<T: Trace>(
        &self,
        trace: &mut T,
        [build, probe]: &mut [sort_merge::Inputs; 2],
        workspace: &mut Workspace,
    ) {
        let (Some((entries, groups)), output) = (&mut workspace.sorted, &mut workspace.output)
        else {
            return;
        };
        self.mark(trace, SORT);
        let order = self.workload.stages_order();
        merge(
            trace,
            order,
            (build, probe),
            (entries, groups),
            output,
            |trace| self.mark(trace, MERGE),
        );
    }

    /// Partitions a pair of partitions again, and joins the pairs of sub-partitions.
    fn join_again_partitioned<T: Trace>(
        &self,
        trace: &mut T,
        inputs: &mut Inputs<'_>,
        workspace: &mut Workspace,
    ) {
        let (order, states) = (self.workload.repartitioning_order(), workspace.states);
        let mut table = Table::new(inputs.places.table);
        let Some([mut of_build, mut of_probe]) = workspace.sub_partitions.take() else {
            return;
        };
        self.mark(trace, REPARTITION);
        let ahead = order.ahead(true);
        let mut scan = Scan::new(ahead);
        let from = (&mut inputs.build, &mut scan);
        let (mut build, build_pages) = of_build.fill(trace, order, from, states);
        let from = &mut inputs.probe;
        let (mut probe, probe_pages) = if inputs.passed.is_some() {
            let mut scan = ListScan::new(ahead, order.line_bytes);
            of_probe.fill(trace, order, (from, &mut scan), states)
        } else {
            of_probe.fill(trace, order, (from, &mut Scan::new(ahead)), states)
        };
        for (build_pages, probe_pages) in build_pages.into_iter().zip(probe_pages) {
            build.choose(build_pages);
            probe.choose(probe_pages);
            self.join_pair(trace, &mut table, (&mut build, &mut probe), workspace);
        }
        of_build.take_back(build);
        of_probe.take_back(probe);
        workspace.sub_partitions = Some([of_build, of_probe]);
    }

    /// Joins sub-partitions of consecutive pages, each with the probe tuples that may match there.
    fn join_in_place<T: Trace>(
        &self,
        trace: &mut T,
        inputs: &mut Inputs<'_>,
        workspace: &mut Workspace,
    ) {
        let (line_bytes, build) = (self.workload.line_bytes, &mut inputs.build);
        let (Some(arrays), Some(pairs)) = (&mut workspace.arrays, &mut workspace.pairs) else {
            return;
        };
        let Some(passed) = inputs.passed else {
            return;
        };
        self.mark(trace, EXTRACT);
        extract(trace, &inputs.probe, (arrays, passed), line_bytes);
        let mut table = Table::new(inputs.places.table);
        let mut scan = Scan::new(self.workload.stages_order().ahead(true));
        for sub_partition in 0..passed.tuples.len() as u64 {
            self.mark(trace, BUILD);
            scan.go_on_until(self.workload.pages_of(sub_partition).end);
            table.begin(trace);
            let mut insert = self.insert(&mut table);
            one_by_one::run(&mut insert, trace, &mut scan, build);
            self.mark(trace, PROBE);
            let probe = self.probe(&table, build, &mut workspace.output);
            let mut buffered = Buffered { probe, pairs };
            let mut reading = arrays.begin(trace, sub_partition);
            while let Some(input) = arrays.next(trace, &mut reading, &inputs.probe) {
                buffered.look_up(trace, &inputs.probe, input);
            }
            buffered.visit(trace, &inputs.probe);
        }
    }

    fn insert<'t>(&self, table: &'t mut Table) -> Build<'t> {
        Build {
            table,
            line_bytes: self.workload.line_bytes,
            interleaved: self.workload.stages_order().algorithm.interleaves(),
        }
    }

    fn probe<'p>(
        &self,
        table: &'p Table,
        build: &'p Relation,
        output: &'p mut Output,
    ) -> Probe<'p> {
        Probe {
            table,
            build,
            output,
            line_bytes: self.workload.line_bytes,
        }
    }

    /// Builds a table of one side, and probes it with the other.
    fn join_pair<T: Trace>(
        &self,
        trace: &mut T,
        table: &mut Table,
        (from, with): (&mut Relation, &mut Relation),
        workspace: &mut Workspace,
    ) {
        let (order, states) = (self.workload.stages_order(), workspace.states);
        self.mark(trace, BUILD);
        table.begin(trace);
        // Building reads slots only, but it is entire input pages that are prefetched (thesis section 4.7.1), if any are.
        let mut insert = self.insert(table);
        order.go_through(&mut insert, trace, from, states);
        self.mark(trace, PROBE);
        let mut probe = self.probe(table, from, &mut workspace.output);
        let Some(pairs) = &mut workspace.pairs else {
            return order.go_through(&mut probe, trace, with, states);
        };
        // Tuples are prefetched when they are found.
        let slots = order.ahead(false);
        let mut scan = Scan::new(slots.map(|ahead| ahead.with(Reuse::None)));
        let mut buffered = Buffered { probe, pairs };
        while let Some(input) = scan.next(with, trace) {
            buffered.look_up(trace, with, input);
        }
        buffered.visit(trace, with);
    }
}
