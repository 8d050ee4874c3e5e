//! Every kernel's layout, events, outcome and estimates are what they were: their digests stand in `event_streams.txt`.
//!
//! **When this fails,** the simulated program has changed, and with it every number that was simulated with it. Moving code must not do
//! that: find out why. Mending a kernel may: say in the changelog which results move, run again what is published of them, and
//! write the digests anew with `MEMWALK_WRITE_DIGESTS=1 cargo test -p memwalk-workloads event_streams`. The columns say what has
//! changed: `estimates` alone moves no result, `layout` alone renames or moves data structures.

use crate::common::digest::Digest;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use traces::Layout;
use workloads::{Library, Outcome, Workload};

fn of_layout(layout: &Layout) -> Digest {
    let mut digest = Digest::new();
    for segment in &layout.segments {
        digest.text(&segment.name);
        digest.word(segment.base);
        digest.word(segment.size_bytes);
    }
    for names in [&layout.sites, &layout.phases, &layout.calls] {
        names.iter().for_each(|name| digest.text(name));
        digest.word(names.len() as u64);
    }
    digest
}

fn of_outcome(outcome: &Outcome) -> Digest {
    let mut digest = Digest::new();
    for (name, &value) in &outcome.metrics {
        digest.text(name);
        digest.word(value);
    }
    digest
}

fn of_estimates(workload: &Workload) -> Digest {
    let (work, memory) = (workload.work(), workload.memory());
    let mut digest = Digest::new();
    [work.building, work.events, work.calls]
        .into_iter()
        .chain([memory.building, memory.running, memory.piece])
        .for_each(|number| digest.word(number));
    digest
}

/// `base` with what each of `changes` says, in turn.
fn with(base: &Value, changes: &[&Value]) -> Value {
    let mut value = base.clone();
    for change in changes {
        let change = change.as_object().unwrap().clone();
        value.as_object_mut().unwrap().extend(change);
    }
    value
}

fn index() -> Vec<Value> {
    let base = json!({"kernel": "index", "keys": 3000, "operations": 60, "range": 200});
    let p8 = |jump_pointers: &str| json!({"tree": {"node_lines": 8, "prefetch": true, "jump_pointers": jump_pointers}});
    let trees = [json!({}), p8("none"), p8("external"), p8("internal")];
    let settings = [
        json!({"caches": "empty"}),
        json!({"caches": "cold", "maturity": "mature"}),
        json!({"caches": "warm", "warm_up": 9, "word_bytes": 8}),
        json!({"caches": "warm", "warm_up": 9, "word_bytes": 8, "maturity": "mature"}),
    ];
    let mut all = Vec::new();
    for tree in &trees {
        for operation in ["search", "insert", "delete", "scan"] {
            for setting in &settings {
                all.push(with(
                    &base,
                    &[&json!({"operation": operation}), tree, setting],
                ));
            }
        }
    }
    let csb = json!({"tree": {"kind": "csb+", "node_lines": 3, "prefetch": true}});
    for operation in ["search", "scan"] {
        for setting in [&settings[0], &settings[2]] {
            all.push(with(
                &base,
                &[&json!({"operation": operation}), &csb, setting],
            ));
        }
    }
    // Groups of nodes grow, are divided and shrink.
    let many = json!({"caches": "empty", "operations": 2900});
    let mature = json!({"caches": "cold", "maturity": "mature"});
    for node_lines in [1, 2, 8] {
        let tree =
            json!({"tree": {"kind": "csb+", "node_lines": node_lines, "prefetch": node_lines > 1}});
        for operation in ["insert", "delete"] {
            for setting in [&settings[0], &mature, &settings[3], &many] {
                all.push(with(
                    &base,
                    &[&json!({"operation": operation}), &tree, setting],
                ));
            }
        }
        for operation in ["search", "scan"] {
            all.push(with(
                &base,
                &[&json!({"operation": operation}), &tree, &mature],
            ));
        }
    }
    for operation in ["insert", "delete"] {
        let mixed = json!({"operation": operation, "search_share": 0.4, "skew": 0.8});
        all.push(with(&base, &[&mixed, &settings[2]]));
        let mixed = json!({"operation": operation, "search_share": 0.4});
        all.push(with(&base, &[&mixed, &csb, &settings[2]]));
    }
    for operation in ["search", "scan"] {
        let threads = json!({"operation": operation, "threads": 3});
        for tree in [&trees[0], &trees[2], &csb] {
            all.push(with(&base, &[&threads, tree, &settings[2]]));
        }
    }
    let long = json!({"caches": "empty", "operations": 3, "range": 2500});
    let fine = json!({"tree": {"node_lines": 2, "prefetch": true, "jump_pointers": "external", "distance_nodes": 5, "chunk_lines": 1,
        "chunk_fill": 0.4}, "operation": "scan", "fill": 0.6, "line_bytes": 128, "seed": 7});
    all.push(with(&base, &[&long, &fine]));
    all.push(with(&base, &[&long, &fine, &json!({"buffer_bytes": 128})]));
    // Splits and merges of nodes and chunks.
    for operation in ["insert", "delete"] {
        for tree in [&trees[2], &trees[3], &fine] {
            all.push(with(
                &base,
                &[tree, &many, &json!({"operation": operation})],
            ));
        }
    }
    all
}

fn disk_index() -> Vec<Value> {
    let base = json!({"kernel": "disk-index", "keys": 9000, "operations": 60, "range": 200, "page_bytes": 4096});
    let structures = [
        json!({"structure": "slotted"}),
        json!({"structure": "array"}),
        json!({"structure": "micro-index", "subarray_lines": 2}),
        json!({"structure": "disk-first", "nonleaf_lines": 1, "leaf_lines": 6}),
        json!({"structure": "cache-first", "node_lines": 9}),
    ];
    let settings = [
        json!({"caches": "empty"}),
        json!({"caches": "cold", "maturity": "mature", "key_bytes": 20}),
        json!({"caches": "warm", "warm_up": 9, "key_bytes": 8, "line_bytes": 128, "page_bytes": 8192, "fill": 0.7}),
        json!({"caches": "empty", "pool_frames": 16, "seed": 3}),
    ];
    let mut all = Vec::new();
    for structure in &structures {
        for operation in ["search", "insert", "delete", "scan"] {
            for setting in &settings {
                let operation = json!({"operation": operation});
                all.push(with(&base, &[&operation, structure, setting]));
            }
        }
        // Pages, nodes and roots are split, and pages reorganized.
        let many = json!({"operation": "insert", "caches": "empty", "operations": 9000, "page_bytes": 2048});
        all.push(with(&base, &[structure, &many]));
        let long = json!({"operation": "scan", "caches": "empty", "operations": 3, "range": 8000, "buffer_bytes": 256});
        all.push(with(&base, &[structure, &long]));
        for operation in ["insert", "delete"] {
            let moves = json!({"operation": operation, "caches": "empty", "upward_moves": "through-buffer"});
            all.push(with(&base, &[structure, &moves]));
            let calls = json!({"buffer_call": 280, "entry_call": 0, "copy_call": 150});
            all.push(with(&base, &[structure, &moves, &calls]));
        }
        let ahead = json!({"pool_frames": 30, "distance_pages": 4, "maturity": "mature", "bulkloaded_share": 0.6});
        all.push(with(&base, &[structure, &long, &ahead]));
        let search = json!({"operation": "search", "caches": "empty"});
        for frames in [0, 60] {
            let shared = json!({"threads": 3, "pool_frames": frames});
            all.push(with(&base, &[structure, &search, &shared]));
        }
        let divided = json!({"threads": 3, "pool_frames": 60, "distance_pages": 2});
        all.push(with(&base, &[structure, &long, &divided]));
        let mixed = json!({"operation": "insert", "search_share": 0.4, "skew": 0.9, "caches": "warm", "warm_up": 9});
        all.push(with(&base, &[structure, &mixed]));
        let skewed = json!({"skew": 0.9});
        all.push(with(&base, &[structure, &search, &skewed]));
        all.push(with(&base, &[structure, &long, &skewed]));
        let optimistic = json!({"latching": "optimistic"});
        all.push(with(&base, &[structure, &search, &optimistic]));
        all.push(with(&base, &[structure, &long, &divided, &optimistic]));
        if structure["structure"] != "cache-first" {
            for operation in ["insert", "delete"] {
                let threads = json!({"operation": operation, "threads": 3, "operations": 900, "pool_frames": 60});
                all.push(with(&base, &[&search, structure, &threads]));
                all.push(with(&base, &[&search, structure, &threads, &optimistic]));
            }
        }
        let fractal = structure
            .get("nonleaf_lines")
            .or(structure.get("node_lines"));
        if fractal.is_some() {
            let plain = json!({"jump_pointers": false});
            all.push(with(&base, &[structure, &long, &plain]));
        }
    }
    all
}

fn string_index() -> Vec<Value> {
    let base = json!({"kernel": "string-index", "keys": 9000, "operations": 60, "range": 200, "page_bytes": 4096});
    let structures = [
        json!({"structure": "slotted"}),
        json!({"structure": "prefix-array", "prefix_bytes": 4}),
        json!({"structure": "prefix-array", "prefix_bytes": 16}),
        json!({"structure": "in-page-tree", "node_lines": 8}),
    ];
    let settings = [
        json!({"caches": "empty"}),
        json!({"caches": "cold", "maturity": "mature", "shortest_key_bytes": 8, "longest_key_bytes": 12, "bits_per_byte": 4}),
        json!({"caches": "warm", "warm_up": 9, "common_prefix_bytes": 10, "line_bytes": 128, "page_bytes": 8192, "fill": 0.7}),
        json!({"caches": "empty", "pool_frames": 16, "bits_per_byte": 1, "seed": 3}),
    ];
    let mut all = Vec::new();
    for structure in &structures {
        for operation in ["search", "insert", "delete", "scan"] {
            for setting in &settings {
                let operation = json!({"operation": operation});
                all.push(with(&base, &[&operation, structure, setting]));
            }
        }
        // Pages and roots are split, and pages compacted.
        let many = json!({"operation": "insert", "caches": "empty", "operations": 9000, "page_bytes": 2048, "longest_key_bytes": 24});
        let nodes = if structure.get("node_lines").is_some() {
            json!({"node_lines": 4})
        } else {
            json!({})
        };
        all.push(with(&base, &[structure, &many, &nodes]));
        let long = json!({"operation": "scan", "caches": "empty", "operations": 3, "range": 8000, "buffer_bytes": 256});
        all.push(with(&base, &[structure, &long]));
        let moves =
            json!({"operation": "delete", "caches": "empty", "upward_moves": "through-buffer"});
        all.push(with(&base, &[structure, &moves]));
        if structure.get("node_lines").is_some() {
            for distance in [0, 5] {
                let ahead = json!({"distance_nodes": distance});
                all.push(with(&base, &[structure, &long, &ahead]));
            }
            // Nodes and roots of pages are split, and pages reorganized.
            all.push(with(
                &base,
                &[structure, &many, &json!({"node_lines": 4, "fill": 0.7})],
            ));
        }
    }
    all
}

fn pointers() -> Vec<Value> {
    let mut all = Vec::new();
    for word_bytes in [4, 8] {
        for distance in [0, 5] {
            all.push(json!({"kernel": "pointer-array", "lines": 300, "pages": 4, "distance_lines": distance, "word_bytes": word_bytes}));
        }
        for tlb in ["warm", "cold"] {
            all.push(json!({"kernel": "pointer-chase", "lines": 300, "pages": 4, "tlb": tlb, "word_bytes": word_bytes}));
        }
    }
    all
}

fn join() -> Vec<Value> {
    let base = json!({"kernel": "hash-join", "build_tuples": 400, "probe_tuples": 800});
    let mut all = Vec::new();
    for algorithm in [
        "grace",
        "simple",
        "group",
        "pipelined",
        "cache-partitioning",
    ] {
        for changes in [
            json!({}),
            json!({"tuple_bytes": 20, "duplicates": 7, "match_share": 0.5, "output": "reused", "page_ahead": 0, "seed": 2}),
            json!({"skew": 1.0, "match_share": 0.7, "duplicates": 2}),
            json!({"threads": 3, "partitions": 4, "page_bytes": 4096, "group_size": 10, "prefetch_distance": 3}),
        ] {
            all.push(with(&base, &[&json!({"algorithm": algorithm}), &changes]));
        }
    }
    let few_bytes = json!({"algorithm": "cache-partitioning", "cache_bytes": 8192});
    all.push(with(&base, &[&few_bytes, &json!({"partitions": 2})]));
    let on_storage = json!({"pages_asked_ahead": 3, "output": "stored", "partitions": 2});
    for algorithm in ["group", "inspector", "sort-merge"] {
        all.push(with(
            &base,
            &[&json!({"algorithm": algorithm}), &on_storage],
        ));
    }
    for algorithm in ["enhanced-cache-partitioning", "inspector", "group"] {
        for changes in [
            json!({"cache_bytes": 16384, "false_positives": 0.01, "match_share": 0.5, "matched_keys": "all"}),
            json!({"cache_bytes": 16384, "false_positives": 0.1, "tuple_bytes": 20, "duplicates": 7, "output": "reused", "page_ahead": 0, "seed": 2}),
            json!({"cache_bytes": 8192, "false_positives": 0.05, "threads": 3, "partitions": 4, "page_bytes": 4096, "group_size": 10, "prefetch_distance": 3}),
        ] {
            all.push(with(&base, &[&json!({"algorithm": algorithm}), &changes]));
        }
    }
    for algorithm in ["enhanced-cache-partitioning", "choosing-inspector"] {
        let past = json!({"algorithm": algorithm, "cache_bytes": 8192, "non_temporal": true, "duplicates": 7, "switch_at": 1, "tuple_bytes": 36});
        all.push(with(
            &base,
            &[&past, &json!({"threads": 2, "partitions": 3})],
        ));
    }
    for changes in [
        json!({}),
        json!({"order": "nearly-sorted", "displaced": 0.05, "duplicates": 7, "tuple_bytes": 20, "match_share": 0.5, "seed": 2}),
        json!({"order": "nearly-sorted", "displaced": 0.1, "threads": 3, "partitions": 4, "prefetch_distance": 3, "page_ahead": 0, "output": "reused"}),
    ] {
        let sort_merge = json!({"algorithm": "sort-merge"});
        all.push(with(&base, &[&sort_merge, &changes]));
    }
    for algorithm in ["group", "enhanced-cache-partitioning", "inspector"] {
        let nearly_sorted = json!({"order": "nearly-sorted", "displaced": 0.05, "cache_bytes": 16384, "false_positives": 0.01, "match_share": 0.5});
        all.push(with(
            &base,
            &[&json!({"algorithm": algorithm}), &nearly_sorted],
        ));
    }
    let choosing = json!({"algorithm": "choosing-inspector", "cache_bytes": 16384, "false_positives": 0.01, "match_share": 0.5, "duplicates": 4, "switch_at": 2});
    for changes in [
        json!({}),
        json!({"duplicates": 1, "threads": 2, "partitions": 3}),
    ] {
        all.push(with(&base, &[&choosing, &changes]));
    }
    for algorithm in [
        "grace",
        "group",
        "pipelined",
        "cache-partitioning",
        "enhanced-cache-partitioning",
        "inspector",
        "sort-merge",
    ] {
        let uneven = json!({"algorithm": algorithm, "tuple_lengths": "uniform", "tuple_bytes": 140, "cache_bytes": 16384, "partitions": 2});
        all.push(with(&base, &[&uneven]));
    }
    all
}

fn probe() -> Vec<Value> {
    let base = json!({"kernel": "hash-probe", "build_tuples": 1000, "probe_tuples": 1500});
    let mut all = Vec::new();
    for interleaving in ["one-by-one", "group", "amac", "coroutine"] {
        for changes in [
            json!({}),
            json!({"skew": 1.0, "in_flight": 3, "seed": 2}),
            json!({"threads": 3, "build_tuples": 5}),
            json!({"keys": "dense", "bucket_tuples": 1}),
            json!({"bucket_tuples": 1, "skew": 1.0}),
            json!({"results": "stored", "threads": 2}),
        ] {
            all.push(with(
                &base,
                &[&json!({"interleaving": interleaving}), &changes],
            ));
        }
    }
    all
}

fn parallel_join() -> Vec<Value> {
    let base = json!({"kernel": "parallel-join", "build_tuples": 1000, "probe_tuples": 1500});
    let mut all = Vec::new();
    for algorithm in [
        json!({"algorithm": "no-partitioning"}),
        json!({"algorithm": "radix", "radix_bits": 6}),
        json!({"algorithm": "radix", "radix_bits": 5, "passes": 1}),
        json!({"algorithm": "radix", "radix_bits": 7, "write_combining": true}),
        json!({"algorithm": "radix", "radix_bits": 7, "write_combining": true, "non_temporal": true}),
    ] {
        for changes in [
            json!({}),
            json!({"keys": "scattered", "skew": 1.0, "match_share": 0.5, "seed": 2}),
            json!({"threads": 3, "build_tuples": 500, "keys": "scattered"}),
        ] {
            all.push(with(&base, &[&algorithm, &changes]));
        }
    }
    all
}

fn partition() -> Vec<Value> {
    let base = json!({"kernel": "hash-partition", "tuples": 1500, "partitions": 12});
    let mut all = Vec::new();
    for algorithm in ["grace", "simple", "group", "pipelined"] {
        for changes in [
            json!({}),
            json!({"tuple_bytes": 20, "partitions": 3, "output": "reused", "page_ahead": 0, "seed": 2}),
            json!({"threads": 3, "page_bytes": 4096, "tuple_bytes": 1000, "group_size": 10, "prefetch_distance": 3}),
        ] {
            all.push(with(&base, &[&json!({"algorithm": algorithm}), &changes]));
        }
    }
    let on_storage = json!({"pages_asked_ahead": 3, "output": "stored"});
    all.push(with(&base, &[&json!({"algorithm": "group"}), &on_storage]));
    let base = with(&base, &[&json!({"probe_tuples": 2500, "match_share": 0.5})]);
    for algorithm in ["grace", "simple", "group", "pipelined"] {
        for changes in [
            json!({"filter": "single"}),
            json!({"filter": "single", "threads": 3, "tuple_bytes": 20, "false_positive_rate": 0.001, "line_bytes": 128}),
            json!({"filter": "multiple", "output": "reused", "cache_bytes": 8192, "page_bytes": 4096}),
            json!({"filter": "multiple", "threads": 3, "partitions": 4, "cache_bytes": 20_000, "false_positive_rate": 0.001, "seed": 2}),
            json!({"filter": "multiple", "filter_layout": "horizontal", "partitions": 4, "cache_bytes": 20_000}),
        ] {
            all.push(with(&base, &[&json!({"algorithm": algorithm}), &changes]));
        }
    }
    for algorithm in ["grace", "simple", "group", "pipelined"] {
        for changes in [
            json!({"order_buffer_pages": 10, "order": "nearly-sorted", "displaced": 0.05}),
            json!({"filter": "single", "order_buffer_pages": 1, "order": "nearly-sorted", "displaced": 0.05, "threads": 2}),
            json!({"filter": "multiple", "cache_bytes": 20_000, "order_buffer_pages": 1, "duplicates": 3}),
            json!({"filter": "multiple", "cache_bytes": 20_000, "order": "nearly-sorted", "switch_at": 2, "duplicates": 3}),
        ] {
            let probe = if changes["filter"].is_string() {
                json!({})
            } else {
                json!({"filter": "none", "probe_tuples": 20_000, "match_share": 1.0})
            };
            all.push(with(
                &base,
                &[&json!({"algorithm": algorithm}), &probe, &changes],
            ));
        }
    }
    for algorithm in ["grace", "simple", "group", "pipelined"] {
        for changes in [
            json!({"filter": "none", "probe_tuples": 20_000, "match_share": 1.0}),
            json!({"filter": "multiple", "cache_bytes": 20_000, "partitions": 4}),
        ] {
            let uneven =
                json!({"algorithm": algorithm, "tuple_lengths": "uniform", "tuple_bytes": 140});
            all.push(with(&base, &[&uneven, &changes]));
        }
    }
    all
}

/// Layouts of files, with the ways that records are put together.
fn files() -> Vec<Value> {
    let mut all = vec![json!({"layout": "nsm"}), json!({"layout": "pax"})];
    for how in ["index", "merge", "position"] {
        all.push(json!({"layout": "dsm", "reconstruction": how}));
    }
    all
}

fn table() -> Vec<Value> {
    let base = json!({"kernel": "table", "records": 500, "point_queries": 50, "predicates": 2, "projected": 2,
        "first_projected": 6, "selectivity": 0.5});
    let mut all = Vec::new();
    for files in files() {
        let joined = files["reconstruction"] == "index";
        for changes in [
            json!({}),
            json!({"aggregate": false, "attribute_bytes": 4, "page_bytes": 4096, "header_bytes": 64, "seed": 3}),
            json!({"caches": "warm", "warm_up": 2, "predicates": 4, "selectivity": 0.1}),
            json!({"operation": "point"}),
            json!({"operation": "point", "caches": "cold", "attributes": 3, "first_projected": 1}),
            json!({"operation": "point", "caches": "warm", "warm_up": 20}),
            json!({"operation": "update"}),
            json!({"operation": "update", "caches": "warm", "warm_up": 2, "selectivity": 0.02}),
            json!({"operation": "delete"}),
            json!({"operation": "delete", "caches": "warm", "warm_up": 2, "attribute_bytes": 4, "selectivity": 0.02}),
        ] {
            if joined || files["layout"] != "dsm" || changes["operation"] != "delete" {
                all.push(with(&base, &[&files, &changes]));
            }
        }
        for operation in ["scan", "point", "update", "delete"] {
            if joined || (files["layout"] != "dsm" && operation == "point") {
                let stored = json!({"operation": operation, "index_pages": "stored"});
                all.push(with(&base, &[&files, &stored]));
                let few = json!({"index_frames": 3});
                all.push(with(&base, &[&files, &stored, &few]));
            }
        }
        let nulls = json!({"nullable": [1, 6, 7], "nulls": 0.3});
        for operation in ["scan", "point", "update"] {
            let changes = json!({"operation": operation});
            all.push(with(&base, &[&files, &nulls, &changes]));
        }
        if joined || files["layout"] != "dsm" {
            let changes = json!({"operation": "delete"});
            all.push(with(&base, &[&files, &nulls, &changes]));
        }
    }
    let strings = json!({"strings": [5, 6, 7], "string_bytes": 9, "nullable": [4, 7], "nulls": 0.2, "aggregate": false});
    for layout in ["nsm", "pax"] {
        for changes in [
            json!({"operation": "scan"}),
            json!({"operation": "delete"}),
            json!({"operation": "update", "updated_string_bytes": 40}),
            json!({"operation": "update", "updated_string_bytes": 2, "caches": "warm", "warm_up": 2}),
        ] {
            let layout = json!({"layout": layout});
            all.push(with(&base, &[&layout, &strings, &changes]));
        }
    }
    for changes in [
        json!({"operation": "scan"}),
        json!({"operation": "delete"}),
        json!({"operation": "update", "updated_string_bytes": 40}),
        json!({"operation": "update", "updated_string_bytes": 40, "index_pages": "stored"}),
        json!({"operation": "update", "updated_string_bytes": 2, "caches": "warm", "warm_up": 2}),
    ] {
        let layout = json!({"layout": "dsm"});
        all.push(with(&base, &[&layout, &strings, &changes]));
    }
    let borrowing = json!({"layout": "pax", "full_minipage": "borrow", "operation": "update"});
    for longest in [12, 40] {
        let changes = json!({"updated_string_bytes": longest});
        all.push(with(&base, &[&borrowing, &strings, &changes]));
    }
    for layout in ["standard-row", "super-row", "super-column"] {
        let store = with(
            &base,
            &[&json!({"layout": layout, "first_projected": 1, "projected": 5})],
        );
        all.push(store.clone());
        let abstracted = json!({"records": 600, "abstraction": [5, 10, 12], "level_attributes": [1, 3, 4], "prefetch_bytes": 16_384});
        all.push(with(&store, &[&abstracted]));
        all.push(with(
            &store,
            &[&json!({"caches": "warm", "warm_up": 2, "attribute_bytes": 4})],
        ));
    }
    all
}

fn tpch() -> Vec<Value> {
    let base = json!({"kernel": "tpch", "scale_factor": 0.001});
    let mut all = Vec::new();
    for files in files() {
        for changes in [
            json!({"query": "q1"}),
            json!({"query": "q6"}),
            json!({"query": "q12"}),
            json!({"query": "q12", "heap_bytes": 16_384}),
            json!({"query": "q14"}),
            json!({"query": "rs", "predicates": ["l_partkey", "l_shipdate"], "project": ["l_tax", "l_orderkey"]}),
            json!({"query": "load"}),
            json!({"query": "update", "change": ["l_tax", "l_quantity"], "selectivity": 0.3}),
        ] {
            if !(files["layout"] == "dsm" && changes["query"] == "update") {
                all.push(with(&base, &[&files, &changes]));
            }
        }
    }
    for query in ["q1", "q12", "rs", "load"] {
        let stored = json!({"query": query, "layout": "dsm", "index_pages": "stored"});
        all.push(with(&base, &[&stored]));
    }
    let small = json!({"page_bytes": 2048, "pool_bytes": 131_072, "threshold": 0.2, "seed": 5});
    for files in files() {
        all.push(with(&base, &[&files, &small]));
    }
    all
}

/// One line per workload, under the names of the columns.
fn digests() -> String {
    let mut lines = String::from("layout           events           outcome          estimates\n");
    let mut library = Library::new();
    let values = [
        disk_index(),
        index(),
        join(),
        parallel_join(),
        partition(),
        pointers(),
        probe(),
        string_index(),
        table(),
        tpch(),
    ];
    for value in values.concat() {
        let workload: Workload = serde_json::from_value(value.clone()).unwrap();
        let prepared = library.prepare(&workload).unwrap();
        let mut events = Digest::new();
        let outcome = prepared.run(&mut events).unwrap();
        let columns = [
            of_layout(prepared.layout()),
            events,
            of_outcome(&outcome),
            of_estimates(&workload),
        ];
        for column in columns {
            write!(lines, "{:016x} ", column.0).unwrap();
        }
        writeln!(lines, "{value}").unwrap();
    }
    lines
}

#[test]
fn event_streams_are_the_committed_ones() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/event_streams.txt");
    let found = digests();
    for kernel in workloads::kernels() {
        let named = format!("\"kernel\":\"{}\"", kernel.name);
        assert!(found.contains(&named), "no workload of {}", kernel.name);
    }
    if std::env::var_os("MEMWALK_WRITE_DIGESTS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    let changed: Vec<String> = found
        .lines()
        .zip(committed.lines())
        .filter(|(found, committed)| found != committed)
        .map(|(found, committed)| format!("now {found}\nwas {committed}"))
        .collect();
    assert!(
        changed.is_empty(),
        "{} have changed:\n{}",
        changed.len(),
        changed.join("\n")
    );
    assert_eq!(found.lines().count(), committed.lines().count());
}
