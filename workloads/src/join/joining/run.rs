//! Runs a join: each thread builds and probes the tables of its partitions.

use super::build::Build;
use super::output::Output;
use super::places::{PartitionPlaces, Places};
use super::probe::Probe;
use super::spec::JoinWorkload;
use super::sub_partitions::SubPartitions;
use super::table::Table;
use super::tuples::{Side, Tuples};
use crate::family::Kernel;
use crate::join::relation::Relation;
use crate::join::sites::Site;
use crate::outcome::Outcome;
use crate::tracer::Trace;
use traces::Layout;

/// Phases: before the join, partitioning again if the algorithm does that, building, probing.
const PHASES: [&str; 4] = ["start", "re-partition", "build", "probe"];
const REPARTITION: usize = 1;
const BUILD: usize = 2;
const PROBE: usize = 3;

/// A workload with its addresses.
#[derive(Clone, Debug)]
pub(crate) struct JoinRun {
    workload: JoinWorkload,
    places: Places,
}

/// The inputs of a partition.
struct Inputs {
    build: Relation,
    probe: Relation,
    places: PartitionPlaces,
}

/// What a thread uses for one pair of partitions after the other.
struct Workspace {
    output: Output,
    /// States of tuples under way.
    states: u64,
    /// Of build and probe tuples, if partitions are partitioned again.
    sub_partitions: Option<[SubPartitions; 2]>,
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
        let mut inputs: Vec<Inputs> = partitions.map(|number| self.inputs(number)).collect();
        if T::NATIVE {
            // What the processor is timed at is the join alone.
            workspace.output.touch();
            let sub_partitions = workspace.sub_partitions.iter_mut().flatten();
            sub_partitions.for_each(SubPartitions::touch);
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

    fn inputs(&self, number: u32) -> Inputs {
        let (workload, places) = (&self.workload, self.places.partition(number));
        let side = |side, base| {
            let tuples = Tuples::new(workload, number, side);
            Relation::new(workload.partition_format(), Box::new(tuples), base)
        };
        Inputs {
            build: side(Side::Build, places.build),
            probe: side(Side::Probe, places.probe),
            places,
        }
    }

    fn workspace(&self, thread: u32) -> Workspace {
        let (workload, (base, pages)) = (&self.workload, self.places.output(thread));
        let sub_partitions = self.places.sub_partitions(thread);
        Workspace {
            output: Output::new(workload, pages, base, workload.order().ahead(true)),
            states: self.places.states(thread),
            sub_partitions: sub_partitions
                .map(|sides| sides.map(|places| SubPartitions::new(workload, places))),
        }
    }

    /// Places in the code: where partitions are partitioned again, that of partitioning, too.
    fn sites(&self) -> &'static [&'static str] {
        if self.workload.algorithm.repartitions() {
            Site::NAMES
        } else {
            Site::of_joins()
        }
    }

    /// The phases that there are.
    fn phases(&self) -> impl Iterator<Item = &'static str> {
        let numbers = (0..PHASES.len()).filter(|&phase| self.has(phase));
        numbers.map(|phase| PHASES[phase])
    }

    fn has(&self, phase: usize) -> bool {
        phase != REPARTITION || self.workload.algorithm.repartitions()
    }

    /// A phase begins.
    fn mark<T: Trace>(&self, trace: &mut T, phase: usize) {
        let before = (0..phase).filter(|&phase| self.has(phase));
        trace.mark(before.count() as u16);
    }

    /// Joins a pair of partitions, or the pairs of their sub-partitions.
    fn join<T: Trace>(&self, trace: &mut T, inputs: &mut Inputs, workspace: &mut Workspace) {
        let mut table = Table::new(inputs.places.table);
        let (build, probe) = (&mut inputs.build, &mut inputs.probe);
        let (output, states) = (&mut workspace.output, workspace.states);
        let Some([of_build, of_probe]) = &mut workspace.sub_partitions else {
            return self.join_pair(trace, &mut table, (build, probe), output, states);
        };
        self.mark(trace, REPARTITION);
        let order = self.workload.order();
        let (mut build, build_pages) = of_build.fill(trace, order, build, states);
        let (mut probe, probe_pages) = of_probe.fill(trace, order, probe, states);
        for (build_pages, probe_pages) in build_pages.into_iter().zip(probe_pages) {
            build.choose(build_pages);
            probe.choose(probe_pages);
            let pair = (&mut build, &mut probe);
            self.join_pair(trace, &mut table, pair, output, states);
        }
        of_build.take_back(build);
        of_probe.take_back(probe);
    }

    /// Builds a table of one side, and probes it with the other.
    fn join_pair<T: Trace>(
        &self,
        trace: &mut T,
        table: &mut Table,
        (from, with): (&mut Relation, &mut Relation),
        output: &mut Output,
        states: u64,
    ) {
        let (order, line_bytes) = (self.workload.order(), self.workload.line_bytes);
        self.mark(trace, BUILD);
        table.begin(trace);
        let mut build = Build {
            table,
            line_bytes,
            interleaved: order.algorithm.interleaves(),
        };
        // Building reads slots only. Where the cache is to hold the build tuples when they are probed, they are prefetched with these.
        let of_tuples = self.workload.algorithm.repartitions();
        order.go_through(&mut build, trace, (from, of_tuples), states);
        self.mark(trace, PROBE);
        let mut probe = Probe {
            table,
            build: from,
            output,
            line_bytes,
        };
        order.go_through(&mut probe, trace, (with, true), states);
    }
}
