//! Runs the operations of an index workload.

use crate::arena::Word;
use crate::index::{ReturnBuffer, ScanRange, Site, Tree};
use crate::keys::{operation_keys, scan_end};
use crate::outcome::{Checksum, Outcome};
use crate::return_buffers::{self, ReturnBuffers};
use crate::spec::{CacheState, IndexWorkload, Operation};
use crate::tracer::Trace;
use traces::{Layout, Segment};

/// Phase of the operations; phase 0 is what comes before the first.
pub(crate) const OPERATION_PHASE: u16 = 1;

/// The names that the events of a workload on `tree` refer to.
pub(crate) fn layout<W: Word>(workload: &IndexWorkload, tree: &Tree<W>) -> Layout {
    let mut segments: Vec<Segment> = tree.segments().to_vec();
    segments.extend(return_buffers::segment(workload, tree.segments()));
    let operation = match workload.operation {
        Operation::Search => "search",
        Operation::Insert => "insert",
        Operation::Delete => "delete",
        Operation::Scan => "scan",
    };
    Layout {
        segments,
        sites: Site::NAMES.iter().map(ToString::to_string).collect(),
        phases: vec!["start".into(), operation.into()],
        calls: Vec::new(),
    }
}

/// Runs all operations on `tree` in simulated memory; stops early if the trace failed.
pub(crate) fn run<W: Word, T: Trace>(
    workload: &IndexWorkload,
    tree: Tree<W>,
    trace: &mut T,
) -> Outcome {
    let buffers = ReturnBuffers::simulated(workload, tree.segments());
    run_with(workload, tree, buffers, trace)
}

/// Runs all operations on a tree that has settled in the host's memory at `origin`.
pub(crate) fn run_native<W: Word, T: Trace>(
    workload: &IndexWorkload,
    tree: Tree<W>,
    origin: *const u8,
    trace: &mut T,
) -> Outcome {
    let buffers = ReturnBuffers::native(workload, tree.segments(), origin);
    run_with(workload, tree, buffers, trace)
}

fn run_with<W: Word, T: Trace>(
    workload: &IndexWorkload,
    mut tree: Tree<W>,
    mut buffers: ReturnBuffers<W>,
    trace: &mut T,
) -> Outcome {
    let keys = operation_keys(workload);
    let (node_splits, chunk_splits) = (tree.node_splits(), tree.chunk_splits());
    let leaves = tree.leaf_nodes();
    let mut checksum = Checksum::default();
    let mut returned = 0;
    tree.set_prefetching(workload.prefetching());
    trace.flush();
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
                let (address, room) = buffers.get(number);
                let range = ScanRange {
                    start: key_word,
                    end: W::from_u64(scan_end(key, workload.range)),
                    tuples: workload.range as usize,
                };
                let mut take = |tuples: &[W]| {
                    returned += tuples.len() as u64;
                    tuples.iter().for_each(|tuple| checksum.add(tuple.to_u64()));
                };
                let take = &mut take;
                tree.scan(
                    trace,
                    range,
                    ReturnBuffer {
                        address,
                        room,
                        take,
                    },
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
