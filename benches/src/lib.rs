//! What the benchmarks share: the machine and the workloads that stand for all others.

pub mod addresses;
pub mod bare;
pub mod lru;

use serde_json::{Value, json};
use simcore::MachineSpec;
use traces::{Counter, Event};
use workloads::{Library, Prepared, Workload};

/// The thesis's simulator (Chen 2005, Table 2.3): `configs/machines/thesis-simulator.yaml` as it resolves. A test holds
/// the two together.
///
/// # Panics
/// If the specification has changed its shape.
#[must_use]
pub fn machine() -> MachineSpec {
    serde_json::from_str(include_str!("thesis-simulator.json")).expect("the specification")
}

/// Ten million keys in a B+-tree of one-line nodes: 10,000 random searches from empty caches.
#[must_use]
pub fn search() -> Value {
    json!({
        "kernel": "index", "operation": "search",
        "tree": {"kind": "b+", "node_lines": 1, "prefetch": false, "jump_pointers": "none"},
        "word_bytes": 4, "line_bytes": 64, "keys": 10_000_000, "fill": 1.0, "maturity": "bulkloaded",
        "operations": 10_000, "caches": "empty", "seed": 1
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

/// A GRACE join of partitions that no cache holds: 100,000 build tuples of 100 bytes, each of which matches two probe tuples.
#[must_use]
pub fn grace() -> Value {
    json!({
        "kernel": "hash-join", "algorithm": "grace",
        "build_tuples": 100_000, "probe_tuples": 200_000, "tuple_bytes": 100, "seed": 1
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
