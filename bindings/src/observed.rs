//! Progress and Ctrl-C for long runs.

use crate::errors::run_error;
use pyo3::prelude::*;
use traces::{Event, EventSink, SinkError};

/// Events between two looks at Python: a few hundredths of a second of simulation.
const INTERVAL: u64 = 2_000_000;

/// A sink that reports how many events passed and stops at Ctrl-C.
pub(crate) struct Observed<'s> {
    sink: &'s mut dyn EventSink,
    progress: Option<Py<PyAny>>,
    events: u64,
    next_report: u64,
    /// What Python raised, while the kernel only knows that it was interrupted.
    raised: Option<PyErr>,
}

impl<'s> Observed<'s> {
    pub(crate) fn new(sink: &'s mut dyn EventSink, progress: Option<Py<PyAny>>) -> Self {
        Self {
            sink,
            progress,
            events: 0,
            next_report: INTERVAL,
            raised: None,
        }
    }

    fn report(&mut self) -> Result<(), SinkError> {
        self.next_report = self.events + INTERVAL;
        let looked = Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = &self.progress {
                progress.call1(py, (self.events,))?;
            }
            Ok(())
        });
        looked.map_err(|error| {
            self.raised = Some(error);
            SinkError::Interrupted
        })
    }

    /// The run's result, or what Python raised during it.
    pub(crate) fn outcome<T>(self, result: Result<T, SinkError>) -> PyResult<T> {
        self.outcome_or(result, run_error)
    }

    /// The run's result, or what Python raised during it, or the run's own error as `exception` puts it.
    pub(crate) fn outcome_or<T, E>(
        self,
        result: Result<T, E>,
        exception: impl Fn(E) -> PyErr,
    ) -> PyResult<T> {
        match (result, self.raised) {
            (Ok(value), None) => Ok(value),
            (_, Some(raised)) => Err(raised),
            (Err(error), None) => Err(exception(error)),
        }
    }
}

impl EventSink for Observed<'_> {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        self.sink.consume(events)?;
        self.events += events.len() as u64;
        if self.events >= self.next_report {
            self.report()?;
        }
        Ok(())
    }
}
