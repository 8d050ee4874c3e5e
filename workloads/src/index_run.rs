//! Runs the operations of an index workload.

use crate::arena::{PAGE_BYTES, Reservation, Word, place};
use crate::index::{ReturnBuffer, ScanRange, Site, Tree};
use crate::keys::{operation_keys, scan_end};
use crate::outcome::{Checksum, Outcome};
use crate::spec::{CacheState, IndexWorkload, Operation};
use crate::tracer::Trace;
use traces::{Layout, Segment};

/// Phase of the operations; phase 0 is what comes before the first.
const OPERATION_PHASE: u16 = 1;

/// Most addresses that return buffers take. A run that needs more reuses them in turn: by then they are as cold
/// as new ones, for this is many times what caches and TLBs reach.
const RETURN_BUFFER_BYTES: u64 = 256 << 20;

/// The return buffers of a workload's scans: each starts at a page of its own.
pub(crate) fn return_buffer(workload: &IndexWorkload) -> Option<Reservation> {
    (workload.operation == Operation::Scan).then(|| {
        let object_bytes = workload.buffer_bytes.next_multiple_of(PAGE_BYTES);
        let most = (RETURN_BUFFER_BYTES / object_bytes).max(1);
        Reservation {
            name: "return buffer".into(),
            object_bytes,
            objects: workload.operations.min(most),
        }
    })
}

/// The names that the events of a workload on `tree` refer to.
pub(crate) fn layout<W: Word>(workload: &IndexWorkload, tree: &Tree<W>) -> Layout {
    let mut segments: Vec<Segment> = tree.segments().to_vec();
    segments.extend(return_segment(workload, tree));
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
    }
}

/// The segment of the return buffers: behind those of the tree, which do not depend on the operation.
fn return_segment<W: Word>(workload: &IndexWorkload, tree: &Tree<W>) -> Option<Segment> {
    let buffer = return_buffer(workload)?;
    let mut segment = place(std::slice::from_ref(&buffer)).remove(0);
    segment.base += tree
        .segments()
        .last()
        .map_or(0, |last| last.base + last.size_bytes)
        .next_multiple_of(PAGE_BYTES);
    Some(segment)
}

/// Runs all operations on `tree`; stops early if the trace failed.
pub(crate) fn run<W: Word, T: Trace>(
    workload: &IndexWorkload,
    mut tree: Tree<W>,
    trace: &mut T,
) -> Outcome {
    let keys = operation_keys(workload);
    let buffers = return_segment(workload, &tree);
    let (node_splits, chunk_splits) = (tree.node_splits(), tree.chunk_splits());
    let leaves = tree.leaf_nodes();
    let mut checksum = Checksum::default();
    let mut returned = 0;
    let mut tuples = Vec::new();
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
                let segment = buffers.as_ref().expect("scans have a return buffer");
                let bytes = workload.buffer_bytes.next_multiple_of(PAGE_BYTES);
                tuples.clear();
                let range = ScanRange {
                    start: key_word,
                    end: W::from_u64(scan_end(key, workload.range)),
                    tuples: workload.range as usize,
                };
                let address = segment.base + number * bytes % segment.size_bytes;
                tree.scan(
                    trace,
                    range,
                    ReturnBuffer {
                        address,
                        capacity: workload.buffer_bytes as usize / W::BYTES,
                        tuples: &mut tuples,
                    },
                );
                returned += tuples.len() as u64;
                tuples.iter().for_each(|tuple| checksum.add(tuple.to_u64()));
                None
            }
        };
        if let Some(tuple) = found {
            returned += 1;
            checksum.add(tuple.to_u64());
        }
    }
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
