//! Searches and scans of a tree in memory by several threads: together they load what one loads, and change nothing but what each returns.

use super::index_threads::{of, run};
use crate::common::every_workload::{csb, p8};
use serde_json::{Value, json};
use traces::{Event, Kind};
use workloads::{Library, Prepared, Workload};

const KEYS: u64 = 20_000;

fn trees() -> [Value; 4] {
    [json!({}), p8("external"), p8("internal"), csb(2)]
}

fn workload(changes: &Value) -> Workload {
    let mut value = json!({"kernel": "index", "keys": KEYS, "operations": 100, "caches": "empty"});
    let more = changes.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(more);
    serde_json::from_value(value).unwrap()
}

fn prepared(changes: &Value) -> Prepared {
    Library::default().prepare(&workload(changes)).unwrap()
}

/// Loads and prefetches of all threads below the return buffers, by site and address.
fn reads(prepared: &Prepared, events: &[Vec<Event>]) -> Vec<(u16, u64)> {
    let segments = &prepared.layout().segments;
    let buffers = segments.iter().find(|one| one.name == "return buffer");
    let end = buffers.map_or(u64::MAX, |first| first.base);
    let reads = events
        .iter()
        .flatten()
        .filter(|event| matches!(event.kind, Kind::Load | Kind::Prefetch) && event.address < end);
    let mut reads: Vec<_> = reads.map(|event| (event.site, event.address)).collect();
    reads.sort_unstable();
    reads
}

#[test]
fn threads_search_together_what_one_searches() {
    for tree in trees() {
        for skew in [0.0, 1.0] {
            let with = |threads: u32| {
                let prepared = prepared(
                    &json!({"tree": tree, "operation": "search", "skew": skew, "threads": threads}),
                );
                let (events, outcome) = run(&prepared);
                assert_eq!(events.len(), threads as usize);
                assert!(events.iter().all(|events| events.len() > 100));
                (reads(&prepared, &events), outcome.metrics)
            };
            let alone = with(1);
            assert_eq!(alone.1["returned"], 100);
            for threads in [2, 7] {
                assert_eq!(with(threads), alone, "{tree}, {threads} threads");
            }
        }
    }
}

#[test]
fn threads_scan_together_what_one_scans() {
    for tree in trees() {
        let with = |threads: u32| {
            let changes =
                json!({"tree": tree, "operation": "scan", "range": 5003, "threads": threads});
            run(&prepared(&changes)).1.metrics
        };
        let alone = with(1);
        assert_eq!(alone["returned"], 100 * 5003);
        for threads in [2, 7] {
            assert_eq!(with(threads), alone, "{tree}, {threads} threads");
        }
    }
}

#[test]
fn threads_store_into_return_buffers_of_their_own_alone() {
    for tree in trees() {
        let prepared =
            prepared(&json!({"tree": tree, "operation": "scan", "range": 1000, "threads": 3}));
        let (events, _) = run(&prepared);
        let segments = &prepared.layout().segments;
        let buffers = &segments[segments.len() - 3..];
        for (events, own) in events.iter().zip(buffers) {
            let own = own.base..own.base + own.size_bytes;
            let stores = of(events, Kind::Store);
            assert!(stores.len() > 1000, "{tree}");
            assert!(stores.iter().all(|store| own.contains(store)), "{tree}");
        }
    }
}

#[test]
fn threads_that_change_a_tree_are_refused() {
    let refused = |changes: Value| workload(&changes).validate().unwrap_err().to_string();
    for operation in ["insert", "delete"] {
        let error = refused(json!({"operation": operation, "threads": 2}));
        assert!(
            error.contains("threads: 2; only searches and scans are divided among threads"),
            "{error}"
        );
    }
    let error = refused(json!({"operation": "search", "threads": 2, "caches": "cold"}));
    assert!(error.contains("say `caches: empty`"), "{error}");
    let error = refused(json!({"operation": "scan", "threads": 8, "range": 7}));
    assert!(error.contains("range: 7"), "{error}");
    let error = refused(json!({"operation": "search", "threads": 257}));
    assert!(error.contains("threads: 257"), "{error}");
}
