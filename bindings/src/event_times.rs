//! When the events of a part of a trace got on, as columns: what a critical path is found from.

use crate::errors::{self, store_error};
use crate::machine::{Machine, room_for_one};
use crate::observed::{Listeners, Observed, Watch};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simcore::{Engine, EventTimes};
use traces::store::Reader;
use traces::{Event, EventSink, SinkError};

/// Runs a trace up to the end of a window, and keeps what is in it.
struct Window {
    engine: Engine,
    /// Events before the window, and in it.
    before: u64,
    left: u64,
    events: Vec<Event>,
    times: Vec<EventTimes>,
}

impl EventSink for Window {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        let skipped = usize::try_from(self.before)
            .unwrap_or(usize::MAX)
            .min(events.len());
        let (before, rest) = events.split_at(skipped);
        self.before -= skipped as u64;
        self.engine.consume(before)?;
        let taken = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .min(rest.len());
        let window = &rest[..taken];
        self.left -= taken as u64;
        self.events.extend_from_slice(window);
        self.engine.watch(window, &mut self.times)?;
        if self.left == 0 {
            return Err(SinkError::Enough);
        }
        Ok(())
    }
}

/// Columns of the instructions among `count` events behind the first `first` of a trace file: equally long arrays of whole numbers, named as
/// the fields of `Event` and `EventTimes`, and `event`, the number of the event in the window. Empty on an in-order core.
#[pyfunction]
#[pyo3(signature = (path, machine, first, count, progress=None))]
pub(crate) fn event_times<'py>(
    py: Python<'py>,
    path: &str,
    machine: &Machine,
    first: u64,
    count: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let spec = &machine.spec;
    let (events, times) = py.detach(|| {
        let reader = Reader::open(path).map_err(store_error)?;
        let layout = reader.info().layout.clone();
        room_for_one(spec, &layout)?;
        let mut window = Window {
            engine: Engine::new(spec, &layout).map_err(errors::spec_error)?,
            before: first,
            left: count,
            events: Vec::new(),
            times: Vec::new(),
        };
        let mut watch = Watch::new(Listeners::of(progress));
        let mut observed = Observed::new(&mut window, &mut watch);
        let run = match reader.for_each_batch(|events| observed.consume(events)) {
            Err(SinkError::Enough) => Ok(()),
            other => other,
        };
        watch.outcome(run)?;
        PyResult::Ok((window.events, window.times))
    })?;
    let timed = (0_u64..)
        .zip(&events)
        .filter(|(_, event)| event.kind.is_instruction());
    let timed: Vec<_> = timed.zip(&times).collect();
    let columns = PyDict::new(py);
    let add = |name: &str, value: &dyn Fn(u64, &Event, &EventTimes) -> u64| {
        let values = timed
            .iter()
            .map(|((number, event), times)| value(*number, event, times));
        columns.set_item(name, PyArray1::from_vec(py, values.collect()))
    };
    add("event", &|number, _, _| number)?;
    add("is_access", &|_, event, _| {
        u64::from(event.kind.is_access())
    })?;
    add("is_store", &|_, event, _| u64::from(event.kind.is_store()))?;
    add("address", &|_, event, _| event.address)?;
    add("instructions", &|_, event, _| {
        u64::from(event.instructions) + event.own_instructions()
    })?;
    add("dep", &|_, event, _| event.dep.into())?;
    add("chain", &|_, event, _| event.chain.into())?;
    add("site", &|_, event, _| event.site.into())?;
    add("dispatched", &|_, _, times| times.dispatched)?;
    add("ready", &|_, _, times| times.ready)?;
    add("issued", &|_, _, times| times.issued)?;
    add("translated", &|_, _, times| times.translated)?;
    add("walks", &|_, _, times| times.walks)?;
    add("walk_began", &|_, _, times| times.walk_began)?;
    add("behind", &|_, _, times| times.behind)?;
    add("behind_level", &|_, _, times| times.behind_level as u64)?;
    add("complete", &|_, _, times| times.complete)?;
    add("arrived", &|_, _, times| times.arrived)?;
    add("graduated_slot", &|_, _, times| times.graduated_slot)?;
    add("level", &|_, _, times| times.level as u64)?;
    add("mispredicted", &|_, _, times| times.mispredicted.into())?;
    Ok(columns)
}
