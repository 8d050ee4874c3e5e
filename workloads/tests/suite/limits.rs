//! Workloads that are too large, or are stopped: nothing is built to find out.

use serde_json::{Value, json};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;
use traces::host_memory::Free;
use traces::{Event, EventSink, SinkError};
use workloads::watch::{Stopped, Watch, stoppable};
use workloads::{Library, Workload};

fn workload(value: Value) -> Workload {
    let workload: Workload = serde_json::from_value(value).unwrap();
    workload.validate().unwrap();
    workload
}

const GIB: u64 = 1 << 30;

fn free(memory: u64) -> Free {
    Free {
        memory,
        piece: u64::MAX,
    }
}

/// The largest workloads that validation lets pass, and the parameter that is named when there is too little memory.
#[test]
fn what_is_beyond_memory_is_refused_by_parameter() {
    let cases = [
        (
            "keys",
            json!({"kernel": "index", "keys": 200_000_000, "word_bytes": 8, "maturity": "mature"}),
        ),
        (
            "keys",
            json!({"kernel": "index", "keys": 150_000_000, "word_bytes": 8}),
        ),
        (
            "keys",
            json!({"kernel": "index", "keys": 50_000_000, "word_bytes": 8, "maturity": "mature", "tree": {"kind": "csb+"}}),
        ),
        (
            "operations",
            json!({"kernel": "index", "keys": 50_000_000, "operations": 100_000_000, "operation": "insert", "word_bytes": 8}),
        ),
        (
            "keys",
            json!({"kernel": "disk-index", "keys": 200_000_000, "key_bytes": 8}),
        ),
        (
            "operations",
            json!({"kernel": "disk-index", "keys": 50_000_000, "operations": 100_000_000, "operation": "insert", "structure": "disk-first"}),
        ),
        (
            "keys",
            json!({"kernel": "string-index", "keys": 200_000_000}),
        ),
        (
            "operations",
            json!({"kernel": "string-index", "keys": 50_000_000, "operations": 100_000_000, "operation": "insert"}),
        ),
        (
            "records",
            json!({"kernel": "table", "records": 134_217_728}),
        ),
        (
            "records",
            json!({"kernel": "table", "records": 134_217_728, "layout": "dsm"}),
        ),
        (
            "records",
            json!({"kernel": "table", "records": 100_000_000, "operation": "point"}),
        ),
        (
            "scale_factor",
            json!({"kernel": "tpch", "scale_factor": 4.0, "layout": "dsm"}),
        ),
        (
            "lines",
            json!({"kernel": "pointer-chase", "lines": 200_000, "tlb": "cold"}),
        ),
        (
            "lines",
            json!({"kernel": "pointer-array", "lines": 1_000_000, "pages": 200_000}),
        ),
    ];
    for (path, value) in cases {
        let workload = workload(value.clone());
        let error = workload
            .memory()
            .check(free(2 * GIB), false)
            .expect_err("too little");
        assert_eq!(error.path, path, "{value}");
        assert!(
            error.message.contains("2.0 GiB of memory are free"),
            "{error}"
        );
        workload.memory().check(Free::UNKNOWN, false).unwrap();
    }
}

#[test]
fn what_fits_is_not_refused() {
    let defaults = [
        "disk-index",
        "index",
        "pointer-array",
        "pointer-chase",
        "string-index",
        "table",
        "tpch",
    ];
    for kernel in defaults {
        let workload = workload(json!({"kernel": kernel}));
        workload.memory().check(free(GIB), false).unwrap();
    }
}

#[test]
fn what_was_built_before_needs_no_more_room() {
    let search = workload(json!({"kernel": "index", "keys": 100_000, "caches": "empty"}));
    let little = free(200_000);
    let mut library = Library::new();
    assert!(!library.holds(&search));
    search
        .memory()
        .check(little, false)
        .expect_err("too little");
    library.prepare(&search).unwrap();
    assert!(library.holds(&search));
    search.memory().check(little, true).unwrap();
}

#[test]
fn one_piece_larger_than_the_system_gives_is_refused() {
    let workload = workload(json!({"kernel": "index", "keys": 50_000_000}));
    let limited = Free {
        memory: u64::MAX,
        piece: 100 << 20,
    };
    let error = workload
        .memory()
        .check(limited, false)
        .expect_err("too little");
    assert!(error.message.contains("in one piece"), "{error}");
}

/// Every kernel is heard of while it builds, and stops there.
#[test]
fn building_is_stopped() {
    let cases = [
        json!({"kernel": "index", "keys": 500_000, "maturity": "mature", "caches": "empty"}),
        json!({"kernel": "index", "keys": 200_000, "maturity": "mature", "tree": {"kind": "csb+"}, "caches": "empty"}),
        json!({"kernel": "index", "keys": 2_000_000, "caches": "empty"}),
        json!({"kernel": "disk-index", "keys": 2_000_000, "caches": "empty"}),
        json!({"kernel": "disk-index", "keys": 200_000, "maturity": "mature", "structure": "cache-first", "caches": "empty"}),
        json!({"kernel": "string-index", "keys": 300_000, "caches": "empty"}),
        json!({"kernel": "pointer-chase", "lines": 200_000, "pages": 2_000}),
        json!({"kernel": "pointer-chase", "lines": 200_000, "tlb": "cold"}),
        json!({"kernel": "table", "records": 50_000}),
        json!({"kernel": "table", "records": 50_000, "layout": "dsm"}),
        json!({"kernel": "table", "records": 50_000, "layout": "dsm", "reconstruction": "merge"}),
        json!({"kernel": "table", "records": 50_000, "layout": "super-column"}),
        json!({"kernel": "tpch", "scale_factor": 0.01}),
    ];
    for value in cases {
        let workload = workload(value.clone());
        let heard = Rc::new(Cell::new(0));
        let hears = Rc::clone(&heard);
        let watch = Watch::begin(Box::new(move |_| {
            hears.set(hears.get() + 1);
            ControlFlow::Break(())
        }));
        let stopped = stoppable(|| Library::new().prepare(&workload).map(drop));
        assert_eq!((stopped, heard.get()), (Err(Stopped), 1), "{value}");
        drop(watch);
        Library::new().prepare(&workload).unwrap();
    }
}

/// Refuses everything.
struct Full;

impl EventSink for Full {
    fn consume(&mut self, _events: &[Event]) -> Result<(), SinkError> {
        Err(SinkError::Unsupported("full".to_owned()))
    }
}

/// One operation may have billions of events: a refusal does not wait for its end.
#[test]
fn a_refusal_ends_an_operation_in_its_middle() {
    let scan = json!({"kernel": "index", "operation": "scan", "keys": 1_000_000, "range": 1_000_000, "operations": 20_000, "caches": "empty"});
    let table = json!({"kernel": "table", "records": 200_000, "selectivity": 1.0});
    for value in [scan, table] {
        let prepared = Library::new().prepare(&workload(value)).unwrap();
        let error = prepared.run(&mut Full).unwrap_err();
        assert_eq!(error.to_string(), "full");
    }
}

/// What a run draws before its first event is watched too.
#[test]
fn drawing_keys_is_stopped() {
    let deletes = json!({"kernel": "index", "operation": "delete", "keys": 300_000, "operations": 300_000, "caches": "empty"});
    let prepared = Library::new().prepare(&workload(deletes)).unwrap();
    let _watch = Watch::begin(Box::new(|_| ControlFlow::Break(())));
    let mut events: Vec<Event> = Vec::new();
    let stopped = prepared.run(&mut events);
    assert!(matches!(stopped, Err(SinkError::Interrupted)));
    assert!(events.is_empty());
}

#[test]
fn an_interrupted_sink_stops_the_kernel() {
    struct Few(u64);
    impl EventSink for Few {
        fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
            self.0 += events.len() as u64;
            Err(SinkError::Interrupted)
        }
    }
    let mut few = Few(0);
    let result = Library::new()
        .prepare(&workload(
            json!({"kernel": "index", "keys": 20_000, "operations": 300, "caches": "empty"}),
        ))
        .unwrap()
        .run(&mut few);
    assert!(matches!(result, Err(SinkError::Interrupted)));
    assert!(few.0 <= 1024);
}

#[test]
fn lines_that_pages_have_no_room_for_are_refused() {
    let crowded = json!({"kernel": "pointer-chase", "pages": 2});
    let crowded: Workload = serde_json::from_value(crowded).unwrap();
    let error = crowded.validate().unwrap_err().to_string();
    assert!(error.contains("at most 254 lines"), "{error}");
}
