//! Runs the operations of an index workload.

use super::kept::AnyTree;
use super::spec::IndexWorkload;
use crate::family::{Family, Kernel};
use crate::operations::{Operations, ReturnBuffers, Searched};
use crate::outcome::Outcome;
use crate::tracer::Trace;
use crate::tree::{ReturnBuffer, ScanRange, Site, Tree};
use crate::word::Word;
use traces::Layout;

/// A workload with its tree, of which every run has a copy.
#[derive(Clone, Debug)]
pub(crate) struct IndexRun {
    pub(super) workload: IndexWorkload,
    pub(super) tree: AnyTree,
}

impl Kernel for IndexRun {
    fn layout(&self) -> Layout {
        match &self.tree {
            AnyTree::Four(tree) => layout(&self.workload, tree),
            AnyTree::Eight(tree) => layout(&self.workload, tree),
        }
    }

    fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
        let operations = self.workload.done_by(thread);
        match &self.tree {
            AnyTree::Four(tree) => run(&self.workload, operations, Tree::clone(tree), trace),
            AnyTree::Eight(tree) => run(&self.workload, operations, Tree::clone(tree), trace),
        }
    }
}

/// The names that the events of a workload on `tree` refer to.
fn layout<W: Word>(workload: &IndexWorkload, tree: &Tree<W>) -> Layout {
    Layout {
        segments: workload.buffers().behind(tree.segments(), workload.threads),
        sites: Site::NAMES.iter().map(ToString::to_string).collect(),
        phases: vec!["start".into(), workload.operation.phase().into()],
        calls: Vec::new(),
    }
}

/// Runs a thread's part of all operations on `tree`; stops early if the trace failed.
fn run<W: Word, T: Trace>(
    workload: &IndexWorkload,
    operations: Operations,
    mut tree: Tree<W>,
    trace: &mut T,
) -> Outcome {
    let wanted = workload.buffers();
    let before = wanted.behind(tree.segments(), operations.thread.number);
    let mut buffers = if T::NATIVE {
        // Memory of the tree's own, all of it touched; but threads share what nobody changes.
        let origin = if workload.threads == 1 {
            tree.settle()
        } else {
            tree.origin()
        };
        ReturnBuffers::native(wanted, &before, origin)
    } else {
        ReturnBuffers::simulated(wanted, &before)
    };
    let (node_splits, chunk_splits) = (tree.node_splits(), tree.chunk_splits());
    let leaves = tree.leaf_nodes();
    tree.set_prefetching(workload.prefetching());
    let warm_up = workload.warm_up();
    let keys = operations.drawn();
    operations.warm(warm_up, &mut tree, &mut buffers, trace);
    let caches = (workload.caches, warm_up);
    let done = operations.run(&keys, caches, &mut tree, &mut buffers, trace);
    let mut outcome = Outcome::default();
    // What threads leave is summed up, and they have operations and a tree together.
    if operations.thread.number == 0 {
        done.begin(&mut outcome);
        outcome.set("levels", tree.levels() as u64);
        outcome.set("leaf_nodes", tree.leaf_nodes());
        outcome.set("inner_nodes", tree.inner_nodes());
        outcome.set("index_bytes", tree.index_bytes());
    }
    outcome.set("node_splits", tree.node_splits() - node_splits);
    // An insertion splits one leaf or none; the other node splits follow from that one.
    if workload.operation.inserts() {
        outcome.set("splitting_insertions", tree.leaf_nodes() - leaves);
    }
    outcome.set("chunk_splits", tree.chunk_splits() - chunk_splits);
    done.end(&mut outcome);
    outcome
}

impl<W: Word> Searched for Tree<W> {
    type Key = W;
    type Tuple = W;

    fn key(&self, number: u64) -> W {
        W::from_u64(number)
    }

    fn search<T: Trace>(&mut self, trace: &mut T, key: W) -> Option<W> {
        Self::search(self, trace, key)
    }

    fn insert<T: Trace>(&mut self, trace: &mut T, key: W, tuple: u64) -> Option<W> {
        Self::insert(self, trace, key, W::from_u64(tuple))
    }

    fn delete<T: Trace>(&mut self, trace: &mut T, key: W) -> Option<W> {
        Self::delete(self, trace, key)
    }

    fn scan<T: Trace>(&mut self, trace: &mut T, range: ScanRange<W>, buffer: ReturnBuffer<'_, W>) {
        Self::scan(self, trace, range, buffer);
    }
}
