//! Runs the operations of a workload on an index of strings.

use super::Site;
use super::format::Format;
use super::kept::AnyIndex;
use super::spec::StringIndexWorkload;
use super::text::{Text, Texts};
use super::tree::StringTree;
use crate::family::{Family, Kernel};
use crate::operations::{ReturnBuffers, Searched};
use crate::outcome::Outcome;
use crate::pool::limits::FEWEST_FRAMES;
use crate::pool::{Pool, Program};
use crate::tracer::Trace;
use crate::tree::{ReturnBuffer, ScanRange};
use std::sync::Arc;
use traces::{Layout, Segment};

/// What is done for an index of any kind.
macro_rules! each {
    ($index:expr, $tree:ident => $body:expr) => {
        match $index {
            AnyIndex::Slotted($tree) => $body,
            AnyIndex::InPage($tree) => $body,
        }
    };
}

/// A workload with its index, of which every run has a copy.
#[derive(Clone, Debug)]
pub(crate) struct StringIndexRun {
    workload: StringIndexWorkload,
    index: AnyIndex,
}

impl StringIndexRun {
    pub(super) fn new(workload: &StringIndexWorkload, index: AnyIndex) -> Self {
        let index = match index {
            AnyIndex::Slotted(index) => AnyIndex::Slotted(pooled(workload, index)),
            AnyIndex::InPage(index) => AnyIndex::InPage(pooled(workload, index)),
        };
        Self {
            workload: workload.clone(),
            index,
        }
    }

    fn pool(&self) -> &Pool {
        each!(&self.index, index => &index.pool)
    }
}

/// The index behind the pool that the workload wants.
fn pooled<F: Format>(
    workload: &StringIndexWorkload,
    index: Arc<StringTree<F>>,
) -> Arc<StringTree<F>> {
    if workload.pool_frames == 0 {
        return index;
    }
    let mut limited = StringTree::clone(&index);
    // No more than there may be pages.
    let most = u64::from(index.pool.most_pages()).max(FEWEST_FRAMES);
    let frames = workload.pool_frames.min(most) as u32;
    limited.pool = index.pool.limited(frames);
    limited.pool.freeze();
    Arc::new(limited)
}

impl Kernel for StringIndexRun {
    fn layout(&self) -> Layout {
        let mut segments: Vec<Segment> = self.pool().segments();
        segments.extend(self.workload.buffers().segment(&segments));
        Layout {
            segments,
            sites: Site::all(),
            phases: vec!["start".into(), self.workload.operation.phase().into()],
            calls: Vec::new(),
        }
    }

    fn run<T: Trace>(&self, _thread: u32, trace: &mut T) -> Outcome {
        each!(&self.index, index => run(&self.workload, StringTree::clone(index), trace))
    }
}

/// Runs all operations on `index`; stops early if the trace failed.
fn run<F: Format, T: Trace>(
    workload: &StringIndexWorkload,
    mut index: StringTree<F>,
    trace: &mut T,
) -> Outcome {
    let segments = index.pool.segments();
    index.pool.set_program(Program {
        upward_moves: workload.upward_moves,
        ..Program::default()
    });
    let mut buffers = if T::NATIVE {
        // Memory of the index's own, all of it touched.
        let origin = index.pool.settle();
        ReturnBuffers::native(workload.buffers(), &segments, origin)
    } else {
        ReturnBuffers::simulated(workload.buffers(), &segments)
    };
    let mut named = Named {
        index,
        texts: workload.texts(),
        distance: workload.distance_nodes,
    };
    let (operations, warm_up) = (workload.done(), workload.warm_up());
    let keys = operations.drawn();
    operations.warm(warm_up, &mut named, &mut buffers, trace);
    let before = Counts::of(&named.index);
    let caches = (workload.caches, warm_up);
    let done = operations.run(&keys, caches, &mut named, &mut buffers, trace);
    let index = named.index;
    let mut outcome = Outcome::default();
    done.begin(&mut outcome);
    let after = Counts::of(&index);
    outcome.set("levels", index.levels as u64);
    outcome.set("leaf_pages", after.leaf_pages);
    outcome.set("inner_pages", index.pool.pages() - after.leaf_pages);
    let page_bytes = u64::from(workload.page_bytes);
    outcome.set("index_bytes", index.pool.pages() * page_bytes);
    outcome.set("page_splits", after.splits - before.splits);
    if workload.operation.inserts() {
        outcome.set("leaf_page_splits", after.leaf_pages - before.leaf_pages);
    }
    outcome.set("pages_read", after.reads - before.reads);
    outcome.set("pages_written", after.writes - before.writes);
    done.end(&mut outcome);
    outcome
}

/// An index, the strings that numbers of keys stand for, and how far scans prefetch.
struct Named<F> {
    index: StringTree<F>,
    texts: Texts,
    distance: u32,
}

impl<F: Format> Searched for Named<F> {
    type Key = Text;
    type Tuple = u32;

    fn key(&self, number: u64) -> Text {
        self.texts.text(number)
    }

    fn search<T: Trace>(&mut self, trace: &mut T, key: Text) -> Option<u32> {
        self.index.search(trace, &key)
    }

    fn insert<T: Trace>(&mut self, trace: &mut T, key: Text, tuple: u64) -> Option<u32> {
        self.index.insert(trace, &key, tuple as u32)
    }

    fn delete<T: Trace>(&mut self, trace: &mut T, key: Text) -> Option<u32> {
        self.index.delete(trace, &key)
    }

    fn scan<T: Trace>(
        &mut self,
        trace: &mut T,
        range: ScanRange<Text>,
        buffer: ReturnBuffer<'_, u32>,
    ) {
        self.index.scan(trace, &range, buffer, self.distance);
    }
}

/// What an index counts since it was built.
struct Counts {
    leaf_pages: u64,
    splits: u64,
    reads: u64,
    writes: u64,
}

impl Counts {
    fn of<F: Format>(index: &StringTree<F>) -> Self {
        Self {
            leaf_pages: index.pages[0],
            splits: index.splits,
            reads: index.pool.reads(),
            writes: index.pool.writes(),
        }
    }
}
