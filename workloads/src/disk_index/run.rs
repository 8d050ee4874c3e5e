//! Runs the operations of a workload on an index in pages.

use super::kept::AnyIndex;
use super::spec::DiskIndexWorkload;
use crate::arena::PAGE_BYTES;
use crate::family::{Family, Kernel};
use crate::operations::{Operation, Operations, ReturnBuffers, Searched};
use crate::outcome::Outcome;
use crate::paged_tree::{Ahead, Index, Key, Site};
use crate::relocated::Relocated;
use crate::tracer::Trace;
use crate::tree::{ReturnBuffer, ScanRange};
use std::sync::Arc;
use traces::{Layout, Segment};

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

impl DiskIndexRun {
    /// Segments of one thread.
    fn segments(&self) -> Vec<Segment> {
        let mut segments = match &self.index {
            AnyIndex::Four(index) => index.pool().segments(),
            AnyIndex::Eight(index) => index.pool().segments(),
            AnyIndex::Twenty(index) => index.pool().segments(),
        };
        segments.extend(self.workload.buffers().segment(&segments));
        segments
    }

    /// How far the addresses of a thread lie behind those of the first one.
    fn displacement(&self, thread: u32) -> u64 {
        let segments = self.segments();
        let end = segments
            .last()
            .map_or(0, |last| last.base + last.size_bytes);
        u64::from(thread) * end.next_multiple_of(PAGE_BYTES)
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
        let own = self.segments();
        let of = |thread: u32| {
            let bytes = self.displacement(thread);
            own.iter().map(move |segment| Segment {
                base: segment.base + bytes,
                ..segment.clone()
            })
        };
        Layout {
            segments: (0..self.workload.threads).flat_map(of).collect(),
            sites: Site::all(),
            phases: vec!["start".into(), self.workload.operation.phase().into()],
            calls: Vec::new(),
        }
    }

    fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
        let operations = self.workload.done_by(thread);
        let mut own = Relocated::new(trace, self.displacement(thread), 0);
        match &self.index {
            AnyIndex::Four(index) => run(&self.workload, operations, Index::clone(index), &mut own),
            AnyIndex::Eight(index) => {
                run(&self.workload, operations, Index::clone(index), &mut own)
            }
            AnyIndex::Twenty(index) => {
                run(&self.workload, operations, Index::clone(index), &mut own)
            }
        }
    }
}

/// Runs a thread's part of all operations on `index`; stops early if the trace failed.
fn run<K: Key, T: Trace>(
    workload: &DiskIndexWorkload,
    operations: Operations,
    mut index: Index<K>,
    trace: &mut T,
) -> Outcome {
    let segments = index.pool().segments();
    index.pool_mut().set_program(workload.program());
    let mut buffers = if T::NATIVE {
        // Memory of the index's own, all of it touched.
        let origin = index.pool_mut().settle();
        ReturnBuffers::native(workload.buffers(), &segments, origin)
    } else {
        ReturnBuffers::simulated(workload.buffers(), &segments)
    };
    let mut prefetching = Prefetching {
        index,
        ahead: workload.ahead(),
    };
    let warm_up = workload.warm_up();
    let keys = operations.drawn();
    operations.warm(warm_up, &mut prefetching, &mut buffers, trace);
    let before = Counts::of(&prefetching.index);
    let caches = (workload.caches, warm_up);
    let done = operations.run(&keys, caches, &mut prefetching, &mut buffers, trace);
    let index = prefetching.index;
    let mut outcome = Outcome::default();
    let after = Counts::of(&index);
    // What threads leave is summed up, and they have operations and an index together.
    if operations.thread.number == 0 {
        done.begin(&mut outcome);
        outcome.set("levels", index.levels());
        outcome.set("leaf_pages", after.leaf_pages);
        outcome.set("inner_pages", index.pool().pages() - after.leaf_pages);
        let page_bytes = u64::from(workload.page_bytes);
        outcome.set("index_bytes", index.pool().pages() * page_bytes);
    }
    outcome.set("page_splits", after.splits - before.splits);
    if workload.operation == Operation::Insert {
        outcome.set("leaf_page_splits", after.leaf_pages - before.leaf_pages);
    }
    outcome.set("pages_read", after.reads - before.reads);
    if workload.distance_pages > 0 {
        outcome.set("pages_prefetched", after.prefetches - before.prefetches);
    }
    outcome.set("pages_written", after.writes - before.writes);
    done.end(&mut outcome);
    outcome
}

/// An index, and what its scans prefetch.
struct Prefetching<K> {
    index: Index<K>,
    ahead: Ahead,
}

impl<K: Key> Searched for Prefetching<K> {
    type Key = K;
    type Tuple = u32;

    fn key(&self, number: u64) -> K {
        K::from_u64(number)
    }

    fn search<T: Trace>(&mut self, trace: &mut T, key: K) -> Option<u32> {
        self.index.search(trace, key)
    }

    fn insert<T: Trace>(&mut self, trace: &mut T, key: K, tuple: u64) -> Option<u32> {
        self.index.insert(trace, key, tuple as u32)
    }

    fn delete<T: Trace>(&mut self, trace: &mut T, key: K) -> Option<u32> {
        self.index.delete(trace, key)
    }

    fn scan<T: Trace>(
        &mut self,
        trace: &mut T,
        range: ScanRange<K>,
        buffer: ReturnBuffer<'_, u32>,
    ) {
        self.index.scan(trace, range, buffer, self.ahead);
    }
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
