//! What a workload asks storage for, on no machine.

use crate::observed::{Listeners, Observed, Watch};
use crate::plain::Plain;
use crate::workload::{Workload, prepare};
use pyo3::prelude::*;
use simcore::page_requests::PageRequests;

/// Runs a workload of one thread for nothing but the pages that it asks for.
#[pyfunction]
pub(crate) fn page_requests(py: Python<'_>, workload: &Workload) -> PyResult<Plain> {
    py.detach(|| {
        let mut watch = Watch::new(Listeners::default());
        let prepared = prepare(&workload.spec, &watch)?;
        let mut requests = PageRequests::default();
        let outcome = prepared.run(&mut Observed::new(&mut requests, &mut watch));
        watch.outcome(outcome)?;
        Plain::of(&requests.into_runs())
    })
}
