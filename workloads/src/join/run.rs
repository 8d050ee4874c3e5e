//! Runs a join: each thread builds and probes the tables of its partitions.

use super::ahead::Ahead;
use super::build::Build;
use super::output::Output;
use super::partition::{Partition, Scan};
use super::places::{PartitionPlaces, Places};
use super::probe::Probe;
use super::sites::Site;
use super::spec::{JoinAlgorithm, JoinWorkload};
use super::table::Table;
use super::tuples::Side;
use super::visit::Stages;
use super::{group, one_by_one, pipeline};
use crate::family::Kernel;
use crate::outcome::Outcome;
use crate::tracer::Trace;
use traces::Layout;

/// Phases: before the join, building, probing.
const PHASES: [&str; 3] = ["start", "build", "probe"];
const BUILD: u16 = 1;
const PROBE: u16 = 2;

/// A workload with its addresses.
#[derive(Clone, Debug)]
pub(crate) struct JoinRun {
    workload: JoinWorkload,
    places: Places,
}

/// The inputs of a partition.
struct Inputs {
    build: Partition,
    probe: Partition,
    places: PartitionPlaces,
}

impl Kernel for JoinRun {
    fn layout(&self) -> Layout {
        Layout {
            segments: self.places.segments.clone(),
            sites: Site::NAMES.iter().map(ToString::to_string).collect(),
            phases: PHASES.iter().map(ToString::to_string).collect(),
            calls: Vec::new(),
        }
    }

    fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
        let workload = &self.workload;
        trace.mark(0);
        let (base, pages) = self.places.output(thread);
        let mut output = Output::new(workload, pages, base, self.ahead(true));
        let partitions = workload.partitions_of(thread);
        let mut inputs: Vec<Inputs> = partitions.map(|number| self.inputs(number)).collect();
        if T::NATIVE {
            // What the processor is timed at is the join alone.
            output.touch();
            for Inputs { build, probe, .. } in &mut inputs {
                build.make_all();
                probe.make_all();
            }
        }
        trace.barrier();
        trace.flush();
        let mut matched = 0;
        for mut inputs in inputs {
            if trace.failed() {
                break;
            }
            matched += self.join(trace, thread, &mut inputs, &mut output);
        }
        trace.end();
        let mut outcome = Outcome::default();
        let probed = workload.partitions_of(thread);
        let probed = probed.map(|number| workload.share(workload.probe_tuples, number));
        outcome.set("operations", probed.sum());
        outcome.set("returned", matched);
        outcome.set("checksum", output.checksum());
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

    /// What is prefetched of pages, if any are: of tuples and slots, or of slots alone.
    fn ahead(&self, of_tuples: bool) -> Option<Ahead> {
        let workload = &self.workload;
        workload.algorithm.prefetches_pages().then_some(Ahead {
            tuples: workload.page_ahead,
            line_bytes: workload.line_bytes,
            of_tuples,
        })
    }

    fn inputs(&self, number: u32) -> Inputs {
        let (workload, places) = (&self.workload, self.places.partition(number));
        Inputs {
            build: Partition::new(workload, number, Side::Build, places.build),
            probe: Partition::new(workload, number, Side::Probe, places.probe),
            places,
        }
    }

    /// Joins a pair of partitions. Returns how many pairs of tuples match.
    fn join<T: Trace>(
        &self,
        trace: &mut T,
        thread: u32,
        inputs: &mut Inputs,
        output: &mut Output,
    ) -> u64 {
        let line_bytes = self.workload.line_bytes;
        let mut table = Table::new(inputs.places.table);
        trace.mark(BUILD);
        let mut build = Build {
            table: &mut table,
            line_bytes,
            interleaved: self.workload.algorithm.interleaves(),
        };
        self.go_through(trace, thread, &mut build, &mut inputs.build, false);
        trace.mark(PROBE);
        let before = output.tuples;
        let mut probe = Probe {
            table: &table,
            build: &inputs.build,
            output,
            line_bytes,
        };
        self.go_through(trace, thread, &mut probe, &mut inputs.probe, true);
        output.tuples - before
    }

    /// Takes the tuples of a partition through stages, as the algorithm does.
    fn go_through<S: Stages, T: Trace>(
        &self,
        trace: &mut T,
        thread: u32,
        stages: &mut S,
        from: &mut Partition,
        of_tuples: bool,
    ) {
        let workload = &self.workload;
        let mut scan = Scan::new(self.ahead(of_tuples));
        let states = self.places.states(thread);
        match workload.algorithm {
            JoinAlgorithm::Grace | JoinAlgorithm::Simple => {
                one_by_one::run(stages, trace, &mut scan, from);
            }
            JoinAlgorithm::Group => {
                let group = (states, workload.group_size as usize);
                group::run(stages, trace, &mut scan, from, group);
            }
            JoinAlgorithm::Pipelined => {
                let pipeline = (states, workload.prefetch_distance as usize);
                pipeline::run(stages, trace, &mut scan, from, pipeline);
            }
        }
    }
}
