//! Kernels on the host's own processor: real loads from memory laid out as simulated, real prefetch instructions, and
//! a clock that runs during the operations only.

mod clock;
mod eviction;
mod mispredictions;
mod prefetch;
mod processor;
mod tracer;

pub use mispredictions::{BranchTimes, measure_branches};
pub use processor::{CacheGeometry, Processor, TlbEntries, clock_hz, processor};
pub use tracer::Native;
pub(crate) use tracer::TIMED_PHASE;

use crate::outcome::Outcome;
use crate::validate::WorkloadError;
use clock::Clock;
use eviction::Eviction;
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::ops::ControlFlow;
use thiserror::Error;
use traces::host_memory::{Free, size};
use traces::{Layout, Segment};

/// Most memory that a workload may take.
const MOST_BYTES: u64 = 16 << 30;

/// How to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Measured runs; one more goes before them and is not measured.
    pub repetitions: u32,
    /// Bytes that are read to empty caches and TLBs: more than all of them hold.
    pub evict_bytes: u64,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Time of the timed phase of each repetition, in nanoseconds, without that of reading the clock.
    pub times_ns: Vec<f64>,
    /// What reading the clock twice takes, in nanoseconds; subtracted once per timed interval.
    pub clock_ns: f64,
    /// Timed intervals of a repetition: one, or one per operation if each finds empty caches, and one more for each
    /// look at the observer.
    pub intervals: u64,
    /// Whether prefetches were instructions: memwalk knows none for some processors.
    pub prefetches: bool,
    /// What the kernel left: the same in every repetition.
    pub outcome: Outcome,
}

/// Why nothing was measured.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NativeError {
    /// The observer stopped the measurement.
    #[error("interrupted")]
    Interrupted,
    /// The workload is not for this host.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

/// Is told the operations begun so far, a few times per second outside the timed intervals; may break off.
pub type Observer<'o> = &'o mut dyn FnMut(u64) -> ControlFlow<()>;

/// Runs a kernel on this processor, `options.repetitions` times after one run that warms it up and says what the outcome
/// must be. Repetitions find the caches as the kernel asks for.
///
/// # Errors
/// If `observer` breaks off, or the memory of `layout` is too large.
///
/// # Panics
/// If a repetition's outcome differs: what was timed would not be what was asked for.
pub(crate) fn measure(
    layout: &Layout,
    options: Options,
    observer: Observer<'_>,
    run: impl Fn(&mut Native<'_>) -> Outcome,
) -> Result<Measured, NativeError> {
    check_memory(&layout.segments)?;
    let clock = Clock::calibrated();
    let mut eviction = Eviction::of(options.evict_bytes);
    let mut times_ns = Vec::with_capacity(options.repetitions as usize);
    let (mut operations, mut intervals) = (0, 0);
    let mut expected: Option<Outcome> = None;
    for repetition in 0..=options.repetitions {
        let mut native = Native::new(clock, &mut eviction, operations, observer);
        let outcome = black_box(run(&mut native));
        let timed = native.finish().ok_or(NativeError::Interrupted)?;
        let expected = expected.get_or_insert_with(|| outcome.clone());
        assert_eq!(*expected, outcome, "outcome of repetition {repetition}");
        operations = timed.operations;
        if repetition > 0 {
            times_ns.push(timed.nanoseconds);
            intervals = timed.intervals;
        }
    }
    Ok(Measured {
        times_ns,
        clock_ns: clock.cost_ns(),
        intervals,
        prefetches: prefetch::AVAILABLE,
        outcome: expected.unwrap_or_default(),
    })
}

/// Checks that the segments' addresses can all be memory of the host: natively all of them are touched.
pub(crate) fn check_memory(segments: &[Segment]) -> Result<(), WorkloadError> {
    let end = segments
        .last()
        .map_or(0, |last| last.base + last.size_bytes);
    let free = Free::now().memory;
    let message = if end > MOST_BYTES {
        let gib = f64::from(1 << 30);
        format!(
            "{:.1} GiB of addresses; natively it must be at most {:.0} GiB",
            end as f64 / gib,
            MOST_BYTES as f64 / gib
        )
    } else if end > free {
        format!(
            "{} of addresses, which are all touched natively; {} of memory are free",
            size(end),
            size(free)
        )
    } else {
        return Ok(());
    };
    Err(WorkloadError::new("", message))
}
