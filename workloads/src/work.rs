//! How much work a workload is, before it runs: what progress and the time left are estimated from, and nothing else.
//!
//! Each family estimates its own; the numbers were fitted to the events that the kernels emit, and a test holds them to that.

use crate::warm_up::WarmUp;
use serde::Serialize;

/// An estimate of the work of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Work {
    /// Steps of building what the workload runs on, each about as long as an event; nothing if it was built before.
    pub building: u64,
    /// Events that the run emits, calls among them.
    pub events: u64,
    /// Calls of the host DBMS among the events; a machine with a DBMS profile spends most of its time on them.
    pub calls: u64,
}

impl Work {
    /// An estimate of fitted numbers.
    pub(crate) fn estimate(building: f64, events: f64, calls: f64) -> Self {
        // Conversions saturate: nothing that a workload can say overflows.
        Self {
            building: building as u64,
            events: events as u64,
            calls: calls as u64,
        }
    }
}

/// Events that finding the length of a warm-up, and then the warm-up, take together: between a hundred times less and
/// twenty times more, as the machine's caches are.
const FINDING_AND_WARMING: f64 = 6e6;

/// Events of a warm-up, one of whose operations has so many.
pub(crate) fn warming(warm_up: Option<WarmUp>, each: f64) -> f64 {
    match warm_up {
        Some(WarmUp::Operations(operations)) => operations as f64 * each,
        Some(WarmUp::Auto) => FINDING_AND_WARMING.max(4.0 * each),
        None => 0.0,
    }
}
