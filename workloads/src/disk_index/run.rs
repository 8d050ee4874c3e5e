//! Runs the operations of a workload on an index in pages.

use super::counts::Counts;
use super::kept::{AnyIndex, ByKey};
use super::spec::DiskIndexWorkload;
use super::turns::Turns;
use crate::family::{Family, Kernel};
use crate::operations::{Operations, ReturnBuffers, Searched};
use crate::outcome::Outcome;
use crate::paged_tree::{Ahead, Index, Key, Long, Site};
use crate::pool::LatchSite;
use crate::tracer::Trace;
use crate::tree::{ReturnBuffer, ScanRange};
use crate::validate::WorkloadError;
use std::sync::{Arc, Mutex};
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
    /// The index that they change together, where they do.
    changed: Option<ChangedIndex>,
}

/// An index that threads change, with keys of any size.
type ChangedIndex = ByKey<Arc<Mutex<Index<u32>>>, Arc<Mutex<Index<u64>>>, Arc<Mutex<Index<Long>>>>;

/// Does the same to an index with keys of any size.
macro_rules! each {
    ($index:expr, $of_keys:ident => $does:expr) => {
        match $index {
            ByKey::Four($of_keys) => $does,
            ByKey::Eight($of_keys) => $does,
            ByKey::Twenty($of_keys) => $does,
        }
    };
}

/// Makes an index of another with keys of the same size.
macro_rules! map {
    ($index:expr, $make:expr) => {
        match $index {
            ByKey::Four(index) => ByKey::Four($make(index)),
            ByKey::Eight(index) => ByKey::Eight($make(index)),
            ByKey::Twenty(index) => ByKey::Twenty($make(index)),
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
            changed: None,
        };
        run.renewed().unwrap_or(run)
    }

    /// Segments of the index and its pool.
    fn of_index(&self) -> Vec<Segment> {
        let mut segments = each!(&self.index, index => index.pool().segments());
        segments.extend(self.further_buffers(&segments));
        segments
    }

    /// Buffers of one page of all threads but the first, where they change pages.
    fn further_buffers(&self, behind: &[Segment]) -> Vec<Segment> {
        if !self.workload.is_changing() {
            return Vec::new();
        }
        each!(&self.index, index => index.pool().further_buffers(behind, self.workload.threads - 1))
    }

    /// The address of a thread's.
    fn buffer(&self, thread: u32) -> u64 {
        let pool = each!(&self.index, index => index.pool());
        match thread {
            0 => pool.buffer(),
            further => self.further_buffers(&pool.segments())[further as usize - 1].base,
        }
    }

    /// The same, and the return buffers of threads up to a number.
    fn up_to(&self, thread: u32) -> Vec<Segment> {
        self.workload.buffers().behind(&self.of_index(), thread)
    }
}

/// The index behind the pool that the workload wants.
fn pooled<K: Key>(workload: &DiskIndexWorkload, index: Arc<Index<K>>) -> Arc<Index<K>> {
    let pool = match (workload.frames(), workload.coloring_way_bytes) {
        (Some(frames), _) => Some(index.pool().limited(frames)),
        (None, way_bytes @ 1..) => index.pool().clone().colored(way_bytes),
        (None, 0) => None,
    };
    let Some(mut pool) = pool else {
        return index;
    };
    pool.freeze();
    let mut pooled = Index::clone(&index);
    *pooled.pool_mut() = pool;
    Arc::new(pooled)
}

/// The same index behind a pool that threads share.
fn shared<K: Key>(workload: &DiskIndexWorkload, index: &Arc<Index<K>>) -> Index<K> {
    let mut shared = Index::clone(index);
    let changing = workload.is_changing();
    let first_site = Site::all().len() as u16;
    *shared.pool_mut() = index.pool().shared(workload.latching, changing, first_site);
    shared
}

/// The same index, which threads change.
fn in_turns<K: Key>(workload: &DiskIndexWorkload, index: &Arc<Index<K>>) -> Arc<Mutex<Index<K>>> {
    let mut index = shared(workload, index);
    index.pool_mut().set_program(workload.program());
    Arc::new(Mutex::new(index))
}

/// An index of a thread's own, but for a pool that threads share.
fn own<K: Key>(workload: &DiskIndexWorkload, index: &Arc<Index<K>>) -> Reached<K> {
    let mut index = Index::clone(index);
    index.pool_mut().set_program(workload.program());
    Reached::Own(index)
}

impl Kernel for DiskIndexRun {
    fn layout(&self) -> Layout {
        let mut sites = Site::all();
        if self.workload.is_shared() {
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
        if !self.workload.is_shared() {
            return None;
        }
        let workload = &self.workload;
        if workload.is_changing() {
            let changed = map!(&self.index, |index| in_turns(workload, index));
            return Some(Self {
                changed: Some(changed),
                ..self.clone()
            });
        }
        let shared = map!(&self.index, |index| Arc::new(shared(workload, index)));
        Some(Self {
            shared: Some(shared),
            ..self.clone()
        })
    }

    fn check_native(&self) -> Result<(), WorkloadError> {
        if !self.workload.is_changing() || self.workload.threads == 1 {
            return Ok(());
        }
        let message = format!(
            "{}, which change one index; natively only one thread can",
            self.workload.threads
        );
        Err(WorkloadError::new("threads", message))
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
        let workload = &self.workload;
        // Natively one thread alone may change an index, and has it for itself.
        if let Some(changed) = self.changed.as_ref().filter(|_| !T::NATIVE) {
            return each!(changed, index => {
                let reached = Reached::InTurns(Turns::new(index, self.buffer(thread)));
                run(workload, operations, reached, &before, trace)
            });
        }
        each!(index, index => run(workload, operations, own(workload, index), &before, trace))
    }
}

/// Runs a thread's part of all operations on the index that is `reached`, whose return buffers come behind `segments`; stops early if the trace failed.
fn run<K: Key, T: Trace>(
    workload: &DiskIndexWorkload,
    operations: Operations,
    mut reached: Reached<K>,
    segments: &[Segment],
    trace: &mut T,
) -> Outcome {
    let mut buffers = match &mut reached {
        // Memory of the index's own, all of it touched.
        Reached::Own(index) if T::NATIVE => {
            let origin = index.pool_mut().settle();
            ReturnBuffers::native(workload.buffers(), segments, origin)
        }
        _ => ReturnBuffers::simulated(workload.buffers(), segments),
    };
    let mut prefetching = Prefetching {
        reached,
        ahead: workload.ahead(),
    };
    let warm_up = workload.warm_up();
    let keys = operations.drawn();
    operations.warm(warm_up, &mut prefetching, &mut buffers, trace);
    let before = prefetching.reached.counts();
    let caches = (workload.caches, warm_up);
    let done = operations.run(&keys, caches, &mut prefetching, &mut buffers, trace);
    let mut outcome = Outcome::default();
    let did = prefetching.reached.counts() - before;
    // What threads leave is summed up, and they have operations and an index together.
    if operations.thread.number == 0 {
        done.begin(&mut outcome);
        let page_bytes = u64::from(workload.page_bytes);
        prefetching.reached.operate(trace, |index, _| {
            let pages = index.pool().pages();
            outcome.set("levels", index.levels());
            outcome.set("leaf_pages", index.leaf_pages());
            outcome.set("inner_pages", pages - index.leaf_pages());
            outcome.set("index_bytes", pages * page_bytes);
            if workload.coloring_way_bytes > 0 {
                let kept_off = index.pool().kept_off_bytes(workload.coloring_way_bytes);
                outcome.set("kept_off_bytes", kept_off);
            }
        });
    }
    outcome.set("page_splits", did.splits);
    if workload.operation.inserts() {
        outcome.set("leaf_page_splits", did.leaf_pages);
    }
    outcome.set("pages_read", did.reads);
    if workload.distance_pages > 0 {
        outcome.set("pages_prefetched", did.prefetches);
    }
    outcome.set("pages_written", did.writes);
    done.end(&mut outcome);
    outcome
}

/// An index that a thread has for itself, all the time or in its turns.
#[expect(clippy::large_enum_variant, reason = "a thread has one")]
enum Reached<K> {
    Own(Index<K>),
    InTurns(Turns<K>),
}

impl<K: Key> Reached<K> {
    /// Does an operation. In turns, all that others do before it has been done.
    #[inline]
    fn operate<T: Trace, R>(
        &mut self,
        trace: &mut T,
        operation: impl FnOnce(&mut Index<K>, &mut T) -> R,
    ) -> R {
        match self {
            Self::Own(index) => operation(index, trace),
            Self::InTurns(turns) => turns.operate(trace, operation),
        }
    }

    /// What the thread did.
    fn counts(&self) -> Counts {
        match self {
            Self::Own(index) => Counts::of(index),
            Self::InTurns(turns) => turns.counts,
        }
    }
}

/// An index, and what its scans prefetch.
struct Prefetching<K> {
    reached: Reached<K>,
    ahead: Ahead,
}

impl<K: Key> Searched for Prefetching<K> {
    type Key = K;
    type Tuple = u32;

    fn key(&self, number: u64) -> K {
        K::from_u64(number)
    }

    fn search<T: Trace>(&mut self, trace: &mut T, key: K) -> Option<u32> {
        self.reached
            .operate(trace, |index, trace| index.search(trace, key))
    }

    fn insert<T: Trace>(&mut self, trace: &mut T, key: K, tuple: u64) -> Option<u32> {
        self.reached
            .operate(trace, |index, trace| index.insert(trace, key, tuple as u32))
    }

    fn delete<T: Trace>(&mut self, trace: &mut T, key: K) -> Option<u32> {
        self.reached
            .operate(trace, |index, trace| index.delete(trace, key))
    }

    fn scan<T: Trace>(
        &mut self,
        trace: &mut T,
        range: ScanRange<K>,
        buffer: ReturnBuffer<'_, u32>,
    ) {
        let ahead = self.ahead;
        self.reached.operate(trace, |index, trace| {
            index.scan(trace, range, buffer, ahead);
        });
    }
}
