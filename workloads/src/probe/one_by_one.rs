//! A probe after the other.

use super::bucket::Bucket;
use super::costs::LOOP;
use super::lookup::Probes;
use super::states::States;
use crate::tracer::Trace;

pub(super) fn run<'t, const BYTES: usize, T: Trace>(
    trace: &mut T,
    probes: &mut Probes<'t, BYTES>,
    _states: &mut States<Bucket<'t, BYTES>>,
) {
    while let Some(probe) = probes.begin(trace, false) {
        probes.finish(trace, probe);
        trace.work(LOOP);
    }
}
