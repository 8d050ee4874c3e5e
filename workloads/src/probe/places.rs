//! Where everything lies.

use super::results::{PLACE_BYTES, RESULT_BYTES};
use super::spec::{ProbeWorkload, Results};
use super::states::STATE_BYTES;
use super::table::Table;
use crate::arena::{Reservation, place};
use crate::buckets::TUPLE_BYTES;
use traces::Segment;

/// Segments, in their order.
enum Part {
    Probes = 1,
    States,
    Results,
    ResultPlaces,
}

/// The simulated addresses of a run.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) segments: Vec<Segment>,
    in_flight: u64,
}

impl Places {
    pub(super) fn new(workload: &ProbeWorkload, table: &Table) -> Self {
        let in_flight = u64::from(workload.in_flight);
        let mut reservations = vec![
            // First, so that its addresses are the same whatever probes it.
            table.spec().reservation(),
            Reservation::of("probe input", TUPLE_BYTES, workload.probe_tuples),
            Reservation::of(
                "state",
                STATE_BYTES,
                in_flight * u64::from(workload.threads),
            ),
        ];
        if workload.results == Results::Stored {
            reservations.push(Reservation::of(
                "results",
                RESULT_BYTES,
                workload.probe_tuples,
            ));
            let places = u64::from(workload.threads);
            reservations.push(Reservation::of("result places", PLACE_BYTES, places));
        }
        let segments = place(&reservations);
        debug_assert_eq!(segments[0], table.memory.segments()[0]);
        Self {
            segments,
            in_flight,
        }
    }

    /// Address of the probe tuples of all threads.
    pub(super) fn probes(&self) -> u64 {
        self.segments[Part::Probes as usize].base
    }

    /// Where the results of probe tuples from `number` on go, and where a thread keeps the place of the next; if results are stored.
    pub(super) fn results(&self, thread: u32, number: u64) -> (u64, u64) {
        let base = |part: Part| self.segments[part as usize].base;
        let results = base(Part::Results) + number * RESULT_BYTES;
        let place = base(Part::ResultPlaces) + u64::from(thread) * PLACE_BYTES;
        (results, place)
    }

    /// Where a thread's states of probes under way begin.
    pub(super) fn states(&self, thread: u32) -> u64 {
        let before = u64::from(thread) * self.in_flight;
        self.segments[Part::States as usize].base + before * STATE_BYTES
    }
}
