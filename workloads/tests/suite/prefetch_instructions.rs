//! What code of a processor takes for a prefetch whose instruction has no offset in it.

use crate::common::every_workload::events;
use crate::common::workload::{changed, workload};
use serde_json::{Value, json};
use traces::{Event, Kind};
use workloads::Library;

/// Prefetches, and instructions in all.
fn counts(workload: &workloads::Workload) -> (u64, u64) {
    let (events, _) = events(&mut Library::new(), workload);
    let prefetches = events.iter().filter(|event| event.kind == Kind::Prefetch);
    let instructions = events
        .iter()
        .map(|event: &Event| u64::from(event.instructions) + event.own_instructions());
    (prefetches.count() as u64, instructions.sum())
}

/// Each prefetch takes seven instructions more, and nothing else changes.
fn each_takes_seven_more(without: &Value, with: &Value) {
    let (prefetches, instructions) = counts(&workload(without.clone()));
    assert!(prefetches > 100, "{without}");
    let dearer = counts(&workload(changed(without.clone(), with)));
    assert_eq!(
        dearer,
        (prefetches, instructions + 7 * prefetches),
        "{without}"
    );
}

#[test]
fn every_prefetch_of_a_tree_takes_them() {
    for operation in ["search", "scan", "insert"] {
        for (kind, jump_pointers) in [("b+", "none"), ("b+", "external"), ("csb+", "none")] {
            let tree = |instructions| {
                json!({"kind": kind, "node_lines": 4, "prefetch": true, "jump_pointers": jump_pointers,
                       "prefetch_instructions": instructions})
            };
            let mut index = json!({"kernel": "index", "operation": operation, "keys": 3000, "operations": 100,
                                   "caches": "empty", "tree": tree(0)});
            if operation == "scan" {
                index["range"] = json!(300);
            }
            each_takes_seven_more(&index, &json!({"tree": tree(7)}));
        }
    }
}

#[test]
fn every_prefetch_in_a_page_takes_them() {
    for operation in ["search", "scan", "insert"] {
        for structure in ["micro-index", "disk-first", "cache-first"] {
            let mut index = json!({"kernel": "disk-index", "operation": operation, "structure": structure, "page_bytes": 4096,
                                   "nonleaf_lines": 2, "leaf_lines": 3, "node_lines": 5, "subarray_lines": 2,
                                   "keys": 9000, "operations": 100, "caches": "empty"});
            if operation == "scan" {
                index["range"] = json!(300);
            }
            each_takes_seven_more(&index, &json!({"prefetch_instructions": 7}));
        }
    }
}
