//! Progress and Ctrl-C for long runs.

use crate::errors::run_error;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use simcore::AddressSink;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::{Duration, Instant};
use traces::{Event, EventSink, SinkError};
use workloads::watch::{self, Stopped};

/// Events after which Python is looked at: some thousandths of a second of simulation.
const INTERVAL: u64 = 250_000;
/// Time after which it is looked at, however few events there were: a call may stand for millions of instructions.
const PATIENCE: Duration = Duration::from_millis(100);
/// Events after which the clock is looked at, if they take no longer than most.
const CLOCKED: usize = 1024;

/// Who hears of a run, and may stop it.
#[derive(Default)]
pub(crate) struct Listeners {
    /// Called with the events so far.
    pub(crate) progress: Option<Py<PyAny>>,
    /// Called with the steps of building so far, while what the workload runs on is built.
    pub(crate) building: Option<Py<PyAny>>,
}

impl Listeners {
    pub(crate) fn of(progress: Option<Py<PyAny>>) -> Self {
        Self {
            progress,
            building: None,
        }
    }
}

/// What Python raised, while the run only knows that it was interrupted.
pub(crate) type Raised = Rc<RefCell<Option<PyErr>>>;

/// Looks at Python: for Ctrl-C, and to tell `listener` a number.
fn look(raised: &Raised, listener: Option<&Py<PyAny>>, number: u64) -> ControlFlow<()> {
    let looked = Python::attach(|py| {
        py.check_signals()?;
        if let Some(listener) = listener {
            listener.call1(py, (number,))?;
        }
        PyResult::Ok(())
    });
    match looked {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            *raised.borrow_mut() = Some(error);
            ControlFlow::Break(())
        }
    }
}

/// Counts the events of a run and the steps of building for it, reports them, and notices Ctrl-C.
pub(crate) struct Watch {
    progress: Option<Py<PyAny>>,
    raised: Raised,
    events: u64,
    next_report: u64,
    looked: Instant,
    /// Events that take less than it may take until Ctrl-C is noticed, as far as is known.
    part: usize,
    /// Events since the clock was looked at, and when that was.
    unclocked: usize,
    clocked: Instant,
    _building: watch::Watch,
}

impl Watch {
    pub(crate) fn new(listeners: Listeners) -> Self {
        let raised = Raised::default();
        let hears = Rc::clone(&raised);
        let mut next = Instant::now() + PATIENCE;
        let heard = move |steps| {
            if Instant::now() < next {
                return ControlFlow::Continue(());
            }
            next = Instant::now() + PATIENCE;
            look(&hears, listeners.building.as_ref(), steps)
        };
        Self {
            progress: listeners.progress,
            raised,
            events: 0,
            next_report: INTERVAL,
            looked: Instant::now(),
            part: 1,
            unclocked: 0,
            clocked: Instant::now(),
            _building: watch::Watch::begin(Box::new(heard)),
        }
    }

    /// Where what Python raises is left for [`Watch::outcome`].
    pub(crate) fn raised(&self) -> &Raised {
        &self.raised
    }

    /// Builds something; Ctrl-C stops it.
    pub(crate) fn build<T>(&self, build: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        watch::stoppable(build).map_err(|Stopped| self.stopped())?
    }

    /// So many more events have passed.
    pub(crate) fn passed(&mut self, events: usize) -> Result<(), SinkError> {
        self.events += events as u64;
        self.unclocked += events;
        if self.unclocked < self.part.min(CLOCKED) {
            return Ok(());
        }
        let took = self.clocked.elapsed();
        self.clocked += took;
        self.unclocked = 0;
        if took > PATIENCE {
            self.part = (self.part / 8).max(1);
        } else if took < PATIENCE / 8 {
            self.part = (self.part * 2).min(INTERVAL as usize);
        }
        if self.events < self.next_report && self.clocked - self.looked < PATIENCE {
            return Ok(());
        }
        self.next_report = self.events + INTERVAL;
        self.looked = self.clocked;
        let flow = look(&self.raised, self.progress.as_ref(), self.events);
        if flow.is_break() {
            return Err(SinkError::Interrupted);
        }
        Ok(())
    }

    fn stopped(&self) -> PyErr {
        let raised = self.raised.borrow_mut().take();
        raised.unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))
    }

    /// The run's result, or what Python raised during it.
    pub(crate) fn outcome<T>(&self, result: Result<T, SinkError>) -> PyResult<T> {
        self.outcome_or(result, run_error)
    }

    /// The run's result, or what Python raised during it, or the run's own error as `exception` puts it.
    pub(crate) fn outcome_or<T, E>(
        &self,
        result: Result<T, E>,
        exception: impl Fn(E) -> PyErr,
    ) -> PyResult<T> {
        match (result, self.raised.borrow_mut().take()) {
            (Ok(value), None) => Ok(value),
            (_, Some(raised)) => Err(raised),
            (Err(error), None) => Err(exception(error)),
        }
    }
}

/// A sink under a watch.
pub(crate) struct Observed<'s, S: ?Sized> {
    sink: &'s mut S,
    watch: &'s mut Watch,
}

impl<'s, S: ?Sized> Observed<'s, S> {
    pub(crate) fn new(sink: &'s mut S, watch: &'s mut Watch) -> Self {
        Self { sink, watch }
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
        let mut rest = events;
        while !rest.is_empty() {
            let (part, later) = rest.split_at(self.watch.part.min(rest.len()));
            self.sink.consume(part)?;
            self.watch.passed(part.len())?;
            rest = later;
        }
        Ok(())
    }

    fn forget(&mut self) -> Result<(), SinkError> {
        self.sink.forget()
    }
}
