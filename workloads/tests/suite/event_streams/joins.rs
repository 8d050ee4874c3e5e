//! Workloads of joins, and of their phases.

use super::with;
use serde_json::{Value, json};

pub fn join() -> Vec<Value> {
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
            json!({"tuple_bytes": 20, "duplicates": 7, "match_share": 0.5, "output": "reused", "page_ahead": 0, "output_ahead": 0, "seed": 2}),
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
            json!({"cache_bytes": 16384, "false_positives": 0.1, "tuple_bytes": 20, "duplicates": 7, "output": "reused", "page_ahead": 0, "output_ahead": 0, "seed": 2}),
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
        json!({"order": "nearly-sorted", "displaced": 0.1, "threads": 3, "partitions": 4, "prefetch_distance": 3, "page_ahead": 0, "output_ahead": 0, "output": "reused"}),
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

pub fn probe() -> Vec<Value> {
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

pub fn parallel_join() -> Vec<Value> {
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
            all.push(with(
                &base,
                &[&algorithm, &changes, &json!({"tuple_bytes": 8})],
            ));
        }
    }
    all
}

pub fn partition() -> Vec<Value> {
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
