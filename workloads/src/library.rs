//! From a workload to its events: has its family build what it needs, and keep what later workloads may need again.

use crate::families::{AnyKernel, Kept, Workload};
use crate::family::Kernel;
use crate::native::{self, Measured, NativeError, Observer, Options};
use crate::outcome::Outcome;
use crate::threads::{self, Thread};
use crate::tracer::Tracer;
use crate::validate::WorkloadError;
use crate::warm_up::WarmUp;
use crate::watch::{self, Stopped};
use std::sync::Arc;
use traces::{Event, EventSink, Layout, SinkError};

/// Prepares workloads and keeps what the most recent ones ran on.
#[derive(Clone, Debug, Default)]
pub struct Library {
    kept: Kept,
}

/// A workload ready to run, as often as wanted: every run gives the same events.
#[derive(Clone, Debug)]
pub struct Prepared {
    layout: Layout,
    kernel: Arc<AnyKernel>,
    threads: u32,
}

impl Library {
    /// A library that keeps nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Validates a workload and builds what it needs.
    ///
    /// # Errors
    /// As [`Workload::validate`]; or the length of the warm-up has to be found first, on a machine.
    pub fn prepare(&mut self, workload: &Workload) -> Result<Prepared, WorkloadError> {
        workload.validate()?;
        if workload.warm_up() == Some(WarmUp::Auto) {
            let message = "`auto` is found on a machine, and here is none; give a number of operations, or name a machine";
            return Err(WorkloadError::new("warm_up", message));
        }
        let kernel = self.kept.prepare(workload)?;
        let layout = kernel.layout();
        debug_assert_eq!(layout.problem(), None, "{workload:?}");
        Ok(Prepared {
            layout,
            kernel: Arc::new(kernel),
            threads: workload.threads(),
        })
    }

    /// Whether what the workload runs on is kept from an earlier one.
    #[must_use]
    pub fn holds(&self, workload: &Workload) -> bool {
        self.kept.holds(workload)
    }
}

impl Prepared {
    /// The names that the events will refer to.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Threads of the kernel.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// Events after which another thread goes on where one core has them all; none if each goes on up to its next barrier.
    #[must_use]
    pub fn slice(&self) -> Option<u32> {
        self.kernel.slice()
    }

    /// Begins a run whose threads give their events when they are asked; [`threads::outcome`] is what they leave.
    #[must_use]
    pub fn begin(&self) -> Vec<Thread> {
        threads::begin(&self.kernel, self.threads)
    }

    /// Runs the kernel into `sink`; several threads in turns, as on one core.
    ///
    /// # Errors
    /// The sink's first error, at which the kernel is stopped; or [`SinkError::Interrupted`] if whoever watches stops it.
    pub fn run(&self, sink: &mut dyn EventSink) -> Result<Outcome, SinkError> {
        if self.threads > 1 {
            return self.take_turns(|_, events| sink.consume(events));
        }
        // Without a change of stacks.
        let mut tracer = Tracer::new(sink);
        let ran = watch::stoppable(|| self.kernel.run(0, &mut tracer));
        tracer.finish()?;
        ran.map_err(|Stopped| SinkError::Interrupted)
    }

    /// Runs the threads of the kernel in turns, each up to its next barrier or for a slice ([`Prepared::slice`]); `take` has the events with
    /// their thread's number.
    ///
    /// # Errors
    /// As for [`Prepared::run`].
    pub fn take_turns(
        &self,
        take: impl FnMut(usize, &[Event]) -> Result<(), SinkError>,
    ) -> Result<Outcome, SinkError> {
        let mut threads = self.begin();
        threads::take_turns(&mut threads, self.slice(), take)?;
        Ok(threads::outcome(threads))
    }

    /// Runs the kernel on this processor, as [`native::measure`] says; the outcome is that of [`Prepared::run`].
    ///
    /// # Errors
    /// If `observer` breaks off, the workload's memory is too large, or its threads cannot run so.
    pub fn run_native(
        &self,
        options: Options,
        observer: Observer<'_>,
    ) -> Result<Measured, NativeError> {
        self.kernel.check_native()?;
        native::measure(
            &self.layout,
            self.threads,
            options,
            observer,
            |thread, native| self.kernel.run(thread, native),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracer::{Dep, Token, Trace};
    use serde_json::{Value, json};
    use std::time::{Duration, Instant};
    use traces::Kind;

    /// Looks at the clock where operations begin, and at what they do first; what comes in pauses is no part of them.
    struct Stopwatch {
        began: Instant,
        marked: Option<Instant>,
        before: Duration,
        until_first: Duration,
        pauses: u32,
        paused: bool,
    }

    impl Stopwatch {
        fn of(workload: &Value) -> Self {
            let workload = serde_json::from_value(workload.clone()).expect("a workload");
            let prepared = Library::new().prepare(&workload).expect("it can run");
            let mut watch = Self {
                began: Instant::now(),
                marked: None,
                before: Duration::ZERO,
                until_first: Duration::ZERO,
                pauses: 0,
                paused: false,
            };
            prepared.kernel.run(0, &mut watch);
            watch
        }
    }

    impl Trace for Stopwatch {
        fn emit(&mut self, event: Event, _dep: Dep) -> Token {
            assert!(!self.paused, "{event:?} in a pause");
            if event.kind == Kind::Mark && event.address > 0 {
                self.before = self.began.elapsed();
                self.marked = Some(Instant::now());
            } else if let Some(marked) = self.marked.take() {
                self.until_first = marked.elapsed();
            }
            Token::NONE
        }

        fn work(&mut self, _instructions: u32) {}

        fn failed(&self) -> bool {
            false
        }

        fn pause(&mut self) {
            self.paused = true;
            self.pauses += 1;
        }

        fn resume(&mut self) {
            self.paused = false;
        }
    }

    /// What is changed is a copy, and copying takes much longer than what comes first in a change.
    #[test]
    fn copies_are_made_before_operations_begin() {
        let table = |more: &Value| {
            let mut workload = json!({"kernel": "table", "operation": "update", "records": 100_000, "attributes": 8});
            for (name, value) in more.as_object().expect("a map") {
                workload[name] = value.clone();
            }
            workload
        };
        for workload in [
            table(&json!({"layout": "nsm"})),
            table(&json!({"layout": "pax"})),
            table(&json!({"layout": "dsm"})),
            table(&json!({"layout": "nsm", "operation": "delete"})),
            json!({"kernel": "tpch", "query": "update", "layout": "nsm", "scale_factor": 0.01}),
        ] {
            let watch = Stopwatch::of(&workload);
            assert!(
                watch.until_first < watch.before,
                "{workload}: {:?} before its mark, {:?} behind it",
                watch.before,
                watch.until_first
            );
        }
    }

    /// Blocks of 1024 of 15,000 records, the end, and before them how long the data file is.
    #[test]
    fn rows_are_generated_in_pauses() {
        for layout in ["nsm", "dsm", "pax"] {
            let watch = Stopwatch::of(&json!({
                "kernel": "tpch", "query": "load", "layout": layout, "scale_factor": 0.01, "tables": ["orders"]
            }));
            assert_eq!(watch.pauses, 15_000 / 1024 + 3, "{layout}");
            assert!(!watch.paused);
        }
    }
}
