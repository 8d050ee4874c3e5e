//! Page files: indexes on disk.

use crate::errors::{PageFileError, SpecError, workload_shortage};
use crate::observed::{Listeners, Watch};
use crate::plain::Plain;
use crate::workload::Workload;
use pyo3::prelude::*;
use std::path::Path;
use traces::host_memory::Free;
use workloads::disk_index::{self, Header};

fn refused(error: disk_index::PageFileError) -> PyErr {
    PageFileError::new_err(error.to_string())
}

fn watch(building: Option<Py<PyAny>>) -> Watch {
    Watch::new(Listeners {
        progress: None,
        building,
    })
}

/// Builds the index of a workload of kernel `disk-index` and writes it into a page file; what the file says.
#[pyfunction]
#[pyo3(signature = (workload, path, building=None))]
pub(crate) fn build_index(
    py: Python<'_>,
    workload: &Workload,
    path: &str,
    building: Option<Py<PyAny>>,
) -> PyResult<Plain> {
    let workloads::Workload::DiskIndex(index) = &workload.spec else {
        let message = "only indexes in disk pages have page files; name the kernel disk-index";
        return Err(SpecError::new_err(("kernel", message)));
    };
    let memory = workload.spec.memory().check(Free::now(), false);
    memory.map_err(workload_shortage)?;
    py.detach(|| {
        watch(building).build(|| {
            let header = index.save(Path::new(path)).map_err(refused)?;
            Plain::of(&header.facts())
        })
    })
}

/// What a page file says of its index.
#[pyfunction]
pub(crate) fn index_info(path: &str) -> PyResult<Plain> {
    Plain::of(&Header::read(Path::new(path)).map_err(refused)?.facts())
}

/// Reads all of a page file and checks every page; what it says of its index.
#[pyfunction]
#[pyo3(signature = (path, building=None))]
pub(crate) fn check_index(
    py: Python<'_>,
    path: &str,
    building: Option<Py<PyAny>>,
) -> PyResult<Plain> {
    py.detach(|| {
        watch(building).build(|| {
            let header = disk_index::check_page_file(Path::new(path)).map_err(refused)?;
            Plain::of(&header.facts())
        })
    })
}
