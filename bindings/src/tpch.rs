//! The generated tables of TPC-H, for other database systems.

use crate::errors::from_json;
use crate::observed::{Listeners, Watch};
use pyo3::prelude::*;
use std::fs::File;
use std::io::{BufWriter, Write};
use workloads::tpch;

/// Writes a table as comma-separated text with a header; the table's name is JSON text.
#[pyfunction]
pub(crate) fn export_tpch(
    py: Python<'_>,
    table: &str,
    scale_factor: f64,
    path: &str,
) -> PyResult<()> {
    let table = from_json(table)?;
    py.detach(|| {
        let watch = Watch::new(Listeners::default());
        watch.build(|| {
            let mut output = BufWriter::new(File::create(path)?);
            tpch::export(table, scale_factor, &mut output)?;
            Ok(output.flush()?)
        })
    })
}
