//! Scans of an index in pages by several threads: together they find what one finds, and nobody touches what is another's.

use serde_json::{Value, json};
use std::collections::HashSet;
use traces::{Event, EventSource, Kind};
use workloads::{Library, Outcome, Prepared, Workload, threads};

fn prepared(changes: &Value) -> Prepared {
    let mut value = json!({
        "kernel": "disk-index", "operation": "scan", "structure": "slotted", "page_bytes": 2048, "keys": 40_000, "operations": 3,
        "range": 14_003, "pool_frames": 280, "distance_pages": 4, "nonleaf_lines": 2, "leaf_lines": 3, "node_lines": 3,
        "subarray_lines": 2, "caches": "empty"
    });
    let more = changes.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(more);
    let workload: Workload = serde_json::from_value(value).unwrap();
    Library::default().prepare(&workload).unwrap()
}

/// The events of each thread, and what all leave.
fn run(prepared: &Prepared) -> (Vec<Vec<Event>>, Outcome) {
    let mut all = prepared.begin();
    let mut events = vec![Vec::new(); all.len()];
    for (thread, events) in all.iter_mut().zip(&mut events) {
        loop {
            let mut batch = Vec::new();
            thread.next_batch(&mut batch).unwrap();
            if batch.is_empty() {
                break;
            }
            events.append(&mut batch);
        }
    }
    (events, threads::outcome(all))
}

fn of(events: &[Event], kind: Kind) -> Vec<u64> {
    let of_kind = events.iter().filter(|event| event.kind == kind);
    of_kind.map(|event| event.address).collect()
}

const STRUCTURES: [&str; 5] = [
    "slotted",
    "array",
    "micro-index",
    "disk-first",
    "cache-first",
];

#[test]
fn threads_find_together_what_one_finds() {
    for structure in STRUCTURES {
        for maturity in ["bulkloaded", "mature"] {
            let with = |threads: u32| {
                let changes =
                    json!({"structure": structure, "maturity": maturity, "threads": threads});
                run(&prepared(&changes)).1.metrics
            };
            let alone = with(1);
            for threads in [2, 3, 7] {
                let found = with(threads);
                for name in [
                    "operations",
                    "returned",
                    "checksum",
                    "levels",
                    "index_bytes",
                    "leaf_pages",
                ] {
                    assert_eq!(
                        found[name], alone[name],
                        "{structure}, {maturity}, {threads} threads: {name}"
                    );
                }
            }
        }
    }
}

#[test]
fn threads_have_frames_and_buffers_of_their_own() {
    for structure in STRUCTURES {
        let prepared = prepared(&json!({"structure": structure, "threads": 3}));
        let (events, _) = run(&prepared);
        let segments = &prepared.layout().segments;
        let own = segments.len() / 3;
        for (thread, events) in events.iter().enumerate() {
            let segments = &segments[thread * own..][..own];
            for kind in [Kind::Load, Kind::Store, Kind::Prefetch, Kind::PageArrival] {
                for address in of(events, kind) {
                    let within = segments
                        .iter()
                        .any(|one| (one.base..one.base + one.size_bytes).contains(&address));
                    assert!(
                        within,
                        "{structure}: thread {thread}, {kind:?} at {address}"
                    );
                }
            }
        }
    }
}

/// Leaf pages are read by one thread, but for those in which one part ends and the next begins.
#[test]
fn parts_of_a_range_share_no_more_than_their_edges() {
    let alone = run(&prepared(&json!({"operations": 1}))).1.metrics["pages_read"];
    let (events, together) = run(&prepared(&json!({"operations": 1, "threads": 4})));
    let read = together.metrics["pages_read"];
    assert!((alone..=alone + 3 * 4).contains(&read), "{read} of {alone}");
    let pages: Vec<HashSet<u64>> = events
        .iter()
        .map(|events| of(events, Kind::PageRead).into_iter().collect())
        .collect();
    for (number, one) in pages.iter().enumerate() {
        for other in &pages[..number] {
            // The way down, and a leaf page at the edge.
            assert!(one.intersection(other).count() <= 4);
        }
        let barriers = of(&events[number], Kind::Barrier).len();
        assert_eq!(barriers, 1, "they begin together");
    }
}

#[test]
fn one_thread_meets_nobody() {
    let (events, _) = run(&prepared(&json!({"threads": 1})));
    assert!(of(&events[0], Kind::Barrier).is_empty());
}

#[test]
fn threads_without_frames_or_without_a_scan_are_refused() {
    let refused = |changes: Value| {
        let mut value = json!({"kernel": "disk-index", "operation": "scan", "structure": "array", "keys": 20_000, "operations": 1, "range": 5000});
        value
            .as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        let workload: Workload = serde_json::from_value(value).unwrap();
        workload.validate().unwrap_err().to_string()
    };
    let error = refused(json!({"threads": 8, "pool_frames": 20}));
    assert!(
        error.contains("pool_frames: 20, which 8 threads divide among themselves"),
        "{error}"
    );
    let error = refused(json!({"threads": 4, "pool_frames": 100, "distance_pages": 40}));
    assert!(
        error.contains("40 pages asked for ahead by each thread, and there are 100 frames"),
        "{error}"
    );
    let error = refused(json!({"threads": 2, "operation": "search"}));
    assert!(
        error.contains("threads: 2; only a scan is divided among threads"),
        "{error}"
    );
    let error = refused(json!({"threads": 8, "range": 7}));
    assert!(error.contains("range"), "{error}");
}
