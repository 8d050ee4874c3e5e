//! Runs the operations of a workload on an index in pages.

use super::kept::AnyIndex;
use super::spec::DiskIndexWorkload;
use crate::family::{Family, Kernel};
use crate::operations::{Operation, Operations, ReturnBuffers, Searched};
use crate::outcome::Outcome;
use crate::paged_tree::{Ahead, Index, Key, Site};
use crate::pool::LatchSite;
use crate::tracer::Trace;
use crate::tree::{ReturnBuffer, ScanRange};
use std::sync::Arc;
use traces::{Layout, Segment};

/// Events after which another thread goes on where one core has them all.
const SLICE: u32 = 1 << 16;

/// A workload with its index, of which every run has a copy.
#[derive(Clone, Debug)]
pub(crate) struct DiskIndexRun {
    workload: DiskIndexWorkload,
    /// With a pool for one thread alone.
    index: AnyIndex,
    /// With the pool that the threads of a run share, or one alone that reads optimistically.
    shared: Option<AnyIndex>,
}

/// Does the same to an index with keys of any size.
macro_rules! each {
    ($index:expr, $of_keys:ident => $does:expr) => {
        match $index {
            AnyIndex::Four($of_keys) => $does,
            AnyIndex::Eight($of_keys) => $does,
            AnyIndex::Twenty($of_keys) => $does,
        }
    };
}

/// Makes an index of another with keys of the same size.
macro_rules! map {
    ($index:expr, $make:expr) => {
        match $index {
            AnyIndex::Four(index) => AnyIndex::Four($make(index)),
            AnyIndex::Eight(index) => AnyIndex::Eight($make(index)),
            AnyIndex::Twenty(index) => AnyIndex::Twenty($make(index)),
        }
    };
}

impl DiskIndexRun {
    pub(super) fn new(workload: &DiskIndexWorkload, index: AnyIndex) -> Self {
        let index = map!(index, |index| pooled(workload, index));
        let run = Self {
            workload: workload.clone(),
            index,
            shared: None,
        };
        run.renewed().unwrap_or(run)
    }

    /// Segments of the index and its pool.
    fn of_index(&self) -> Vec<Segment> {
        each!(&self.index, index => index.pool().segments())
    }

    /// The same, and the return buffers of threads up to a number.
    fn up_to(&self, thread: u32) -> Vec<Segment> {
        let mut segments = self.of_index();
        for _ in 0..thread {
            segments.extend(self.workload.buffers().segment(&segments));
        }
        segments
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

/// The same index behind a pool that threads share.
fn shared<K: Key>(workload: &DiskIndexWorkload, index: &Arc<Index<K>>) -> Arc<Index<K>> {
    let mut shared = Index::clone(index);
    *shared.pool_mut() = index
        .pool()
        .shared(workload.latching, Site::all().len() as u16);
    Arc::new(shared)
}

impl Kernel for DiskIndexRun {
    fn layout(&self) -> Layout {
        let mut sites = Site::all();
        if self.shared.is_some() {
            sites.extend(LatchSite::NAMES.iter().map(ToString::to_string));
        }
        Layout {
            segments: self.up_to(self.workload.threads),
            sites,
            phases: vec!["start".into(), self.workload.operation.phase().into()],
            calls: Vec::new(),
        }
    }

    fn renewed(&self) -> Option<Self> {
        self.workload.is_shared().then(|| Self {
            shared: Some(map!(&self.index, |index| shared(&self.workload, index))),
            ..self.clone()
        })
    }

    fn slice(&self) -> Option<u32> {
        (self.workload.threads > 1).then_some(SLICE)
    }

    fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
        let operations = self.workload.done_by(thread);
        // Natively each thread has a pool of its own: the shared one is of the simulated program.
        let shared = self.shared.as_ref().filter(|_| !T::NATIVE);
        let index = shared.unwrap_or(&self.index);
        let before = self.up_to(thread);
        each!(index, index => run(&self.workload, operations, Index::clone(index), &before, trace))
    }
}

/// Runs a thread's part of all operations on `index`, whose return buffers come behind `segments`; stops early if the trace failed.
fn run<K: Key, T: Trace>(
    workload: &DiskIndexWorkload,
    operations: Operations,
    mut index: Index<K>,
    segments: &[Segment],
    trace: &mut T,
) -> Outcome {
    index.pool_mut().set_program(workload.program());
    let mut buffers = if T::NATIVE {
        // Memory of the index's own, all of it touched.
        let origin = index.pool_mut().settle();
        ReturnBuffers::native(workload.buffers(), segments, origin)
    } else {
        ReturnBuffers::simulated(workload.buffers(), segments)
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
