//! From a workload to its events: has its family build what it needs, and keep what later workloads may need again.

use crate::families::{AnyKernel, Kept, Workload};
use crate::family::Kernel;
use crate::native::{self, Measured, NativeError, Observer, Options};
use crate::outcome::Outcome;
use crate::tracer::{Tracer, Untraced};
use crate::validate::WorkloadError;
use crate::warm_up::WarmUp;
use crate::watch::{self, Stopped};
use traces::{EventSink, Layout, SinkError};

/// Prepares workloads and keeps what the most recent ones ran on.
#[derive(Clone, Debug, Default)]
pub struct Library {
    kept: Kept,
}

/// A workload ready to run, as often as wanted: every run gives the same events.
#[derive(Clone, Debug)]
pub struct Prepared {
    layout: Layout,
    kernel: AnyKernel,
}

/// The thread that runs: so far every kernel has one.
const THREAD: u32 = 0;

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
        debug_assert_eq!(kernel.threads(), 1, "{workload:?}");
        Ok(Prepared { layout, kernel })
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

    /// Runs the kernel into `sink`.
    ///
    /// # Errors
    /// The sink's first error, at which the kernel is stopped; or [`SinkError::Interrupted`] if whoever watches stops it.
    pub fn run(&self, sink: &mut dyn EventSink) -> Result<Outcome, SinkError> {
        let mut tracer = Tracer::new(sink);
        let ran = watch::stoppable(|| self.kernel.run(THREAD, &mut tracer));
        tracer.finish()?;
        ran.map_err(|Stopped| SinkError::Interrupted)
    }

    /// Runs the kernel without a trace, for its outcome alone.
    #[must_use]
    pub fn run_untraced(&self) -> Outcome {
        self.kernel.run(THREAD, &mut Untraced)
    }

    /// Runs the kernel on this processor, as [`native::measure`] says; the outcome is that of [`Prepared::run`].
    ///
    /// # Errors
    /// If `observer` breaks off, or the workload's memory is too large.
    pub fn run_native(
        &self,
        options: Options,
        observer: Observer<'_>,
    ) -> Result<Measured, NativeError> {
        native::measure(&self.layout, options, observer, |native| {
            self.kernel.run(THREAD, native)
        })
    }
}
