//! Runs the operations of an index workload.

use super::kept::AnyTree;
use super::spec::IndexWorkload;
use crate::family::{Family, Kernel};
use crate::operations::{Operation, ReturnBuffers, scan_end};
use crate::outcome::{Checksum, Outcome};
use crate::tracer::Trace;
use crate::tree::{ReturnBuffer, ScanRange, Site, Tree};
use crate::warm_up::{self, CacheState, WarmUp};
use crate::word::Word;
use traces::{Layout, Segment};

/// Phase of the operations; phase 0 is what comes before the first.
const OPERATION_PHASE: u16 = 1;

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

    fn run<T: Trace>(&self, _thread: u32, trace: &mut T) -> Outcome {
        match &self.tree {
            AnyTree::Four(tree) => run(&self.workload, Tree::clone(tree), trace),
            AnyTree::Eight(tree) => run(&self.workload, Tree::clone(tree), trace),
        }
    }
}

/// The names that the events of a workload on `tree` refer to.
fn layout<W: Word>(workload: &IndexWorkload, tree: &Tree<W>) -> Layout {
    let mut segments: Vec<Segment> = tree.segments().to_vec();
    segments.extend(workload.buffers().segment(tree.segments()));
    Layout {
        segments,
        sites: Site::NAMES.iter().map(ToString::to_string).collect(),
        phases: vec!["start".into(), workload.operation.phase().into()],
        calls: Vec::new(),
    }
}

/// Runs all operations on `tree`; stops early if the trace failed.
fn run<W: Word, T: Trace>(workload: &IndexWorkload, mut tree: Tree<W>, trace: &mut T) -> Outcome {
    let mut buffers = if T::NATIVE {
        // Memory of the tree's own, all of it touched.
        let origin = tree.settle();
        ReturnBuffers::native(workload.buffers(), tree.segments(), origin)
    } else {
        ReturnBuffers::simulated(workload.buffers(), tree.segments())
    };
    let keys = workload.done().drawn();
    let (node_splits, chunk_splits) = (tree.node_splits(), tree.chunk_splits());
    let leaves = tree.leaf_nodes();
    let mut checksum = Checksum::default();
    let mut returned = 0;
    tree.set_prefetching(workload.prefetching());
    trace.flush();
    warm(workload, &mut tree, &mut buffers, trace);
    for (number, &key) in (0_u64..).zip(&keys) {
        if trace.failed() {
            break;
        }
        if workload.caches == CacheState::Cold && number > 0 {
            trace.flush();
        }
        trace.mark(OPERATION_PHASE);
        let key_word = W::from_u64(key);
        let found = match workload.operation {
            Operation::Search => tree.search(trace, key_word),
            Operation::Insert => tree.insert(trace, key_word, W::from_u64(workload.keys + number)),
            Operation::Delete => tree.delete(trace, key_word),
            Operation::Scan => {
                let mut take = |tuples: &[W]| {
                    returned += tuples.len() as u64;
                    tuples.iter().for_each(|tuple| checksum.add(tuple.to_u64()));
                };
                scan(
                    workload,
                    &mut tree,
                    key,
                    buffers.get(number),
                    &mut take,
                    trace,
                );
                None
            }
        };
        if let Some(tuple) = found {
            returned += 1;
            checksum.add(tuple.to_u64());
        }
    }
    trace.end();
    let mut outcome = Outcome::default();
    outcome.set("operations", keys.len() as u64);
    if let Some(warm_up) = workload.warm_up() {
        outcome.set("warm_up_operations", WarmUp::operations(Some(warm_up)));
    }
    outcome.set("levels", tree.levels() as u64);
    outcome.set("leaf_nodes", tree.leaf_nodes());
    outcome.set("inner_nodes", tree.inner_nodes());
    outcome.set("index_bytes", tree.index_bytes());
    outcome.set("node_splits", tree.node_splits() - node_splits);
    // An insertion splits one leaf or none; the other node splits follow from that one.
    if workload.operation == Operation::Insert {
        outcome.set("splitting_insertions", tree.leaf_nodes() - leaves);
    }
    outcome.set("chunk_splits", tree.chunk_splits() - chunk_splits);
    outcome.set("returned", returned);
    outcome.set("checksum", checksum.value());
    outcome
}

/// Warms up by operations that leave the tree as it is. Scans take buffers of their own, behind those of the measured ones,
/// which are as cold as they would be without a warm-up.
fn warm<W: Word, T: Trace>(
    workload: &IndexWorkload,
    tree: &mut Tree<W>,
    buffers: &mut ReturnBuffers<W>,
    trace: &mut T,
) {
    let mut next_key = workload.done().warm_up_keys();
    warm_up::run(workload.warm_up(), trace, |trace, number| {
        let key = next_key();
        match workload.operation {
            Operation::Search | Operation::Insert | Operation::Delete => {
                tree.search(trace, W::from_u64(key));
            }
            Operation::Scan => {
                let buffer = buffers.get(workload.operations + number);
                scan(workload, tree, key, buffer, &mut |_| {}, trace);
            }
        }
    });
}

/// Scans the range that starts at `key` into a buffer, which `take` empties.
fn scan<W: Word, T: Trace>(
    workload: &IndexWorkload,
    tree: &mut Tree<W>,
    key: u64,
    (address, room): (u64, &mut [W]),
    take: &mut dyn FnMut(&[W]),
    trace: &mut T,
) {
    let range = ScanRange {
        start: W::from_u64(key),
        end: W::from_u64(scan_end(key, workload.range)),
        tuples: workload.range as usize,
    };
    let buffer = ReturnBuffer {
        address,
        room,
        take,
    };
    tree.scan(trace, range, buffer);
}
