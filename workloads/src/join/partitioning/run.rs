//! Runs partitioning: each thread scans its part of the input once.

use super::places::Places;
use super::spec::PartitionWorkload;
use super::tuples::Tuples;
use crate::family::Kernel;
use crate::join::buffers::Buffers;
use crate::join::distribute::Distribute;
use crate::join::relation::Relation;
use crate::join::sites::Site;
use crate::outcome::Outcome;
use crate::tracer::Trace;
use traces::Layout;

/// Phases: before it, and partitioning.
const PHASES: [&str; 2] = ["start", "partition"];
const PARTITION: u16 = 1;

/// A workload with its addresses.
#[derive(Clone, Debug)]
pub(crate) struct PartitionRun {
    workload: PartitionWorkload,
    places: Places,
}

impl PartitionRun {
    pub(super) fn new(workload: &PartitionWorkload) -> Self {
        Self {
            places: Places::new(workload),
            workload: workload.clone(),
        }
    }
}

impl Kernel for PartitionRun {
    fn layout(&self) -> Layout {
        Layout {
            segments: self.places.segments.clone(),
            sites: Site::NAMES.iter().map(ToString::to_string).collect(),
            phases: PHASES.iter().map(ToString::to_string).collect(),
            calls: Vec::new(),
        }
    }

    fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
        let (workload, places) = (&self.workload, self.places.threads[thread as usize]);
        trace.mark(0);
        let tuples = Tuples::new(workload, workload.tuples_of(thread));
        let mut input = Relation::new(workload.input_format(), Box::new(tuples), places.input);
        let memory = places.buffers.memory(workload.output_format());
        let mut buffers = Buffers::new(workload.buffers(), places.buffers, memory);
        if T::NATIVE {
            // What the processor is timed at is partitioning alone.
            buffers.touch();
            input.make_all();
        }
        trace.barrier();
        trace.flush();
        trace.mark(PARTITION);
        buffers.open(trace);
        let order = workload.order();
        let mut distribute = Distribute {
            buffers: &mut buffers,
            interleaved: order.algorithm.interleaves(),
        };
        order.go_through(&mut distribute, trace, (&mut input, true), places.states);
        buffers.close(trace);
        trace.end();
        let own = workload.tuples_of(thread);
        let (found, checksum) = buffers.found();
        let mut outcome = Outcome::default();
        outcome.set("operations", own.end - own.start);
        outcome.set("returned", found);
        outcome.set("checksum", checksum);
        outcome
    }
}
