//! Runs the operations of a workload on an index in pages.

use super::kept::AnyIndex;
use super::spec::{DiskIndexWorkload, Structure};
use crate::family::{Family, Kernel};
use crate::operations::{Operation, ReturnBuffers, scan_end};
use crate::outcome::{Checksum, Outcome};
use crate::paged_tree::{Ahead, Index, Key, Site};
use crate::tracer::Trace;
use crate::tree::{ReturnBuffer, ScanRange};
use crate::warm_up::{self, CacheState, WarmUp};
use std::sync::Arc;
use traces::{Layout, Segment};

/// Phase of the operations; phase 0 is what comes before the first.
const OPERATION_PHASE: u16 = 1;

/// A workload with its index, of which every run has a copy.
#[derive(Clone, Debug)]
pub(crate) struct DiskIndexRun {
    workload: DiskIndexWorkload,
    index: AnyIndex,
}

impl DiskIndexRun {
    pub(super) fn new(workload: &DiskIndexWorkload, index: AnyIndex) -> Self {
        let index = match index {
            AnyIndex::Four(index) => AnyIndex::Four(pooled(workload, index)),
            AnyIndex::Eight(index) => AnyIndex::Eight(pooled(workload, index)),
            AnyIndex::Twenty(index) => AnyIndex::Twenty(pooled(workload, index)),
        };
        Self {
            workload: workload.clone(),
            index,
        }
    }
}

/// The index behind the pool that the workload wants.
fn pooled<K: Key>(workload: &DiskIndexWorkload, index: Arc<Index<K>>) -> Arc<Index<K>> {
    let Some(frames) = workload.frames() else {
        return index;
    };
    let mut limited = Index::clone(&index);
    *limited.pool_mut() = index.pool().limited(frames);
    limited.pool_mut().freeze();
    Arc::new(limited)
}

impl Kernel for DiskIndexRun {
    fn layout(&self) -> Layout {
        let mut segments: Vec<Segment> = match &self.index {
            AnyIndex::Four(index) => index.pool().segments(),
            AnyIndex::Eight(index) => index.pool().segments(),
            AnyIndex::Twenty(index) => index.pool().segments(),
        };
        segments.extend(self.workload.buffers().segment(&segments));
        Layout {
            segments,
            sites: Site::all(),
            phases: vec!["start".into(), self.workload.operation.phase().into()],
            calls: Vec::new(),
        }
    }

    fn run<T: Trace>(&self, _thread: u32, trace: &mut T) -> Outcome {
        match &self.index {
            AnyIndex::Four(index) => run(&self.workload, Index::clone(index), trace),
            AnyIndex::Eight(index) => run(&self.workload, Index::clone(index), trace),
            AnyIndex::Twenty(index) => run(&self.workload, Index::clone(index), trace),
        }
    }
}

/// Runs all operations on `index`; stops early if the trace failed.
fn run<K: Key, T: Trace>(
    workload: &DiskIndexWorkload,
    mut index: Index<K>,
    trace: &mut T,
) -> Outcome {
    let segments = index.pool().segments();
    index.pool_mut().set_upward_moves(workload.upward_moves);
    let mut buffers = if T::NATIVE {
        // Memory of the index's own, all of it touched.
        let origin = index.pool_mut().settle();
        ReturnBuffers::native(workload.buffers(), &segments, origin)
    } else {
        ReturnBuffers::simulated(workload.buffers(), &segments)
    };
    let keys = workload.done().drawn();
    let mut checksum = Checksum::default();
    let mut returned = 0;
    trace.flush();
    warm(workload, &mut index, &mut buffers, trace);
    let before = Counts::of(&index);
    for (number, &key) in (0_u64..).zip(&keys) {
        if trace.failed() {
            break;
        }
        if workload.caches == CacheState::Cold && number > 0 {
            trace.flush();
        }
        trace.mark(OPERATION_PHASE);
        let word = K::from_u64(key);
        let found = match workload.operation {
            Operation::Search => index.search(trace, word),
            Operation::Insert => index.insert(trace, word, (workload.keys + number) as u32),
            Operation::Delete => index.delete(trace, word),
            Operation::Scan => {
                let mut take = |tuples: &[u32]| {
                    returned += tuples.len() as u64;
                    tuples.iter().for_each(|&tuple| checksum.add(tuple.into()));
                };
                let buffer = buffers.get(number);
                scan(workload, &mut index, key, buffer, &mut take, trace);
                None
            }
        };
        if let Some(tuple) = found {
            returned += 1;
            checksum.add(tuple.into());
        }
    }
    trace.end();
    let mut outcome = Outcome::default();
    outcome.set("operations", keys.len() as u64);
    if let Some(warm_up) = workload.warm_up() {
        outcome.set("warm_up_operations", WarmUp::operations(Some(warm_up)));
    }
    let after = Counts::of(&index);
    outcome.set("levels", index.levels());
    outcome.set("leaf_pages", after.leaf_pages);
    outcome.set("inner_pages", index.pool().pages() - after.leaf_pages);
    let page_bytes = u64::from(workload.page_bytes);
    outcome.set("index_bytes", index.pool().pages() * page_bytes);
    outcome.set("page_splits", after.splits - before.splits);
    if workload.operation == Operation::Insert {
        outcome.set("leaf_page_splits", after.leaf_pages - before.leaf_pages);
    }
    outcome.set("pages_read", after.reads - before.reads);
    if workload.distance_pages > 0 {
        outcome.set("pages_prefetched", after.prefetches - before.prefetches);
    }
    outcome.set("pages_written", after.writes - before.writes);
    outcome.set("returned", returned);
    outcome.set("checksum", checksum.value());
    outcome
}

/// What an index counts since it was built.
struct Counts {
    leaf_pages: u64,
    splits: u64,
    reads: u64,
    prefetches: u64,
    writes: u64,
}

impl Counts {
    fn of<K: Key>(index: &Index<K>) -> Self {
        Self {
            leaf_pages: index.leaf_pages(),
            splits: index.page_splits(),
            reads: index.pool().reads(),
            prefetches: index.pool().prefetches(),
            writes: index.pool().writes(),
        }
    }
}

/// Warms up by operations that leave the index as it is. Scans take buffers of their own, behind those of the measured ones,
/// which are as cold as they would be without a warm-up.
fn warm<K: Key, T: Trace>(
    workload: &DiskIndexWorkload,
    index: &mut Index<K>,
    buffers: &mut ReturnBuffers<u32>,
    trace: &mut T,
) {
    let mut next_key = workload.done().warm_up_keys();
    warm_up::run(workload.warm_up(), trace, |trace, number| {
        let key = next_key();
        match workload.operation {
            Operation::Search | Operation::Insert | Operation::Delete => {
                index.search(trace, K::from_u64(key));
            }
            Operation::Scan => {
                let buffer = buffers.get(workload.operations + number);
                scan(workload, index, key, buffer, &mut |_| {}, trace);
            }
        }
    });
}

/// Scans the range that starts at `key` into a buffer, which `take` empties.
fn scan<K: Key, T: Trace>(
    workload: &DiskIndexWorkload,
    index: &mut Index<K>,
    key: u64,
    (address, room): (u64, &mut [u32]),
    take: &mut dyn FnMut(&[u32]),
    trace: &mut T,
) {
    let range = ScanRange {
        start: K::from_u64(key),
        end: K::from_u64(scan_end(key, workload.range)),
        tuples: workload.range as usize,
    };
    let buffer = ReturnBuffer {
        address,
        room,
        take,
    };
    let fractal = matches!(
        workload.structure,
        Structure::DiskFirst | Structure::CacheFirst
    );
    let ahead = Ahead {
        nodes: (fractal && workload.jump_pointers).then_some(workload.distance_nodes),
        pages: workload.distance_pages,
    };
    index.scan(trace, range, buffer, ahead);
}
