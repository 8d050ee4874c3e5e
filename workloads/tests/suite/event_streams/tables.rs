//! Workloads on tables, and queries on several of them.

use super::with;
use serde_json::{Value, json};

/// Layouts of files, with the ways that records are put together.
fn files() -> Vec<Value> {
    let mut all = vec![json!({"layout": "nsm"}), json!({"layout": "pax"})];
    for how in ["index", "merge", "position"] {
        all.push(json!({"layout": "dsm", "reconstruction": how}));
    }
    all
}

pub fn table() -> Vec<Value> {
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
    let by_records = json!({"layout": "pax", "scan_order": "records"});
    all.push(with(&base, &[&by_records]));
    let scatter = json!({"layout": "pax", "operation": "scatter"});
    all.push(with(&base, &[&scatter]));
    all.push(with(&base, &[&scatter, &json!({"attributes": 3, "projected": 1, "first_projected": 1, "block_bytes": 1024, "caches": "warm", "warm_up": 1})]));
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

pub fn tpch() -> Vec<Value> {
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
