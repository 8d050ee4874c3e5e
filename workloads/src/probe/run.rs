//! Runs the probes of a thread.

use super::chaining::{self, Frame, Slot};
use super::keys::ProbeKeys;
use super::lookup::Probes;
use super::places::Places;
use super::results::StoredResults;
use super::sites::Site;
use super::spec::{Interleaving, ProbeWorkload, Results};
use super::states::States;
use super::table::Table;
use super::{group, one_by_one};
use crate::family::Kernel;
use crate::outcome::{Checksum, Outcome};
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
        let workload = &self.workload;
        let own = workload.tuples_of(thread);
        let operations = own.end - own.start;
        let mut keys = ProbeKeys::new(workload);
        if T::NATIVE {
            keys.make(own.clone());
        }
        let results = (workload.results == Results::Stored).then(|| {
            let addresses = self.places.results(thread, own.start);
            StoredResults::new::<T>(addresses, operations)
        });
        let mut probes = Probes {
            table: &self.table,
            keys,
            input: self.places.probes(),
            left: own,
            matches: 0,
            checksum: Checksum::default(),
            results,
        };
        let states = &mut States::new(self.places.states(thread), workload.in_flight);
        trace.mark(0);
        trace.barrier();
        trace.mark(1);
        match workload.interleaving {
            Interleaving::OneByOne => one_by_one::run(trace, &mut probes),
            Interleaving::Group => group::run(trace, &mut probes, states),
            Interleaving::Amac => chaining::run::<Slot, T>(trace, &mut probes, states),
            Interleaving::Coroutine => chaining::run::<Frame, T>(trace, &mut probes, states),
        }
        trace.end();
        let mut outcome = Outcome::default();
        outcome.set("operations", operations);
        outcome.set("returned", probes.matches);
        outcome.set("checksum", probes.checksum.value());
        outcome
    }
}
