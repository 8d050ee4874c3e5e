//! The generated tables of TPC-H, for other database systems.

use crate::errors::SpecError;
use crate::observed::{Listeners, Watch};
use crate::plain::Plain;
use pyo3::prelude::*;
use std::io::{BufWriter, Write};
use std::path::Path;
use traces::atomic::{persist, temporary};
use workloads::tpch;

/// Writes a table as comma-separated text with a header, whole or not at all. Raises `SpecError` for a scale factor that is none.
#[pyfunction]
pub(crate) fn export_tpch(
    py: Python<'_>,
    table: Plain,
    scale_factor: f64,
    path: &str,
) -> PyResult<()> {
    let table = table.read()?;
    if !(scale_factor.is_finite() && scale_factor > 0.0) {
        let message = format!("{scale_factor} is no size of a database; 1 is 1 GB, 0.1 100 MB");
        return Err(SpecError::new_err(("scale_factor", message)));
    }
    py.detach(|| {
        let watch = Watch::new(Listeners::default());
        watch.build(|| {
            let path = Path::new(path);
            let (mut file, unfinished) = temporary(path)?.into_parts();
            let mut output = BufWriter::new(&mut file);
            tpch::export(table, scale_factor, &mut output)?;
            output.flush()?;
            drop(output);
            Ok(persist(file, unfinished, path)?)
        })
    })
}
