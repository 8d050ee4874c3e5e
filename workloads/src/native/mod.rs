//! Kernels on the host's own processor: real loads from memory laid out as simulated, real prefetch instructions, and
//! a clock that runs during the operations only.

mod clock;
mod eviction;
mod meeting;
mod mispredictions;
mod processor;
pub(crate) mod streaming;
mod tracer;

pub use mispredictions::{BranchTimes, measure_branches};
pub use processor::{CacheGeometry, Processor, TlbEntries, clock_hz, processor};
pub use tracer::Native;
pub(crate) use tracer::TIMED_PHASE;
use tracer::Timed;

use crate::outcome::Outcome;
use crate::validate::WorkloadError;
use clock::Clock;
use eviction::Eviction;
use meeting::Meeting;
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::num::NonZero;
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
    /// Timed intervals of a repetition, in which any thread ran: one, or one per operation if each finds empty caches, and one more for each
    /// look at the observer and for each meeting of threads.
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

/// Runs the threads of a kernel on this processor, `options.repetitions` times after one run that warms it up and says what the
/// outcome must be. Repetitions find the caches as the kernel asks for. The time is that in which any thread ran, but for where they meet.
///
/// # Errors
/// If `observer` breaks off, the memory of `layout` is too large, or the host has fewer processors than there are threads.
///
/// # Panics
/// If a repetition's outcome differs: what was timed would not be what was asked for. If threads wait for others that have
/// ended.
pub(crate) fn measure(
    layout: &Layout,
    threads: u32,
    options: Options,
    observer: Observer<'_>,
    run: impl Fn(u32, &mut Native<'_>) -> Outcome + Sync,
) -> Result<Measured, NativeError> {
    check_memory(&layout.segments)?;
    check_processors(threads)?;
    let clock = Clock::calibrated();
    let eviction = Eviction::of(options.evict_bytes);
    let mut times_ns = Vec::with_capacity(options.repetitions as usize);
    let (mut operations, mut intervals) = (0, 0);
    let mut expected: Option<Outcome> = None;
    for repetition in 0..=options.repetitions {
        let meeting = Meeting::of(threads);
        let thread = |number: u32, observer: Observer<'_>| {
            let _member = meeting.join();
            let mut native = Native::new(&eviction, &meeting, operations, observer);
            let outcome = black_box(run(number, &mut native));
            Some((outcome, native.finish()?))
        };
        let runs = side_by_side(threads, &thread, &meeting, observer);
        assert!(
            !meeting.was_missed(),
            "threads wait at a barrier for others that have ended"
        );
        let (outcome, timed) = runs.ok_or(NativeError::Interrupted)?;
        let expected = expected.get_or_insert_with(|| outcome.clone());
        assert_eq!(*expected, outcome, "outcome of repetition {repetition}");
        operations = timed.operations;
        if repetition > 0 {
            let (time, number) = clock.covered(timed.ran);
            times_ns.push(time.as_secs_f64() * 1e9);
            intervals = number;
        }
    }
    Ok(Measured {
        times_ns,
        clock_ns: clock.cost_ns(),
        intervals,
        prefetches: traces::host_prefetch::AVAILABLE,
        outcome: expected.unwrap_or_default(),
    })
}

/// Runs each thread on a thread of the host, the first on this one; the outcome and the time of all together, or nothing if they
/// were stopped.
fn side_by_side(
    threads: u32,
    thread: &(impl Fn(u32, Observer<'_>) -> Option<(Outcome, Timed)> + Sync),
    meeting: &Meeting,
    observer: Observer<'_>,
) -> Option<(Outcome, Timed)> {
    // Whoever observes hears of the first thread, and has all stopped.
    let stopped = |_| match meeting.is_stopped() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .map(|number| scope.spawn(move || thread(number, &mut { stopped })))
            .collect();
        let mut together = thread(0, observer);
        for other in others {
            let ran = other
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            together = together
                .zip(ran)
                .map(|((outcome, timed), (more, other))| (outcome.and(more), timed.beside(other)));
        }
        together
    })
}

/// Checks that each thread can have a processor: on fewer, their turns would be timed.
fn check_processors(threads: u32) -> Result<(), WorkloadError> {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    if threads as usize <= processors {
        return Ok(());
    }
    let message = format!(
        "{threads}, which natively take as many processors; this host has {processors} for memwalk"
    );
    Err(WorkloadError::new("threads", message))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracer::Trace;
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    const OPTIONS: Options = Options {
        repetitions: 3,
        evict_bytes: 0,
    };

    /// Each thread writes, waits, and sees what all have written.
    fn sums(threads: u32, observer: Observer<'_>) -> Result<Measured, NativeError> {
        let written = AtomicU64::new(0);
        measure(
            &Layout::default(),
            threads,
            OPTIONS,
            observer,
            |number, native| {
                native.barrier();
                native.mark(TIMED_PHASE);
                for _ in 0..1000 {
                    written.fetch_add(1, SeqCst);
                    native.barrier();
                    let sum = written.load(SeqCst);
                    assert_eq!(sum % u64::from(threads), 0, "thread {number}");
                    native.barrier();
                }
                native.end();
                let mut outcome = Outcome::default();
                outcome.set("rounds", 1000_u64);
                outcome
            },
        )
    }

    /// What a kernel does in a pause is not timed, and no pause begins the timed phase.
    #[test]
    fn pauses_are_not_timed() {
        let nap = std::time::Duration::from_millis(20);
        for (phase, sleeps_in_pause, timed) in [
            (TIMED_PHASE, true, false),
            (TIMED_PHASE, false, true),
            (0, false, false),
        ] {
            let observer: Observer<'_> = &mut |_| ControlFlow::Continue(());
            let measured = measure(&Layout::default(), 1, OPTIONS, observer, |_, native| {
                native.mark(phase);
                native.pause();
                if sleeps_in_pause {
                    std::thread::sleep(nap);
                }
                native.resume();
                if !sleeps_in_pause {
                    std::thread::sleep(nap);
                }
                native.end();
                Outcome::default()
            });
            let least = measured.expect("nobody stops it").times_ns.into_iter();
            let least = least.fold(f64::INFINITY, f64::min);
            assert_eq!(least >= nap.as_nanos() as f64, timed, "{least} ns");
        }
    }

    /// Preparation is not timed, all phases behind it are.
    #[test]
    fn every_phase_but_the_first_is_timed() {
        let pause = std::time::Duration::from_millis(20);
        for (slow, timed) in [(0, false), (TIMED_PHASE, true), (TIMED_PHASE + 1, true)] {
            let observer: Observer<'_> = &mut |_| ControlFlow::Continue(());
            let measured = measure(&Layout::default(), 1, OPTIONS, observer, |_, native| {
                for phase in 0..=TIMED_PHASE + 1 {
                    native.mark(phase);
                    if phase == slow {
                        std::thread::sleep(pause);
                    }
                }
                native.end();
                Outcome::default()
            });
            let least = measured.expect("nobody stops it").times_ns.into_iter();
            let least = least.fold(f64::INFINITY, f64::min);
            assert_eq!(
                least >= pause.as_nanos() as f64,
                timed,
                "phase {slow}: {least} ns"
            );
        }
    }

    /// One thread comes 60 ms late, from what is not timed; then both work for 5 ms.
    #[test]
    fn waiting_at_a_barrier_is_not_timed() {
        if check_processors(2).is_err() {
            return;
        }
        let [late, works] = [60, 5].map(std::time::Duration::from_millis);
        let observer: Observer<'_> = &mut |_| ControlFlow::Continue(());
        let measured = measure(
            &Layout::default(),
            2,
            OPTIONS,
            observer,
            |number, native| {
                native.mark(TIMED_PHASE);
                if number == 1 {
                    native.pause();
                    std::thread::sleep(late);
                }
                native.barrier();
                native.resume();
                std::thread::sleep(works);
                native.end();
                Outcome::default()
            },
        );
        let least = measured.expect("nobody stops it").times_ns.into_iter();
        let least = least.fold(f64::INFINITY, f64::min);
        assert!(
            (works.as_nanos() as f64..late.as_nanos() as f64).contains(&least),
            "{least} ns"
        );
    }

    #[test]
    fn threads_run_side_by_side_and_meet() {
        let two = sums(2, &mut |_| ControlFlow::Continue(()));
        if std::thread::available_parallelism().is_ok_and(|processors| processors.get() == 1) {
            let error = two.expect_err("two threads take two processors");
            assert!(
                error
                    .to_string()
                    .starts_with("threads: 2, which natively take")
            );
            return;
        }
        let two = two.expect("nobody stops it");
        assert_eq!(two.outcome.metrics["rounds"], 2000);
        assert_eq!(two.times_ns.len(), 3);
        assert!(two.times_ns.iter().all(|&time| time > 0.0));
    }

    #[test]
    fn more_threads_than_processors_are_refused() {
        let error =
            sums(100_000, &mut |_| ControlFlow::Continue(())).expect_err("no host has them");
        assert!(
            error
                .to_string()
                .contains("natively take as many processors")
        );
    }
}
