//! A workload of every kernel, operation and kind of structure: what tests hold to what is true of all.

use super::workload::{changed, workload};
use serde_json::{Value, json};
use traces::Event;
use workloads::{Library, Outcome, Workload};

/// A workload of a tree in memory, of a size that takes little time.
pub fn index(changes: Value) -> Workload {
    let base = json!({"kernel": "index", "keys": 20_000, "operations": 300, "range": 500, "caches": "empty"});
    workload(changed(base, &changes))
}

/// One of a relation in pages.
pub fn table(changes: Value) -> Workload {
    let base = json!({"kernel": "table", "records": 3000, "point_queries": 300});
    workload(changed(base, &changes))
}

/// A tree of wide nodes that are prefetched.
pub fn p8(jump_pointers: &str) -> Value {
    json!({"node_lines": 8, "prefetch": true, "jump_pointers": jump_pointers})
}

pub fn csb(node_lines: u32) -> Value {
    json!({"kind": "csb+", "node_lines": node_lines, "prefetch": node_lines > 1})
}

/// Every kind of tree in memory, with narrow nodes and wide ones.
pub fn every_tree() -> [Value; 7] {
    [
        json!({}),
        p8("none"),
        p8("external"),
        p8("internal"),
        csb(1),
        csb(2),
        csb(8),
    ]
}

/// One workload of every operation, tree and maturity.
pub fn every_workload() -> Vec<Workload> {
    let mut all = Vec::new();
    // Operations come last: they can share what others were built for.
    for tree in every_tree() {
        for maturity in ["bulkloaded", "mature"] {
            for operation in ["search", "insert", "delete", "scan"] {
                all.push(index(
                    json!({"operation": operation, "tree": tree, "maturity": maturity, "keys": 10_000, "operations": 100}),
                ));
            }
        }
    }
    for operation in ["search", "insert", "delete", "scan"] {
        all.push(index(json!({"operation": operation, "tree": csb(1), "caches": "cold", "word_bytes": 8, "line_bytes": 128})));
    }
    for structure in [
        json!({"structure": "slotted"}),
        json!({"structure": "array"}),
        json!({"structure": "micro-index", "subarray_lines": 2}),
        json!({"structure": "disk-first", "nonleaf_lines": 1, "leaf_lines": 6}),
        json!({"structure": "cache-first", "node_lines": 9}),
    ] {
        for setting in [
            json!({}),
            json!({"maturity": "mature"}),
            json!({"page_bytes": 16384, "fill": 0.7}),
            json!({"key_bytes": 20}),
            json!({"pool_frames": 16}),
        ] {
            for operation in ["search", "insert", "delete", "scan"] {
                let base = json!({"kernel": "disk-index", "operation": operation, "keys": 10_000, "operations": 150, "range": 500,
                    "page_bytes": 4096, "caches": "empty"});
                all.push(workload(changed(changed(base, &structure), &setting)));
            }
        }
    }
    for structure in [
        json!({"structure": "slotted"}),
        json!({"structure": "prefix-array", "prefix_bytes": 2}),
        json!({"structure": "prefix-array", "prefix_bytes": 8}),
        json!({"structure": "in-page-tree", "node_lines": 5}),
    ] {
        for setting in [
            json!({}),
            json!({"maturity": "mature"}),
            json!({"page_bytes": 16384, "fill": 0.7, "common_prefix_bytes": 8}),
            json!({"shortest_key_bytes": 18, "bits_per_byte": 1}),
            json!({"pool_frames": 16}),
        ] {
            for operation in ["search", "insert", "delete", "scan"] {
                let base = json!({"kernel": "string-index", "operation": operation, "keys": 10_000, "operations": 150, "range": 500,
                    "page_bytes": 4096, "caches": "empty"});
                all.push(workload(changed(changed(base, &structure), &setting)));
            }
        }
    }
    for layout in ["nsm", "pax", "dsm", "dsm-merge", "dsm-position"] {
        for operation in ["scan", "point", "update"] {
            if operation != "update" || layout != "dsm" {
                all.push(table(json!({"layout": layout, "operation": operation, "predicates": 2, "projected": 2, "first_projected": 6, "selectivity": 0.5})));
            }
        }
        all.push(table(json!({"layout": layout, "aggregate": false})));
    }
    for layout in ["standard-row", "super-row", "super-column"] {
        all.push(table(
            json!({"layout": layout, "first_projected": 1, "projected": 5}),
        ));
        all.push(table(json!({"layout": layout, "first_projected": 1, "projected": 8, "abstraction": [10, 15, 20], "level_attributes": [1, 3, 4]})));
    }
    all.push(workload(
        json!({"kernel": "pointer-array", "distance_lines": 5}),
    ));
    all.push(workload(json!({"kernel": "pointer-chase"})));
    all.push(workload(
        json!({"kernel": "pointer-chase", "tlb": "cold", "lines": 1000}),
    ));
    for algorithm in [
        "grace",
        "simple",
        "group",
        "pipelined",
        "cache-partitioning",
        "enhanced-cache-partitioning",
        "inspector",
        "choosing-inspector",
        "sort-merge",
    ] {
        for changes in [
            json!({}),
            json!({"order": "nearly-sorted", "displaced": 0.02}),
            json!({"order": "nearly-sorted", "displaced": 0.1, "tuple_bytes": 20, "partitions": 3}),
            json!({"tuple_bytes": 20, "duplicates": 5, "match_share": 0.3, "output": "reused"}),
            json!({"threads": 3, "partitions": 5, "page_ahead": 0, "output_ahead": 0, "line_bytes": 128}),
            json!({"match_share": 0.5, "matched_keys": "all", "false_positives": 0.05, "cache_bytes": 65536}),
            json!({"output": "stored", "pages_asked_ahead": 5}),
            json!({"tuple_lengths": "uniform", "tuple_bytes": 140}),
            json!({"tuple_lengths": "uniform", "shortest_tuple_bytes": 12, "tuple_bytes": 1024, "threads": 3, "partitions": 5, "duplicates": 2}),
            json!({"tuple_lengths": "uniform", "order": "nearly-sorted", "displaced": 0.05, "cache_bytes": 65536, "match_share": 0.5}),
        ] {
            let base = json!({"kernel": "hash-join", "algorithm": algorithm, "build_tuples": 1000, "probe_tuples": 2500});
            all.push(workload(changed(base, &changes)));
        }
    }
    for algorithm in ["grace", "simple", "group", "pipelined"] {
        for changes in [
            json!({}),
            json!({"tuple_bytes": 20, "output": "reused", "partitions": 1}),
            json!({"output": "stored", "pages_asked_ahead": 5}),
            json!({"threads": 3, "page_ahead": 0, "line_bytes": 128, "partitions": 300}),
            json!({"filter": "single", "probe_tuples": 4500, "match_share": 0.5}),
            json!({"filter": "single", "probe_tuples": 4500, "threads": 3, "output": "reused", "line_bytes": 128}),
            json!({"filter": "multiple", "probe_tuples": 4500, "match_share": 0.5, "false_positive_rate": 0.001, "cache_bytes": 10_000}),
            json!({"filter": "multiple", "probe_tuples": 4500, "threads": 3, "output": "reused", "tuple_bytes": 20, "partitions": 2}),
            json!({"filter": "multiple", "probe_tuples": 4500, "partitions": 3, "filter_layout": "horizontal", "cache_bytes": 1 << 16}),
            json!({"order": "nearly-sorted", "displaced": 0.05, "order_buffer_pages": 10}),
            json!({"order": "nearly-sorted", "displaced": 0.1, "order_buffer_pages": 20, "filter": "single", "probe_tuples": 4500, "threads": 3}),
            json!({"order_buffer_pages": 4, "duplicates": 5, "filter": "multiple", "probe_tuples": 4500, "cache_bytes": 10_000}),
            json!({"tuple_lengths": "uniform", "tuple_bytes": 140}),
            json!({"tuple_lengths": "uniform", "shortest_tuple_bytes": 12, "tuple_bytes": 1024, "threads": 3, "output": "reused"}),
            json!({"tuple_lengths": "uniform", "filter": "multiple", "probe_tuples": 4500, "partitions": 3, "cache_bytes": 1 << 16}),
            json!({"tuple_lengths": "uniform", "order": "nearly-sorted", "displaced": 0.05, "order_buffer_pages": 10}),
        ] {
            let base = json!({"kernel": "hash-partition", "algorithm": algorithm, "tuples": 2500, "partitions": 40});
            all.push(workload(changed(base, &changes)));
        }
    }
    for interleaving in ["one-by-one", "group", "amac", "coroutine"] {
        for changes in [
            json!({}),
            json!({"skew": 1.0, "threads": 3, "in_flight": 40}),
            json!({"keys": "dense", "bucket_tuples": 1}),
            json!({"bucket_tuples": 1}),
        ] {
            let base = json!({"kernel": "hash-probe", "interleaving": interleaving, "build_tuples": 1500, "probe_tuples": 4500});
            all.push(workload(changed(base, &changes)));
        }
    }
    for algorithm in [
        json!({"algorithm": "no-partitioning"}),
        json!({"algorithm": "radix", "radix_bits": 8}),
        json!({"algorithm": "radix", "radix_bits": 6, "passes": 1}),
        json!({"algorithm": "radix", "radix_bits": 8, "write_combining": true}),
        json!({"algorithm": "radix", "radix_bits": 8, "write_combining": true, "non_temporal": true}),
    ] {
        for changes in [
            json!({}),
            json!({"threads": 3, "keys": "scattered"}),
            json!({"threads": 16, "build_tuples": 4500, "skew": 1.0}),
            json!({"build_tuples": 4500, "keys": "scattered", "match_share": 0.2}),
            json!({"tuple_bytes": 8, "threads": 3, "keys": "scattered", "skew": 1.0, "match_share": 0.8}),
        ] {
            let base =
                json!({"kernel": "parallel-join", "build_tuples": 2000, "probe_tuples": 4500});
            all.push(workload(changed(changed(base, &algorithm), &changes)));
        }
    }
    for layout in ["nsm", "pax", "dsm", "dsm-merge", "dsm-position"] {
        for query in ["q1", "q6", "q12", "q14", "rs", "load", "update"] {
            if query != "update" || ["nsm", "pax"].contains(&layout) {
                all.push(workload(json!({
                    "kernel": "tpch", "query": query, "layout": layout, "scale_factor": 0.001,
                })));
            }
        }
    }
    all
}

/// What a workload does, with what the library keeps.
pub fn events(library: &mut Library, workload: &Workload) -> (Vec<Event>, Outcome) {
    let mut events = Vec::new();
    let outcome = library.prepare(workload).unwrap().run(&mut events).unwrap();
    (events, outcome)
}
