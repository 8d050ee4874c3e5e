//! How a trace file is to be run, and what comes out of each run.

use crate::errors;
use crate::results::tree;
use pyo3::PyResult;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use simcore::statistics::BreakdownRow;
use traces::Dependences;
use traces::window::Window;

/// How a trace file is to be run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// What the instructions wait for, once for each run.
    pub(crate) dependences: Vec<Dependences>,
    /// Accounts by site are kept beside those by segment.
    pub(crate) sites: bool,
    /// The part of the trace that is run.
    pub(crate) window: Window,
}

/// The results of one run.
pub(crate) fn described(
    dependences: Dependences,
    statistics: &impl Serialize,
    sites: Option<Vec<BreakdownRow>>,
    outcome: &Map<String, Value>,
) -> PyResult<Value> {
    let statistics = tree(statistics, outcome)?;
    let mut run = json!({ "dependences": dependences, "statistics": statistics });
    if let Some(rows) = sites {
        run["sites"] = rows.into_iter().map(by_site).collect::<PyResult<_>>()?;
    }
    Ok(run)
}

/// A row of a breakdown whose accounts are sites.
fn by_site(row: BreakdownRow) -> PyResult<Value> {
    let site = json!(row.segment);
    let mut row: Map<String, Value> = match serde_json::to_value(row) {
        Ok(Value::Object(fields)) => fields,
        other => {
            return Err(errors::internal(format!(
                "a row of a breakdown is {other:?}"
            )));
        }
    };
    row.remove("segment");
    row.insert("site".to_owned(), site);
    Ok(Value::Object(row))
}
