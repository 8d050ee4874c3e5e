//! A probe after the other.

use super::costs::LOOP;
use super::lookup::Probes;
use crate::tracer::Trace;

pub(super) fn run<T: Trace>(trace: &mut T, probes: &mut Probes<'_>) {
    while let Some(probe) = probes.begin(trace, false) {
        probes.finish(trace, probe);
        trace.work(LOOP);
    }
}
