//! What the benchmarks share: the machine and the two workloads that stand for all others.

use serde_json::{Value, json};
use simcore::MachineSpec;
use traces::{Counter, Event};
use workloads::{Library, Prepared, Workload};

/// The thesis's simulator (Chen 2005, Table 2.3), as `configs/machines/thesis-simulator.yaml` resolves.
///
/// # Panics
/// If the specification has changed its shape.
#[must_use]
pub fn machine() -> MachineSpec {
    let cache = |name: &str, size: u64, ways: u32, latency: u32, mshrs: Option<u32>| {
        json!({"name": name, "size_bytes": size, "line_bytes": 64, "ways": ways, "latency_cycles": latency,
               "replacement": "lru", "mshrs": mshrs})
    };
    let spec = json!({
        "name": "thesis-simulator",
        "clock_hz": 1_500_000_000_u64,
        "core": {
            "kind": "out-of-order", "issue_width": 4, "reorder_buffer": 128, "integer_units": 2,
            "memory_ports": 2, "branch_units": 1, "multiply_latency_cycles": 4,
            "divide_latency_cycles": 50, "mispredict_penalty_cycles": 10,
            "branch_predictor": {"kind": "gshare", "history_bits": 12, "counters": 4096},
            "store_buffer_entries": 24
        },
        "caches": [
            cache("L1", 16 << 10, 4, 1, Some(32)),
            cache("L2", 256 << 10, 8, 5, None),
            cache("L3", 2 << 20, 8, 12, None)
        ],
        "dtlb": {
            "page_bytes": 16384, "levels": [{"entries": 128, "latency_cycles": 0}],
            "walk_latency_cycles": 30, "walker": "blocking", "prefetch_on_miss": "walk"
        },
        "memory": {"model": "fixed", "latency_cycles": 250, "interval_cycles": 15, "write_backs_use_bus": true}
    });
    serde_json::from_value(spec).expect("the specification")
}

/// Ten million keys in a B+-tree of one-line nodes: 10,000 warm random searches.
#[must_use]
pub fn search() -> Value {
    json!({
        "kernel": "index", "operation": "search",
        "tree": {"kind": "b+", "node_lines": 1, "prefetch": false, "jump_pointers": "none"},
        "word_bytes": 4, "line_bytes": 64, "keys": 10_000_000, "fill": 1.0, "maturity": "bulkloaded",
        "operations": 10_000, "caches": "warm", "seed": 1
    })
}

/// The same keys in eight-line nodes with external jump pointers: scans of 100,000 tupleIDs.
#[must_use]
pub fn scan() -> Value {
    json!({
        "kernel": "index", "operation": "scan",
        "tree": {"kind": "b+", "node_lines": 8, "prefetch": true, "jump_pointers": "external",
                 "distance_nodes": 3, "chunk_lines": 3, "chunk_fill": 0.8},
        "word_bytes": 4, "line_bytes": 64, "keys": 10_000_000, "fill": 1.0, "maturity": "bulkloaded",
        "operations": 5, "range": 100_000, "caches": "cold", "seed": 1
    })
}

/// Builds what the workload needs.
///
/// # Panics
/// If the workload is not valid.
#[must_use]
pub fn prepare(workload: Value) -> Prepared {
    let workload: Workload = serde_json::from_value(workload).expect("a workload");
    Library::new().prepare(&workload).expect("a valid workload")
}

/// The events of a workload, and how many there are.
///
/// # Panics
/// If the kernel stops early, which no sink here makes it do.
#[must_use]
pub fn events(prepared: &mut Prepared) -> Vec<Event> {
    let mut counter = Counter::default();
    prepared.run(&mut counter).expect("counting does not fail");
    let mut events: Vec<Event> = Vec::with_capacity(
        usize::try_from(counter.events.iter().sum::<u64>()).expect("fits memory"),
    );
    prepared.run(&mut events).expect("memory does not fail");
    events
}
