//! What a probe does, in pieces: each ends where it needs the line of a bucket.

use super::costs::{BUCKET_ADDRESS, COMPARE, TAKE};
use super::keys::ProbeKeys;
use super::results::StoredResults;
use super::sites::Site;
use super::table::Table;
use crate::buckets::TUPLE_BYTES;
use crate::outcome::Checksum;
use crate::tracer::{Dep, Token, Trace};
use std::ops::Range;
use traces::OpClass;

/// A probe under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    pub(super) key: u64,
    /// The bucket that it visits next.
    pub(super) bucket: u64,
    /// What brought the bucket's address.
    pub(super) token: Token,
}

/// The probes of a thread: those to come, and what has been found.
#[derive(Debug)]
pub(super) struct Probes<'t> {
    pub(super) table: &'t Table,
    pub(super) keys: ProbeKeys,
    /// Address of the first of all threads' tuples.
    pub(super) input: u64,
    /// Those to come.
    pub(super) left: Range<u64>,
    pub(super) matches: u64,
    pub(super) checksum: Checksum,
    /// Where they are written, if they are.
    pub(super) results: Option<StoredResults>,
}

impl Probes<'_> {
    /// Begins the next probe, if there is one: where is its first bucket? Prefetches that if it is told to go `ahead`.
    #[inline(always)]
    pub(super) fn begin<T: Trace>(&mut self, trace: &mut T, ahead: bool) -> Option<Probe> {
        let number = self.left.next().filter(|_| !trace.failed());
        trace.branch(Site::ProbesLeft, number.is_some(), Dep::NONE);
        let number = number?;
        let address = self.input + number * TUPLE_BYTES;
        let key = self.keys.of(number);
        let loaded = trace.load(Site::ProbeTuple, address, 8, 1, Dep::NONE);
        let hashed = if self.table.multiplies() {
            trace.op(Site::Hash, OpClass::Multiply, loaded.after(0))
        } else {
            loaded
        };
        trace.work(BUCKET_ADDRESS.into());
        let probe = Probe {
            key,
            bucket: self.table.bucket(key),
            token: hashed,
        };
        let dep = hashed.after(BUCKET_ADDRESS);
        Some(self.announce(trace, probe, ahead, dep))
    }

    /// Prefetches the bucket that a probe visits next.
    #[inline(always)]
    fn announce<T: Trace>(&self, trace: &mut T, probe: Probe, ahead: bool, dep: Dep) -> Probe {
        if ahead {
            let memory = &self.table.memory;
            memory.prefetch(trace, Site::BucketPrefetch, probe.bucket, dep);
        }
        probe
    }

    /// Visits the probe's bucket, and gives the probe that goes on in the next, which it prefetches if it is told to go `ahead`: nothing
    /// if the match was found or there is none.
    #[inline(always)]
    pub(super) fn visit<T: Trace>(
        &mut self,
        trace: &mut T,
        probe: Probe,
        ahead: bool,
    ) -> Option<Probe> {
        let memory = &self.table.memory;
        let here = probe.token.after(0);
        for tuple in 0..self.table.spec().bucket_tuples {
            let key = memory.load(trace, Site::Key, Table::key(probe.bucket, tuple), here);
            let equal = key.value == probe.key;
            trace.work(COMPARE);
            trace.branch(Site::KeysEqual, equal, key.token.after(1));
            if equal {
                let place = Table::payload(probe.bucket, tuple);
                let payload = memory.load(trace, Site::Payload, place, here);
                self.checksum.add(payload.value);
                self.matches += 1;
                trace.work(TAKE);
                if let Some(results) = &mut self.results {
                    results.store(trace, [probe.key, payload.value], payload.token);
                }
                return None;
            }
        }
        let next = memory.load(trace, Site::Next, Table::next(probe.bucket), here);
        trace.work(COMPARE);
        trace.branch(Site::ChainEnds, next.value == 0, next.token.after(1));
        if next.value == 0 {
            return None;
        }
        let probe = Probe {
            bucket: next.value,
            token: next.token,
            ..probe
        };
        Some(self.announce(trace, probe, ahead, next.token.after(0)))
    }

    /// Takes a probe to its end with no other under way.
    #[inline(always)]
    pub(super) fn finish<T: Trace>(&mut self, trace: &mut T, probe: Probe) {
        let mut under_way = Some(probe);
        while let Some(probe) = under_way {
            under_way = self.visit(trace, probe, false);
        }
    }
}
