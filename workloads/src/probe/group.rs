//! Group prefetching: a stage for all probes of a group, then the next.
//!
//! Stages are as many as most probes need; what is longer is finished probe by probe, and what is shorter leaves its turns empty.

use super::bucket::Bucket;
use super::costs::LOOP;
use super::lookup::Probes;
use super::states::States;
use crate::tracer::Trace;

/// Buckets that probes visit in step: 94% of the keys lie in the first two, where there are two tuples to a bucket.
const STAGES: usize = 2;

pub(super) fn run<'t, const BYTES: usize, T: Trace>(
    trace: &mut T,
    probes: &mut Probes<'t, BYTES>,
    states: &mut States<Bucket<'t, BYTES>>,
) {
    loop {
        let mut filled = 0;
        while filled < states.len()
            && let Some(probe) = probes.begin(trace, true)
        {
            states.set(trace, filled, Some(probe));
            filled += 1;
            trace.work(LOOP);
        }
        for stage in 0..STAGES {
            for slot in 0..filled {
                if let Some(probe) = states.get(trace, slot) {
                    let goes_on = probes.visit(trace, probe, true);
                    if stage + 1 < STAGES {
                        states.set(trace, slot, goes_on);
                    } else if let Some(probe) = goes_on {
                        probes.finish(trace, probe);
                    }
                }
                trace.work(LOOP);
            }
        }
        if filled < states.len() {
            return;
        }
    }
}
