//! The tree of a run's results.

use crate::errors::{internal, to_json};
use pyo3::PyResult;
use serde::Serialize;
use serde_json::{Map, Value, json};
use simcore::Statistics;

/// The results of a run, with what it computed.
pub(crate) fn tree(statistics: &impl Serialize, outcome: &Map<String, Value>) -> PyResult<Value> {
    let mut tree = serde_json::to_value(statistics).map_err(internal)?;
    tree["workload"] = json!(outcome);
    Ok(tree)
}

/// The same as text.
pub(crate) fn results(statistics: &Statistics, outcome: &Map<String, Value>) -> PyResult<String> {
    to_json(&tree(statistics, outcome)?)
}
