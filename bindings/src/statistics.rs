//! The statistics of a run, as they reach Python.

use crate::observers::Findings;
use crate::plain::Plain;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value};
use simcore::multicore::MulticoreStatistics;
use simcore::statistics::{BreakdownRow, Slots};

/// What a kernel computed, by name.
pub(crate) type Outcome = Map<String, Value>;

/// The statistics of a run: of its machine, with what the workload computed and what was observed beside.
#[pyclass(frozen, module = "memwalk.simcore._native")]
#[derive(Serialize)]
pub(crate) struct Statistics {
    #[serde(flatten)]
    whole: Part,
    /// Each core by itself; empty if there is one only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cores: Vec<Part>,
    #[serde(flatten)]
    observed: Findings,
    /// Cost by phase and site.
    #[serde(skip_serializing_if = "Option::is_none")]
    sites: Option<Vec<SiteRow>>,
}

/// A core of a machine, or all of them together.
#[derive(Serialize)]
struct Part {
    #[serde(flatten)]
    statistics: simcore::Statistics,
    /// Absent if it ran a part of a workload, or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    workload: Option<Outcome>,
}

/// A row of a breakdown whose accounts are sites.
#[derive(Serialize)]
struct SiteRow {
    phase: String,
    site: String,
    slots: Slots,
    accesses: u64,
    served: Vec<u64>,
    walks: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    false_sharing: Option<u64>,
}

#[pymethods]
impl Statistics {
    /// All of it, as plain data.
    fn as_dict(&self) -> PyResult<Plain> {
        Plain::of(self)
    }
}

impl Statistics {
    /// Of a workload on one core.
    pub(crate) fn of_one(statistics: simcore::Statistics, outcome: Outcome) -> Self {
        Self::of_parts(statistics, Some(outcome), Vec::new())
    }

    /// Of a workload of several threads, each on a core.
    pub(crate) fn of_threads(statistics: MulticoreStatistics, outcome: Outcome) -> Self {
        let cores = statistics.cores.into_iter();
        let cores = cores.map(|core| Part::of(core, None)).collect();
        Self::of_parts(statistics.together, Some(outcome), cores)
    }

    /// Of a workload beside others, each of whose threads is on a core.
    pub(crate) fn of_program(statistics: MulticoreStatistics, outcome: Outcome) -> Self {
        if statistics.cores.len() == 1 {
            return Self::of_one(statistics.together, outcome);
        }
        Self::of_threads(statistics, outcome)
    }

    /// Of workloads that know nothing of each other; an outcome for each core.
    pub(crate) fn of_workloads(
        statistics: MulticoreStatistics,
        outcomes: impl Iterator<Item = Outcome>,
    ) -> Self {
        let cores = statistics.cores.into_iter().zip(outcomes);
        let cores = cores.map(|(core, outcome)| Part::of(core, Some(outcome)));
        Self::of_parts(statistics.together, None, cores.collect())
    }

    fn of_parts(
        statistics: simcore::Statistics,
        outcome: Option<Outcome>,
        cores: Vec<Part>,
    ) -> Self {
        Self {
            whole: Part::of(statistics, outcome),
            cores,
            observed: Findings::default(),
            sites: None,
        }
    }

    /// The same with what was observed.
    pub(crate) fn with_observed(self, observed: Findings) -> Self {
        Self { observed, ..self }
    }

    /// The same with a breakdown whose accounts are sites.
    pub(crate) fn with_sites(self, breakdown: Option<Vec<BreakdownRow>>) -> Self {
        let sites = breakdown.map(|rows| rows.into_iter().map(SiteRow::of).collect());
        Self { sites, ..self }
    }

    /// The same with the answer whether misses were steady after the warm-up.
    pub(crate) fn with_steady(mut self, steady: bool) -> Self {
        let outcome = self.whole.workload.get_or_insert_default();
        outcome.insert("warm_up_steady".to_owned(), steady.into());
        self
    }
}

impl Part {
    fn of(statistics: simcore::Statistics, workload: Option<Outcome>) -> Self {
        Self {
            statistics,
            workload,
        }
    }
}

impl SiteRow {
    fn of(row: BreakdownRow) -> Self {
        let BreakdownRow {
            phase,
            segment: site,
            slots,
            accesses,
            served,
            walks,
            false_sharing,
        } = row;
        Self {
            phase,
            site,
            slots,
            accesses,
            served,
            walks,
            false_sharing,
        }
    }
}
