//! Where everything lies.

use super::spec::ProbeWorkload;
use super::states::STATE_BYTES;
use super::table::Table;
use crate::arena::{Reservation, place};
use crate::buckets::TUPLE_BYTES;
use traces::Segment;

/// Segments, in their order.
enum Part {
    Probes = 1,
    States,
}

/// The simulated addresses of a run.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) segments: Vec<Segment>,
    in_flight: u64,
}

impl Places {
    pub(super) fn new(workload: &ProbeWorkload, table: &Table) -> Self {
        let named = |name: &str, object_bytes, objects| Reservation {
            name: name.into(),
            object_bytes,
            objects,
        };
        let in_flight = u64::from(workload.in_flight);
        let reservations = [
            // First, so that its addresses are the same whatever probes it.
            table.spec().reservation(),
            named("probe input", TUPLE_BYTES, workload.probe_tuples),
            named(
                "state",
                STATE_BYTES,
                in_flight * u64::from(workload.threads),
            ),
        ];
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

    /// Where a thread's states of probes under way begin.
    pub(super) fn states(&self, thread: u32) -> u64 {
        let before = u64::from(thread) * self.in_flight;
        self.segments[Part::States as usize].base + before * STATE_BYTES
    }
}
