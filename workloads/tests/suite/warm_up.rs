//! Warm-ups: what they leave as it is, and which are refused.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use traces::{Event, Kind};
use workloads::WarmUp;
use workloads::{Library, Outcome, Workload};

fn workload(kernel: &Value, changes: &Value) -> Workload {
    let mut value = kernel.clone();
    let changes = changes.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(changes);
    serde_json::from_value(value).unwrap()
}

fn events(kernel: &Value, changes: &Value) -> (Vec<Event>, Outcome) {
    let mut events = Vec::new();
    let prepared = Library::new().prepare(&workload(kernel, changes));
    let outcome = prepared.unwrap().run(&mut events).unwrap();
    (events, outcome)
}

/// A workload of every operation that a warm-up can come before.
fn kernels() -> Vec<Value> {
    let mut all = Vec::new();
    let p8 = |jump_pointers: &str| json!({"node_lines": 8, "prefetch": true, "jump_pointers": jump_pointers});
    for tree in [json!({}), p8("external"), p8("internal")] {
        for operation in ["search", "insert", "delete", "scan", "scan-and-insert"] {
            all.push(json!({"kernel": "index", "keys": 5_000, "operations": 200, "range": 100, "operation": operation, "tree": tree}));
        }
    }
    for layout in ["nsm", "pax", "dsm"] {
        for operation in ["scan", "point", "update"] {
            if operation != "update" || layout != "dsm" {
                all.push(json!({"kernel": "table", "records": 2000, "point_queries": 100, "layout": layout, "operation": operation, "aggregate": false, "predicates": 2}));
            }
        }
    }
    all.push(json!({"kernel": "table", "records": 2000, "layout": "super-column", "projected": 3}));
    all
}

/// The measured operations are those of the workload without a warm-up, on the same data: event by event.
#[test]
fn a_warm_up_leaves_data_and_operations_as_they_are() {
    for kernel in kernels() {
        let (empty, expected) = events(&kernel, &json!({"caches": "empty"}));
        let warm_up = 7;
        let (warm, mut outcome) = events(&kernel, &json!({"caches": "warm", "warm_up": warm_up}));
        let begin = warm.iter().position(|event| event.kind == Kind::Measure);
        let (before, measured) = warm.split_at(begin.unwrap());
        let operations = before.iter().filter(|event| event.kind == Kind::Mark);
        assert!(operations.clone().all(|mark| mark.address == 0));
        assert_eq!(operations.count(), warm_up, "{kernel}");
        assert!(before.len() > 10 * warm_up, "{kernel}");
        assert_eq!(
            outcome.metrics.remove("warm_up_operations"),
            Some(warm_up as u64)
        );
        assert_eq!(outcome, expected, "{kernel}");
        assert_eq!(empty[0].kind, Kind::Flush);
        assert_eq!(empty[1..], measured[1..], "{kernel}");
    }
}

/// Buffers of scans are as cold as without a warm-up.
#[test]
fn warm_up_scans_return_into_buffers_of_their_own() {
    let [before, measured] = pages_that_scans_return_into(false);
    assert!(before.len() >= 30);
    assert!(before.is_disjoint(&measured));
}

#[test]
fn scans_may_all_return_into_one_buffer() {
    let [before, measured] = pages_that_scans_return_into(true);
    assert_eq!(before, measured);
    assert_eq!(before.len(), 1);
}

/// Before the measured scans, and by them.
fn pages_that_scans_return_into(reuse_buffer: bool) -> [BTreeSet<u64>; 2] {
    let scan = json!({"kernel": "index", "keys": 5_000, "operations": 20, "range": 100, "operation": "scan", "reuse_buffer": reuse_buffer});
    let (events, _) = events(&scan, &json!({"warm_up": 30}));
    let stored = |events: &[Event]| {
        let stores = events.iter().filter(|event| event.kind == Kind::Store);
        stores.map(|event| event.address / 4096).collect()
    };
    let begin = events.iter().position(|event| event.kind == Kind::Measure);
    let (before, measured) = events.split_at(begin.unwrap());
    [stored(before), stored(measured)]
}

#[test]
fn warm_ups_without_effect_are_refused_by_name() {
    let refused = |kernel: &str, changes: Value| {
        let error = workload(&json!({"kernel": kernel}), &changes)
            .validate()
            .unwrap_err();
        (error.path, error.message)
    };
    for caches in ["empty", "cold"] {
        for (kernel, operation) in [("index", "search"), ("table", "point")] {
            let (path, message) = refused(
                kernel,
                json!({"operation": operation, "caches": caches, "warm_up": 5}),
            );
            assert_eq!(path, "warm_up");
            assert!(message.starts_with("has no effect"), "{message}");
        }
    }
    assert_eq!(refused("index", json!({"warm_up": 0})).0, "warm_up");
    assert_eq!(
        refused("index", json!({"warm_up": 100_000_001})).0,
        "warm_up"
    );
    assert_eq!(refused("table", json!({"caches": "cold"})).0, "caches");
    for kernel in ["pointer-array", "pointer-chase", "tpch"] {
        let given = json!({"kernel": kernel, "warm_up": 5});
        let error = serde_json::from_value::<Workload>(given).unwrap_err();
        assert!(
            error.to_string().contains("unknown field `warm_up`"),
            "{error}"
        );
    }
    let given = json!({"kernel": "index", "warm_up": "automatic"});
    let error = serde_json::from_value::<Workload>(given).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("a number of operations, or `auto`"),
        "{error}"
    );
}

/// Its length is found on a machine, which nobody here has.
#[test]
fn a_warm_up_of_unknown_length_cannot_be_prepared() {
    let index = workload(&json!({"kernel": "index", "keys": 100}), &json!({}));
    assert_eq!(index.warm_up(), Some(WarmUp::Auto));
    let error = Library::new().prepare(&index).unwrap_err();
    assert_eq!(error.path, "warm_up");
    let known = index.warmed_up(12);
    assert_eq!(known.warm_up(), Some(WarmUp::Operations(12)));
    assert!(Library::new().prepare(&known).is_ok());
    let empty = workload(&json!({"kernel": "table"}), &json!({}));
    assert_eq!(
        (empty.warm_up(), empty.clone().warmed_up(12)),
        (None, empty)
    );
}
