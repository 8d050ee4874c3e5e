//! Page formats: what they keep per record, and the cache lines that a scan touches.

use crate::errors::{to_json, workload_error};
use crate::workload_from;
use pyo3::prelude::*;
use serde_json::json;
use workloads::page::nsm_format::{SLOT_BYTES, TAG_BYTES};
use workloads::{Workload, WorkloadError};

/// What slotted pages keep per record, in bytes.
#[pyfunction]
pub(crate) fn page_formats() -> PyResult<String> {
    to_json(&json!({
        "nsm": {"tag_bytes": TAG_BYTES, "slot_bytes": SLOT_BYTES},
    }))
}

/// Lines per record that the scan of a `table` workload touches: for page headers, slots and values.
#[pyfunction]
pub(crate) fn scan_lines(workload: &str, line_bytes: usize) -> PyResult<String> {
    let fail = |path: &str, message: String| {
        workload_error(WorkloadError {
            path: path.to_owned(),
            message,
        })
    };
    if line_bytes == 0 {
        return Err(fail(
            "line_bytes",
            "0 bytes; it must be at least 1".to_owned(),
        ));
    }
    match workload_from(workload)? {
        Workload::Table(table) => to_json(&table.scan_lines(line_bytes)),
        _ => Err(fail("kernel", "only `table` scans pages".to_owned())),
    }
}
