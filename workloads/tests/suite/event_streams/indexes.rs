//! Workloads on indexes, and on the pointers that measure what they wait for.

use super::with;
use serde_json::{Value, json};

pub fn index() -> Vec<Value> {
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
    let among = json!({"operation": "scan-and-insert", "insert_share": 0.3});
    for tree in [&trees[0], &trees[2], &trees[3], &csb] {
        for setting in &settings[1..3] {
            all.push(with(&base, &[&among, tree, setting]));
        }
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
    let reused = json!({"reuse_buffer": true, "threads": 2});
    all.push(with(&base, &[&long, &fine, &reused]));
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

/// Every operation of indexes in pages, with every setting.
fn each_operation(base: &Value, structure: &Value, settings: &[Value]) -> Vec<Value> {
    let operations = ["search", "insert", "delete", "scan"];
    let with_each = |operation: &str| {
        let operation = json!({"operation": operation});
        let cases = settings.iter();
        cases
            .map(|setting| with(base, &[&operation, structure, setting]))
            .collect::<Vec<_>>()
    };
    operations.into_iter().flat_map(with_each).collect()
}

pub fn disk_index() -> Vec<Value> {
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
        all.extend(each_operation(&base, structure, &settings));
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
        let among = json!({"operation": "scan-and-insert", "insert_share": 0.3, "caches": "warm", "warm_up": 9});
        all.push(with(&base, &[structure, &among]));
        let paging = json!({"pool_frames": 30, "distance_pages": 4, "skew": 0.9});
        all.push(with(&base, &[structure, &among, &paging]));
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
            let one_at_a_time = json!({"threads": 3, "pool_frames": 60, "jump_pointers": false, "reuse_buffer": true});
            all.push(with(&base, &[structure, &among, &one_at_a_time]));
            all.push(with(
                &base,
                &[structure, &among, &one_at_a_time, &optimistic],
            ));
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

pub fn string_index() -> Vec<Value> {
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
        all.extend(each_operation(&base, structure, &settings));
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
        let among = json!({"operation": "scan-and-insert", "insert_share": 0.3, "caches": "warm", "warm_up": 9});
        all.push(with(&base, &[structure, &among]));
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

pub fn pointers() -> Vec<Value> {
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
