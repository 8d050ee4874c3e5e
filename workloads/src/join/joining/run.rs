//! Runs a join: each thread builds and probes the tables of its partitions.

use super::build::Build;
use super::output::Output;
use super::places::{PartitionPlaces, Places};
use super::probe::Probe;
use super::spec::JoinWorkload;
use super::table::Table;
use super::tuples::{Side, Tuples};
use crate::family::Kernel;
use crate::join::relation::Relation;
use crate::join::sites::Site;
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
    build: Relation,
    probe: Relation,
    places: PartitionPlaces,
}

impl Kernel for JoinRun {
    fn layout(&self) -> Layout {
        Layout {
            segments: self.places.segments.clone(),
            sites: Site::of_joins().iter().map(ToString::to_string).collect(),
            phases: PHASES.iter().map(ToString::to_string).collect(),
            calls: Vec::new(),
        }
    }

    fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
        let workload = &self.workload;
        trace.mark(0);
        let (base, pages) = self.places.output(thread);
        let mut output = Output::new(workload, pages, base, workload.order().ahead(true));
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

    /// Joins a pair of partitions. Returns how many pairs of tuples match.
    fn join<T: Trace>(
        &self,
        trace: &mut T,
        thread: u32,
        inputs: &mut Inputs,
        output: &mut Output,
    ) -> u64 {
        let (order, line_bytes) = (self.workload.order(), self.workload.line_bytes);
        let states = self.places.states(thread);
        let mut table = Table::new(inputs.places.table);
        trace.mark(BUILD);
        let mut build = Build {
            table: &mut table,
            line_bytes,
            interleaved: order.algorithm.interleaves(),
        };
        order.go_through(&mut build, trace, (&mut inputs.build, false), states);
        trace.mark(PROBE);
        let before = output.tuples;
        let mut probe = Probe {
            table: &table,
            build: &inputs.build,
            output,
            line_bytes,
        };
        order.go_through(&mut probe, trace, (&mut inputs.probe, true), states);
        output.tuples - before
    }
}
