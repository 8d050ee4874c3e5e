//! Native runs do what the traced ones do, and are timed.

use crate::common::every_workload::every_tree;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use traces::Counter;
use workloads::native::{Measured, NativeError, Options};
use workloads::pointers::{PointerChaseWorkload, TlbState, measure_laps};
use workloads::{Library, Prepared, Workload};

const OPTIONS: Options = Options {
    repetitions: 2,
    evict_bytes: 1 << 16,
};

fn prepared(value: Value) -> Prepared {
    let workload: Workload = serde_json::from_value(value).unwrap();
    Library::new().prepare(&workload).unwrap()
}

fn run(prepared: &Prepared) -> Measured {
    prepared
        .run_native(OPTIONS, &mut |_| ControlFlow::Continue(()))
        .unwrap()
}

/// Every operation on every tree, with both sizes of words, warm, empty and cold: the outcome (what was found, what was split)
/// is that of the traced run.
#[test]
fn outcomes_are_those_of_traced_runs() {
    for tree in every_tree() {
        for operation in ["search", "insert", "delete", "scan"] {
            for (word_bytes, caches) in [(4, "warm"), (4, "empty"), (8, "cold")] {
                let warm_up = (caches == "warm").then_some(30);
                let prepared = prepared(json!({
                    "kernel": "index", "operation": operation, "tree": tree, "keys": 20_000, "operations": 40,
                    "range": 3_000, "word_bytes": word_bytes, "caches": caches, "warm_up": warm_up
                }));
                let measured = run(&prepared);
                let traced = prepared.run(&mut Counter::default()).unwrap();
                assert_eq!(measured.outcome, traced, "{operation} {tree} {caches}");
                assert_eq!(measured.times_ns.len(), 2);
                assert!(measured.times_ns.iter().all(|&time| time > 0.0));
                let cold = caches == "cold";
                assert_eq!(
                    measured.intervals == 40,
                    cold,
                    "{} intervals",
                    measured.intervals
                );
            }
        }
    }
}

/// Strings in pages of every kind, changed or not, behind a pool or not.
#[test]
fn outcomes_of_string_indexes_are_those_of_traced_runs() {
    for structure in [
        json!({"structure": "slotted"}),
        json!({"structure": "prefix-array", "prefix_bytes": 4}),
        json!({"structure": "in-page-tree", "node_lines": 8}),
    ] {
        for operation in ["search", "insert", "delete", "scan"] {
            for (pool_frames, bits_per_byte) in [(0, 8), (16, 2)] {
                let mut workload = json!({
                    "kernel": "string-index", "operation": operation, "keys": 20_000, "operations": 400, "range": 1_000,
                    "page_bytes": 4096, "caches": "empty", "pool_frames": pool_frames, "bits_per_byte": bits_per_byte
                });
                let more = structure.as_object().unwrap().clone();
                workload.as_object_mut().unwrap().extend(more);
                let prepared = prepared(workload.clone());
                let traced = prepared.run(&mut Counter::default()).unwrap();
                assert_eq!(run(&prepared).outcome, traced, "{workload}");
                let returned = match operation {
                    "scan" => 400_000,
                    "insert" => 0,
                    _ => 400,
                };
                assert_eq!(traced.metrics["returned"], returned, "{workload}");
            }
        }
    }
}

/// Searches find every key: the ranks that they return are summed, and none is missing.
#[test]
fn native_searches_find_their_keys() {
    let measured = run(&prepared(
        json!({"kernel": "index", "keys": 1, "operations": 500, "caches": "empty"}),
    ));
    assert_eq!(measured.outcome.metrics["returned"], 500);
}

#[test]
fn pointer_kernels_have_memory_behind_their_lines() {
    for workload in [
        json!({"kernel": "pointer-chase", "lines": 500, "pages": 16, "page_bytes": 4096, "line_bytes": 64}),
        json!({"kernel": "pointer-chase", "lines": 50, "tlb": "cold", "word_bytes": 4}),
        json!({"kernel": "pointer-array", "lines": 500, "pages": 16, "distance_lines": 0}),
        json!({"kernel": "pointer-array", "lines": 500, "pages": 16, "distance_lines": 500, "word_bytes": 4}),
    ] {
        let prepared = prepared(workload);
        let measured = run(&prepared);
        assert_eq!(
            measured.outcome,
            prepared.run(&mut Counter::default()).unwrap()
        );
        assert_eq!(measured.intervals, 1);
    }
}

/// Ten times as many laps take longer: laps depend on each other, and the compiler has not removed them.
#[test]
fn laps_take_their_time() {
    let chain = PointerChaseWorkload {
        lines: 64,
        ..PointerChaseWorkload::default()
    };
    let least = |laps| {
        let options = Options {
            repetitions: 9,
            evict_bytes: 0,
        };
        let measured = measure_laps(&chain, laps, options, &mut |_| ControlFlow::Continue(()));
        measured
            .unwrap()
            .times_ns
            .into_iter()
            .fold(f64::INFINITY, f64::min)
    };
    assert!(least(10_000) > 3.0 * least(1_000));
}

#[test]
fn an_observer_stops_the_run() {
    let prepared = prepared(
        json!({"kernel": "index", "keys": 1_000_000, "operations": 10_000_000, "caches": "empty"}),
    );
    let mut heard = u64::MAX;
    let stopped = prepared.run_native(OPTIONS, &mut |operations| {
        heard = operations;
        ControlFlow::Break(())
    });
    assert_eq!(stopped, Err(NativeError::Interrupted));
    assert!(heard < 10_000_000, "after {heard} operations");
}

#[test]
fn memory_beyond_the_host_is_refused() {
    let chain = PointerChaseWorkload {
        lines: 10_000_000,
        tlb: TlbState::Cold,
        ..PointerChaseWorkload::default()
    };
    let refused = measure_laps(&chain, 1, OPTIONS, &mut |_| ControlFlow::Continue(()));
    let Err(NativeError::Workload(error)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(
        error.message,
        "152.6 GiB of addresses; natively it must be at most 16 GiB"
    );
}
