//! What this module was built of.

use crate::plain::Plain;
use pyo3::prelude::*;
use serde_json::json;

/// Version, commit and build profile of this module, and what it takes of a processor.
#[pyfunction]
pub(crate) fn build_info() -> PyResult<Plain> {
    Plain::of(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "commit": env!("MEMWALK_COMMIT"),
        "dramsim3": cfg!(feature = "dramsim3"),
        "profile": env!("MEMWALK_PROFILE"),
        "target_features": env!("MEMWALK_TARGET_FEATURES").split(',').collect::<Vec<_>>(),
    }))
}
