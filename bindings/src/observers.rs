//! What is found out of a run beside its time, from the same events.

use crate::errors::spec_error;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use simcore::counts::CountStatistics;
use simcore::stack_distance::StackDistances;
use simcore::usage::UsageStatistics;
use simcore::{ByteUsage, Counts, MachineSpec};
use traces::{Event, EventSink, Layout, SinkError};

/// What is found out beside the time, in the same pass.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Observations {
    /// Bytes fetched into the last cache, and those used.
    bytes: bool,
    /// Hits and misses without time.
    counts: bool,
    /// Misses of fully associative LRU caches of so many lines of the last cache, in that order.
    curve: Option<Vec<u64>>,
}

/// What was found out.
#[derive(Default, Serialize)]
pub(crate) struct Findings {
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_usage: Option<UsageStatistics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<CountStatistics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<Curve>,
}

/// Misses of the capacities that were asked for, in their order.
#[derive(Serialize)]
struct Curve {
    accesses: u64,
    misses: Vec<u64>,
}

/// What looks at the events for one machine, beside its time.
pub(crate) struct Observers {
    bytes: Option<ByteUsage>,
    counts: Option<Counts>,
    curve: Option<StackDistances>,
}

impl Observations {
    /// Whether nothing is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        !self.bytes && !self.counts && self.curve.is_none()
    }
}

impl Observers {
    pub(crate) fn new(spec: &MachineSpec, layout: &Layout, asked: &Observations) -> PyResult<Self> {
        let bytes = asked.bytes.then(|| ByteUsage::new(spec, layout));
        let counts = asked.counts.then(|| Counts::new(spec, layout));
        let line_bytes = spec.caches.last().map_or(1, |last| last.line_bytes);
        let curve = asked.curve.is_some();
        let curve = curve.then(|| StackDistances::new(line_bytes, 1));
        Ok(Self {
            bytes: bytes.transpose().map_err(spec_error)?,
            counts: counts.transpose().map_err(spec_error)?,
            curve: curve.transpose().map_err(spec_error)?,
        })
    }

    /// The same with pages from storage.
    pub(crate) fn with_arrivals(self) -> Self {
        Self {
            bytes: self.bytes.map(ByteUsage::with_arrivals),
            counts: self.counts.map(Counts::with_arrivals),
            curve: self.curve.map(StackDistances::with_arrivals),
        }
    }

    /// What was found.
    pub(crate) fn finish(self, asked: &Observations) -> Findings {
        let curve = self.curve.zip(asked.curve.as_ref());
        Findings {
            byte_usage: self.bytes.map(ByteUsage::finish),
            counts: self.counts.map(Counts::finish),
            curve: curve.map(|(curve, lines)| Curve::of(curve, lines)),
        }
    }
}

impl Curve {
    fn of(distances: StackDistances, lines: &[u64]) -> Self {
        let distances = distances.finish();
        let misses = distances.misses();
        let at = |lines: &u64| misses[(*lines as usize).min(misses.len() - 1)];
        Self {
            accesses: distances.accesses,
            misses: lines.iter().map(at).collect(),
        }
    }
}

impl EventSink for Observers {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        if let Some(bytes) = &mut self.bytes {
            bytes.consume(events)?;
        }
        if let Some(counts) = &mut self.counts {
            counts.consume(events)?;
        }
        match &mut self.curve {
            Some(curve) => curve.consume(events),
            None => Ok(()),
        }
    }
}

/// Events that are kept until the next has its turn: enough that what each of several has in the host's caches serves it for a
/// while, and few enough to stay there themselves.
const TURN: usize = 1 << 15;

/// Hands events to several, in turns.
pub(crate) struct Each<S> {
    sinks: Vec<S>,
    kept: Vec<Event>,
}

impl<S: EventSink> Each<S> {
    pub(crate) fn of(sinks: Vec<S>) -> Self {
        Self {
            sinks,
            kept: Vec::new(),
        }
    }

    /// Hands over what is left; those who have got all of it.
    pub(crate) fn finish(mut self) -> Result<Vec<S>, SinkError> {
        self.hand_over()?;
        Ok(self.sinks)
    }

    fn hand_over(&mut self) -> Result<(), SinkError> {
        let kept = &self.kept;
        self.sinks
            .iter_mut()
            .try_for_each(|sink| sink.consume(kept))?;
        self.kept.clear();
        Ok(())
    }
}

impl<S: EventSink> EventSink for Each<S> {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        if let [only] = &mut self.sinks[..] {
            return only.consume(events);
        }
        self.kept.extend_from_slice(events);
        if self.kept.len() >= TURN {
            self.hand_over()?;
        }
        Ok(())
    }
}
