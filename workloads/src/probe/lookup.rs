//! What a probe does, in pieces: each ends where it needs the line of a bucket.

use super::bucket::{Bucket, Buckets};
use super::costs::{BUCKET_ADDRESS, COMPARE};
use super::keys::ProbeKeys;
use super::results::Found;
use super::sites::Site;
use crate::buckets::{TUPLE_BYTES, key_at, payload_at};
use crate::tracer::{Dep, Trace};
use traces::OpClass;

/// A probe under way, in a table of such buckets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe<B> {
    pub(super) key: u64,
    /// The bucket that it visits next.
    pub(super) bucket: B,
    /// What the bucket's address waits for.
    pub(super) waits: Dep,
}

/// The probes of a thread: those to come, and what has been found.
#[derive(Debug)]
pub(super) struct Probes<'t, const BYTES: usize> {
    pub(super) buckets: Buckets<'t, BYTES>,
    /// Whether a bucket's number takes a multiplication.
    pub(super) multiplies: bool,
    pub(super) keys: ProbeKeys,
    /// Address of the first of all threads' tuples.
    pub(super) input: u64,
    pub(super) found: Found,
}

impl<'t, const BYTES: usize> Probes<'t, BYTES> {
    /// Begins the next probe, if there is one: where is its first bucket? Prefetches that if it is told to go `ahead`.
    #[inline(always)]
    pub(super) fn begin<T: Trace>(
        &mut self,
        trace: &mut T,
        ahead: bool,
    ) -> Option<Probe<Bucket<'t, BYTES>>> {
        let next = if trace.failed() {
            None
        } else {
            self.keys.next::<T>()
        };
        trace.branch(Site::ProbesLeft, next.is_some(), Dep::NONE);
        let (number, key) = next?;
        let address = self.input + number * TUPLE_BYTES;
        let loaded = trace.load(Site::ProbeTuple, address, 8, 1, Dep::NONE);
        let hashed = if self.multiplies {
            trace.op(Site::Hash, OpClass::Multiply, loaded.after(0))
        } else {
            loaded
        };
        trace.work(BUCKET_ADDRESS.into());
        let probe = Probe {
            key,
            bucket: self.buckets.head(key),
            waits: hashed.after(BUCKET_ADDRESS),
        };
        Some(self.announce(trace, probe, ahead))
    }

    /// Prefetches the bucket that a probe visits next.
    #[inline(always)]
    fn announce<T: Trace>(
        &self,
        trace: &mut T,
        probe: Probe<Bucket<'t, BYTES>>,
        ahead: bool,
    ) -> Probe<Bucket<'t, BYTES>> {
        if ahead {
            self.buckets.prefetch(trace, probe.bucket, probe.waits);
        }
        probe
    }

    /// Visits the probe's bucket, and gives the probe that goes on in the next, which it prefetches if it is told to go `ahead`: nothing
    /// if the match was found or there is none.
    #[inline(always)]
    pub(super) fn visit<T: Trace>(
        &mut self,
        trace: &mut T,
        probe: Probe<Bucket<'t, BYTES>>,
        ahead: bool,
    ) -> Option<Probe<Bucket<'t, BYTES>>> {
        let (buckets, bucket) = (self.buckets, probe.bucket);
        let here = probe.waits;
        for tuple in 0..Buckets::<BYTES>::TUPLES {
            let key = buckets.load(trace, Site::Key, (bucket, key_at(tuple, TUPLE_BYTES)), here);
            let equal = key.value == probe.key;
            trace.work(COMPARE);
            trace.branch(Site::KeysEqual, equal, key.token.after(1));
            if equal {
                let payload = buckets.load(
                    trace,
                    Site::Payload,
                    (bucket, payload_at(tuple, TUPLE_BYTES)),
                    here,
                );
                let result = [probe.key, payload.value];
                self.found.take(trace, result, payload.token);
                return None;
            }
        }
        let next = buckets.load_next(trace, bucket, here);
        trace.work(COMPARE);
        trace.branch(Site::ChainEnds, next.value.is_none(), next.token.after(1));
        let probe = Probe {
            bucket: next.value?,
            waits: next.token.after(0),
            ..probe
        };
        Some(self.announce(trace, probe, ahead))
    }

    /// Takes a probe to its end with no other under way.
    #[inline(always)]
    pub(super) fn finish<T: Trace>(&mut self, trace: &mut T, probe: Probe<Bucket<'t, BYTES>>) {
        let mut under_way = Some(probe);
        while let Some(probe) = under_way {
            under_way = self.visit(trace, probe, false);
        }
    }
}
