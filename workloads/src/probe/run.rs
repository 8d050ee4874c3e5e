//! Runs the probes of a thread.

use super::bucket::{Bucket, Buckets};
use super::chaining::{self, Frame, Slot};
use super::keys::ProbeKeys;
use super::lookup::Probes;
use super::places::Places;
use super::results::Found;
use super::sites::Site;
use super::spec::{Interleaving, ProbeWorkload, Results};
use super::states::States;
use super::table::Table;
use super::{group, one_by_one};
use crate::family::Kernel;
use crate::outcome::Outcome;
use crate::tracer::Trace;
use std::sync::Arc;
use traces::Layout;

/// A workload with its table.
#[derive(Clone, Debug)]
pub(crate) struct ProbeRun {
    workload: ProbeWorkload,
    table: Arc<Table>,
    pub(super) places: Places,
}

impl ProbeRun {
    pub(super) fn new(workload: &ProbeWorkload, table: Arc<Table>) -> Self {
        Self {
            workload: workload.clone(),
            places: Places::new(workload, &table),
            table,
        }
    }

    /// Has the algorithm run, compiled for buckets of this length.
    fn interleave<const BYTES: usize, T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
        match self.workload.interleaving {
            Interleaving::OneByOne => self.probe(thread, trace, one_by_one::run::<BYTES, T>),
            Interleaving::Group => self.probe(thread, trace, group::run::<BYTES, T>),
            Interleaving::Amac => self.probe(thread, trace, chaining::run::<BYTES, Slot, T>),
            Interleaving::Coroutine => self.probe(thread, trace, chaining::run::<BYTES, Frame, T>),
        }
    }

    /// Runs an algorithm, in a function of its own: beside others it would have fewer registers.
    #[inline(never)]
    fn probe<const BYTES: usize, T: Trace>(
        &self,
        thread: u32,
        trace: &mut T,
        algorithm: impl for<'t> FnOnce(&mut T, &mut Probes<'t, BYTES>, &mut States<Bucket<'t, BYTES>>),
    ) -> Outcome {
        let workload = &self.workload;
        let own = workload.tuples_of(thread);
        let operations = own.end - own.start;
        let mut keys = ProbeKeys::new(workload, own.clone());
        if T::NATIVE {
            keys.make();
        }
        let found = match workload.results {
            Results::Counted => Found::default(),
            Results::Stored => {
                let addresses = self.places.results(thread, own.start);
                Found::stored::<T>(addresses, operations)
            }
        };
        let mut probes = Probes {
            buckets: Buckets::of(&self.table),
            multiplies: self.table.multiplies(),
            keys,
            input: self.places.probes(),
            found,
        };
        let states = &mut States::new(self.places.states(thread), workload.in_flight);
        trace.mark(0);
        trace.flush();
        trace.barrier();
        trace.mark(1);
        algorithm(trace, &mut probes, states);
        trace.end();
        let mut outcome = Outcome::default();
        outcome.set("operations", operations);
        outcome.set("returned", probes.found.matches);
        outcome.set("checksum", probes.found.checksum.value());
        outcome
    }
}

impl Kernel for ProbeRun {
    fn layout(&self) -> Layout {
        let names = match self.workload.results {
            Results::Counted => &Site::NAMES[..Site::ResultPlace as usize],
            Results::Stored => Site::NAMES,
        };
        Layout {
            segments: self.places.segments.clone(),
            sites: names.iter().map(ToString::to_string).collect(),
            phases: vec!["start".into(), "probe".into()],
            calls: Vec::new(),
        }
    }

    fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
        // Half a line or a line.
        match self.table.spec().bucket_bytes() {
            32 => self.interleave::<32, T>(thread, trace),
            _ => self.interleave::<64, T>(thread, trace),
        }
    }
}
