//! Page formats: what they keep per record, and the cache lines that a scan touches.

use crate::errors::workload_error;
use crate::plain::Plain;
use crate::workload::Workload;
use pyo3::prelude::*;
use serde_json::json;
use workloads::WorkloadError;
use workloads::page::Geometry;
use workloads::page::averages::{Lengths, Shares, minipages, slotted};
use workloads::page::nsm_format::{SLOT_BYTES, TAG_BYTES};

/// What slotted pages keep per record, in bytes.
#[pyfunction]
pub(crate) fn page_formats() -> PyResult<Plain> {
    Plain::of(&json!({
        "nsm": {"tag_bytes": TAG_BYTES, "slot_bytes": SLOT_BYTES},
    }))
}

/// What records of average length take of slotted pages and of pages of minipages:
/// `average_bytes` are those of a record's values, of which `fixed` and `variable` have lengths of that kind.
#[pyfunction]
pub(crate) fn page_shares(
    average_bytes: f64,
    fixed: u32,
    variable: u32,
    page_bytes: u32,
    header_bytes: u32,
) -> PyResult<Plain> {
    let lengths = Lengths {
        average_bytes,
        fixed,
        variable,
    };
    let geometry = Geometry {
        page_bytes,
        header_bytes,
    };
    let told = |shares: Shares| {
        json!({
            "record_bytes": shares.record_bytes,
            "page_bytes": shares.page_bytes,
            "records": shares.records,
        })
    };
    Plain::of(&json!({
        "nsm": told(slotted(lengths, geometry)),
        "pax": told(minipages(lengths, geometry)),
    }))
}

/// Lines per record that the scan of a `table` workload touches: for page headers, slots and values.
#[pyfunction]
pub(crate) fn scan_lines(workload: &Workload, line_bytes: usize) -> PyResult<Plain> {
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
    match &workload.spec {
        workloads::Workload::Table(table) => {
            Plain::of(&table.scan_lines(line_bytes).map_err(workload_error)?)
        }
        _ => Err(fail("kernel", "only `table` scans pages".to_owned())),
    }
}
