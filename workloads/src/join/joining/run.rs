//! Runs a join: each thread builds and probes the tables of its partitions.

use super::build::Build;
use super::inspector::{Arrays, Filters, Passed, extract, probe_partition};
use super::output::Output;
use super::pairs::{Buffered, Pairs};
use super::places::{PartitionPlaces, Places};
use super::probe::Probe;
use super::sites;
use super::spec::JoinWorkload;
use super::sub_partitions::SubPartitions;
use super::table::Table;
use super::tuples::{Side, Tuples};
use crate::family::Kernel;
use crate::join::ahead::Reuse;
use crate::join::one_by_one;
use crate::join::relation::Relation;
use crate::join::scan::Scan;
use crate::join::sites::Site;
use crate::outcome::Outcome;
use crate::tracer::Trace;
use traces::Layout;

/// Phases: before the join, partitioning again or sorting pointers if the algorithm does that, building, probing.
const PHASES: [&str; 5] = ["start", "re-partition", "extract", "build", "probe"];
const REPARTITION: usize = 1;
const EXTRACT: usize = 2;
const BUILD: usize = 3;
const PROBE: usize = 4;

/// A workload with its addresses.
#[derive(Clone, Debug)]
pub(crate) struct JoinRun {
    workload: JoinWorkload,
    places: Places,
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
        let mut inputs: Vec<Inputs<'_>> = partitions.map(|number| self.inputs(number)).collect();
        if T::NATIVE {
            // What the processor is timed at is the join alone.
            workspace.output.touch();
            let sub_partitions = workspace.sub_partitions.iter_mut().flatten();
            sub_partitions.for_each(SubPartitions::touch);
            workspace.arrays.iter_mut().for_each(Arrays::touch);
            for Inputs { build, probe, .. } in &mut inputs {
                build.make_all();
                probe.make_all();
            }
        }
        trace.barrier();
        trace.flush();
        for mut inputs in inputs {
            if trace.failed() {
                break;
            }
            self.join(trace, &mut inputs, &mut workspace);
        }
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

impl JoinRun {
    pub(super) fn new(workload: &JoinWorkload) -> Self {
        Self {
            places: Places::new(workload),
            workload: workload.clone(),
        }
    }

    fn inputs(&self, number: u32) -> Inputs<'_> {
        let (workload, places) = (&self.workload, self.places.partition(number));
        let side = |side, base| {
            let tuples = Tuples::new(workload, number, side);
            Relation::new(workload.partition_format(), Box::new(tuples), base)
        };
        let passed = self.places.passed(number);
        Inputs {
            build: side(Side::Build, places.build),
            probe: match passed {
                Some(passed) => {
                    let filters = Filters::new(workload, number);
                    probe_partition(workload, &filters, (places.probe, passed.pages))
                }
                None => side(Side::Probe, places.probe),
            },
            passed,
            places,
        }
    }

    fn workspace(&self, thread: u32) -> Workspace {
        let (workload, (base, pages)) = (&self.workload, self.places.output(thread));
        let sub_partitions = self.places.sub_partitions(thread);
        let arrays = self.places.arrays(thread);
        Workspace {
            output: Output::new(workload, pages, base, workload.order().ahead(true)),
            states: self.places.states(thread),
            sub_partitions: sub_partitions
                .map(|sides| sides.map(|places| SubPartitions::new(workload, places))),
            arrays: arrays.map(|places| Arrays::new(places, workload.line_bytes)),
            pairs: workload
                .algorithm
                .buffers_pairs()
                .then(|| Pairs::new(self.places.pairs(thread), workload.prefetch_distance)),
        }
    }

    /// Places in the code: where partitions are partitioned again, that of partitioning, too.
    fn sites(&self) -> Vec<&'static str> {
        if self.workload.algorithm.buffers_pairs() {
            sites::all().collect()
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
        if self.workload.algorithm.inspects() {
            self.join_in_place(trace, inputs, workspace);
        } else if self.workload.algorithm.repartitions() {
            self.join_again_partitioned(trace, inputs, workspace);
        } else {
            let mut table = Table::new(inputs.places.table);
            let pair = (&mut inputs.build, &mut inputs.probe);
            self.join_pair(trace, &mut table, pair, workspace);
        }
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
        let (mut build, build_pages) = of_build.fill(trace, order, &mut inputs.build, states);
        let (mut probe, probe_pages) = of_probe.fill(trace, order, &mut inputs.probe, states);
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
        for sub_partition in 0..passed.tuples.len() as u64 {
            self.mark(trace, BUILD);
            let pages = self.workload.pages_of(sub_partition);
            let mut scan = Scan::of_pages(self.workload.order().ahead(true), pages);
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
            interleaved: self.workload.order().algorithm.interleaves(),
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
        let (order, states) = (self.workload.order(), workspace.states);
        self.mark(trace, BUILD);
        table.begin(trace);
        // Building reads slots only. Where the cache is to hold the build tuples when they are probed, they are prefetched with these.
        let of_tuples = self.workload.algorithm.repartitions();
        let mut insert = self.insert(table);
        order.go_through(&mut insert, trace, (from, of_tuples), states);
        self.mark(trace, PROBE);
        let mut probe = self.probe(table, from, &mut workspace.output);
        let Some(pairs) = &mut workspace.pairs else {
            return order.go_through(&mut probe, trace, (with, true), states);
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
