//! Progress and Ctrl-C for long runs.

use crate::errors::run_error;
use pyo3::prelude::*;
use simcore::AddressSink;
use traces::{Event, EventSink, SinkError};

/// Events between two looks at Python: some thousandths of a second of simulation, and half a second where it is slowest.
const INTERVAL: u64 = 250_000;

/// Counts the events of a run, reports them, and notices Ctrl-C.
pub(crate) struct Watch {
    progress: Option<Py<PyAny>>,
    events: u64,
    next_report: u64,
    /// What Python raised, while the run only knows that it was interrupted.
    raised: Option<PyErr>,
}

impl Watch {
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Self {
        Self::after(0, progress)
    }

    /// Goes on where a run of so many events ended.
    fn after(events: u64, progress: Option<Py<PyAny>>) -> Self {
        Self {
            progress,
            events,
            next_report: events + INTERVAL,
            raised: None,
        }
    }

    /// So many more events have passed.
    pub(crate) fn passed(&mut self, events: usize) -> Result<(), SinkError> {
        self.events += events as u64;
        if self.events < self.next_report {
            return Ok(());
        }
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

/// A sink under a watch.
pub(crate) struct Observed<'s, S: ?Sized> {
    sink: &'s mut S,
    watch: Watch,
}

impl<'s, S: ?Sized> Observed<'s, S> {
    pub(crate) fn new(sink: &'s mut S, progress: Option<Py<PyAny>>) -> Self {
        Self {
            sink,
            watch: Watch::new(progress),
        }
    }

    /// The same, going on where a run of so many events ended.
    pub(crate) fn after(sink: &'s mut S, events: u64, progress: Option<Py<PyAny>>) -> Self {
        Self {
            sink,
            watch: Watch::after(events, progress),
        }
    }

    /// Events so far.
    pub(crate) fn events(&self) -> u64 {
        self.watch.events
    }

    /// See [`Watch::outcome`].
    pub(crate) fn outcome<T>(self, result: Result<T, SinkError>) -> PyResult<T> {
        self.watch.outcome(result)
    }

    /// See [`Watch::outcome_or`].
    pub(crate) fn outcome_or<T, E>(
        self,
        result: Result<T, E>,
        exception: impl Fn(E) -> PyErr,
    ) -> PyResult<T> {
        self.watch.outcome_or(result, exception)
    }
}

impl<S: AddressSink + ?Sized> Observed<'_, S> {
    /// Has all of `addresses` read.
    pub(crate) fn read(&mut self, addresses: &[u64]) -> Result<(), SinkError> {
        for addresses in addresses.chunks(INTERVAL as usize) {
            self.sink.read(addresses);
            self.watch.passed(addresses.len())?;
        }
        Ok(())
    }
}

impl<S: EventSink + ?Sized> EventSink for Observed<'_, S> {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        self.sink.consume(events)?;
        self.watch.passed(events.len())
    }

    fn forget(&mut self) -> Result<(), SinkError> {
        self.sink.forget()
    }
}
