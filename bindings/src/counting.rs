//! Counts mode and miss curves, of a trace file or of addresses.

use crate::errors::{SpecError, internal, spec_error, store_error};
use crate::machine::{Machine, room_for_one};
use crate::observed::{Listeners, Observed, Watch};
use crate::plain::Plain;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use serde_json::json;
use simcore::stack_distance::{Sampling, Shards, StackDistances, ThreeC};
use simcore::{AddressSink, Counts};
use traces::store::Reader;
use traces::{Layout, SinkError};

/// Where accesses come from: a trace file, addresses that are read without being copied, or an iterator of such.
#[derive(FromPyObject)]
pub(crate) enum Source<'py> {
    Trace(String),
    Addresses(PyReadonlyArray1<'py, u64>),
    Pieces(Bound<'py, PyIterator>),
}

/// A source open for reading.
enum Accesses<'a> {
    Trace(Box<Reader>),
    Addresses(&'a [u64]),
    Pieces(Py<PyIterator>),
}

impl<'a> Accesses<'a> {
    fn open(source: &'a Source<'_>) -> PyResult<Self> {
        match source {
            Source::Trace(path) => Ok(Self::Trace(Box::new(
                Reader::open(path).map_err(store_error)?,
            ))),
            Source::Addresses(array) => Ok(Self::Addresses(array.as_slice().map_err(internal)?)),
            Source::Pieces(pieces) => Ok(Self::Pieces(pieces.clone().unbind())),
        }
    }

    /// Segments and phases of the source; bare addresses have one phase.
    fn layout(&self) -> Layout {
        match self {
            Self::Trace(reader) => reader.info().layout.clone(),
            Self::Addresses(_) | Self::Pieces(_) => Layout::default(),
        }
    }

    /// Hands everything to `sink`.
    fn feed(self, sink: &mut impl AddressSink, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let mut watch = Watch::new(Listeners::of(progress));
        let mut observed = Observed::new(sink, &mut watch);
        let fed: Result<(), SinkError> = match self {
            Self::Trace(reader) => {
                reader.for_each_batch(|events| traces::EventSink::consume(&mut observed, events))
            }
            Self::Addresses(addresses) => observed.read(addresses),
            Self::Pieces(pieces) => loop {
                match next_piece(&pieces)? {
                    None => break Ok(()),
                    Some(addresses) => match observed.read(&addresses) {
                        Ok(()) => {}
                        error => break error,
                    },
                }
            },
        };
        watch.outcome(fed)
    }
}

/// The next addresses of an iterator, copied so that Python can go on while they are read.
fn next_piece(pieces: &Py<PyIterator>) -> PyResult<Option<Vec<u64>>> {
    Python::attach(|py| {
        let Some(piece) = pieces.bind(py).clone().next() else {
            return Ok(None);
        };
        let array: PyReadonlyArray1<'_, u64> = piece?.extract()?;
        Ok(Some(array.as_slice().map_err(internal)?.to_vec()))
    })
}

/// Hits, misses and write-backs of a machine's caches, without time.
#[pyfunction]
#[pyo3(signature = (source, machine, progress=None))]
pub(crate) fn count(
    py: Python<'_>,
    source: Source<'_>,
    machine: &Machine,
    progress: Option<Py<PyAny>>,
) -> PyResult<Plain> {
    let spec = &machine.spec;
    let accesses = Accesses::open(&source)?;
    py.detach(|| {
        let layout = accesses.layout();
        room_for_one(spec, &layout)?;
        let mut counts = Counts::new(spec, &layout).map_err(spec_error)?;
        accesses.feed(&mut counts, progress)?;
        Plain::of(&counts.finish())
    })
}

/// Misses by capacity, from none on: lines of a fully associative LRU cache, or ways of each of `sets` sets.
#[pyfunction]
#[pyo3(signature = (source, line_bytes, sets, progress=None))]
pub(crate) fn miss_curve<'py>(
    py: Python<'py>,
    source: Source<'_>,
    line_bytes: u64,
    sets: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let accesses = Accesses::open(&source)?;
    let misses = py.detach(|| {
        let mut distances = StackDistances::new(line_bytes, sets).map_err(spec_error)?;
        accesses.feed(&mut distances, progress)?;
        Ok::<_, PyErr>(distances.finish().misses())
    })?;
    Ok(misses.into_pyarray(py))
}

/// Misses at some capacities, in lines, estimated from a sample of the lines: a share of them, or a number.
#[pyfunction]
#[pyo3(signature = (source, line_bytes, rate, lines, capacities, progress=None))]
pub(crate) fn sampled_curve(
    py: Python<'_>,
    source: Source<'_>,
    line_bytes: u64,
    rate: Option<f64>,
    lines: Option<usize>,
    capacities: Vec<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Plain> {
    let accesses = Accesses::open(&source)?;
    let sampling = lines.map_or(Sampling::Rate(rate.unwrap_or(1.0)), Sampling::Lines);
    py.detach(|| {
        let mut shards = Shards::new(line_bytes, sampling).map_err(spec_error)?;
        accesses.feed(&mut shards, progress)?;
        let estimate = shards.finish();
        let misses = capacities
            .iter()
            .map(|&lines| estimate.misses(lines).unzip());
        let (misses, errors): (Vec<Option<f64>>, Vec<Option<f64>>) = misses.unzip();
        Plain::of(&json!({
            "accesses": estimate.accesses,
            "sampled": estimate.sampled,
            "rate": estimate.rate,
            "misses": misses,
            "standard_errors": errors,
        }))
    })
}

/// Compulsory, capacity and conflict misses of cache number `cache` of a machine, as if it had no others.
#[pyfunction]
#[pyo3(signature = (source, machine, cache, progress=None))]
pub(crate) fn classify(
    py: Python<'_>,
    source: Source<'_>,
    machine: &Machine,
    cache: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Plain> {
    let spec = &machine.spec;
    let accesses = Accesses::open(&source)?;
    py.detach(|| {
        room_for_one(spec, &accesses.layout())?;
        let cache = spec.caches.get(cache).ok_or_else(|| {
            let last = spec.caches.len() - 1;
            let message = format!(
                "machine {} has no cache {cache}; give 0 to {last}",
                spec.name
            );
            SpecError::new_err(("cache", message))
        })?;
        let mut classes = ThreeC::new(cache, &accesses.layout()).map_err(spec_error)?;
        accesses.feed(&mut classes, progress)?;
        Plain::of(&json!({ "name": cache.name, "rows": classes.finish() }))
    })
}
