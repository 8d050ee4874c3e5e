//! The generated tables of TPC-H, for other database systems.

use crate::observed::{Listeners, Watch};
use crate::plain::Plain;
use pyo3::prelude::*;
use std::fs::File;
use std::io::{BufWriter, Write};
use workloads::tpch;

/// Writes a table as comma-separated text with a header.
#[pyfunction]
pub(crate) fn export_tpch(
    py: Python<'_>,
    table: Plain,
    scale_factor: f64,
    path: &str,
) -> PyResult<()> {
    let table = table.read()?;
    py.detach(|| {
        let watch = Watch::new(Listeners::default());
        watch.build(|| {
            let mut output = BufWriter::new(File::create(path)?);
            tpch::export(table, scale_factor, &mut output)?;
            Ok(output.flush()?)
        })
    })
}
