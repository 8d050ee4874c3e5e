//! What workloads leave: the right counts, the same events every time, addresses inside the named segments.

use crate::common::workload::workload;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use traces::{Counter, Event, EventSink, Kind, OpClass, SinkError};
use workloads::{Instructions, Library, Outcome, Traffic, Workload};

fn index(changes: Value) -> Workload {
    let mut value = json!({"kernel": "index", "keys": 20_000, "operations": 300, "range": 500, "caches": "empty"});
    value
        .as_object_mut()
        .unwrap()
        .extend(changes.as_object().unwrap().clone());
    workload(value)
}

fn table(changes: Value) -> Workload {
    let mut value = json!({"kernel": "table", "records": 3000, "point_queries": 300});
    value
        .as_object_mut()
        .unwrap()
        .extend(changes.as_object().unwrap().clone());
    workload(value)
}

fn events(library: &mut Library, workload: &Workload) -> (Vec<Event>, Outcome) {
    let mut events = Vec::new();
    let outcome = library.prepare(workload).unwrap().run(&mut events).unwrap();
    (events, outcome)
}

fn p8(jump_pointers: &str) -> Value {
    json!({"node_lines": 8, "prefetch": true, "jump_pointers": jump_pointers})
}

fn with(base: &Value, changes: &Value) -> Value {
    let mut value = base.clone();
    let more = changes.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(more);
    value
}

fn csb(node_lines: u32) -> Value {
    json!({"kind": "csb+", "node_lines": node_lines, "prefetch": node_lines > 1})
}

/// One workload of every operation, tree and maturity.
fn every_workload() -> Vec<Workload> {
    let mut all = Vec::new();
    for operation in ["search", "insert", "delete", "scan"] {
        for tree in [
            json!({}),
            p8("none"),
            p8("external"),
            p8("internal"),
            csb(1),
            csb(2),
            csb(8),
        ] {
            for maturity in ["bulkloaded", "mature"] {
                all.push(index(
                    json!({"operation": operation, "tree": tree, "maturity": maturity}),
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
        for operation in ["search", "insert", "delete", "scan"] {
            for setting in [
                json!({}),
                json!({"maturity": "mature"}),
                json!({"page_bytes": 16384, "fill": 0.7}),
                json!({"key_bytes": 20}),
                json!({"pool_frames": 16}),
            ] {
                let base = json!({"kernel": "disk-index", "operation": operation, "keys": 20_000, "operations": 300, "range": 500,
                    "page_bytes": 4096, "caches": "empty"});
                all.push(workload(with(&with(&base, &structure), &setting)));
            }
        }
    }
    for structure in [
        json!({"structure": "slotted"}),
        json!({"structure": "prefix-array", "prefix_bytes": 2}),
        json!({"structure": "prefix-array", "prefix_bytes": 8}),
        json!({"structure": "in-page-tree", "node_lines": 5}),
    ] {
        for operation in ["search", "insert", "delete", "scan"] {
            for setting in [
                json!({}),
                json!({"maturity": "mature"}),
                json!({"page_bytes": 16384, "fill": 0.7, "common_prefix_bytes": 8}),
                json!({"shortest_key_bytes": 18, "bits_per_byte": 1}),
                json!({"pool_frames": 16}),
            ] {
                let base = json!({"kernel": "string-index", "operation": operation, "keys": 20_000, "operations": 300, "range": 500,
                    "page_bytes": 4096, "caches": "empty"});
                all.push(workload(with(&with(&base, &structure), &setting)));
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
            json!({"threads": 3, "partitions": 5, "page_ahead": 0, "line_bytes": 128}),
            json!({"match_share": 0.5, "matched_keys": "all", "false_positives": 0.05, "cache_bytes": 65536}),
            json!({"output": "stored", "pages_asked_ahead": 5}),
            json!({"tuple_lengths": "uniform", "tuple_bytes": 140}),
            json!({"tuple_lengths": "uniform", "shortest_tuple_bytes": 12, "tuple_bytes": 1024, "threads": 3, "partitions": 5, "duplicates": 2}),
            json!({"tuple_lengths": "uniform", "order": "nearly-sorted", "displaced": 0.05, "cache_bytes": 65536, "match_share": 0.5}),
        ] {
            let mut value = json!({"kernel": "hash-join", "algorithm": algorithm, "build_tuples": 2000, "probe_tuples": 5000});
            let more = changes.as_object().unwrap().clone();
            value.as_object_mut().unwrap().extend(more);
            all.push(workload(value));
        }
    }
    for algorithm in ["grace", "simple", "group", "pipelined"] {
        for changes in [
            json!({}),
            json!({"tuple_bytes": 20, "output": "reused", "partitions": 1}),
            json!({"output": "stored", "pages_asked_ahead": 5}),
            json!({"threads": 3, "page_ahead": 0, "line_bytes": 128, "partitions": 300}),
            json!({"filter": "single", "probe_tuples": 9000, "match_share": 0.5}),
            json!({"filter": "single", "probe_tuples": 9000, "threads": 3, "output": "reused", "line_bytes": 128}),
            json!({"filter": "multiple", "probe_tuples": 9000, "match_share": 0.5, "false_positive_rate": 0.001, "cache_bytes": 20_000}),
            json!({"filter": "multiple", "probe_tuples": 9000, "threads": 3, "output": "reused", "tuple_bytes": 20, "partitions": 2}),
            json!({"filter": "multiple", "probe_tuples": 9000, "partitions": 3, "filter_layout": "horizontal", "cache_bytes": 1 << 17}),
            json!({"order": "nearly-sorted", "displaced": 0.05, "order_buffer_pages": 10}),
            json!({"order": "nearly-sorted", "displaced": 0.1, "order_buffer_pages": 40, "filter": "single", "probe_tuples": 9000, "threads": 3}),
            json!({"order_buffer_pages": 4, "duplicates": 5, "filter": "multiple", "probe_tuples": 9000, "cache_bytes": 20_000}),
            json!({"tuple_lengths": "uniform", "tuple_bytes": 140}),
            json!({"tuple_lengths": "uniform", "shortest_tuple_bytes": 12, "tuple_bytes": 1024, "threads": 3, "output": "reused"}),
            json!({"tuple_lengths": "uniform", "filter": "multiple", "probe_tuples": 9000, "partitions": 3, "cache_bytes": 1 << 17}),
            json!({"tuple_lengths": "uniform", "order": "nearly-sorted", "displaced": 0.05, "order_buffer_pages": 10}),
        ] {
            let mut value = json!({"kernel": "hash-partition", "algorithm": algorithm, "tuples": 5000, "partitions": 40});
            let more = changes.as_object().unwrap().clone();
            value.as_object_mut().unwrap().extend(more);
            all.push(workload(value));
        }
    }
    for interleaving in ["one-by-one", "group", "amac", "coroutine"] {
        for changes in [
            json!({}),
            json!({"skew": 1.0, "threads": 3, "in_flight": 40}),
            json!({"keys": "dense", "bucket_tuples": 1}),
            json!({"bucket_tuples": 1}),
        ] {
            let mut value = json!({"kernel": "hash-probe", "interleaving": interleaving, "build_tuples": 3000, "probe_tuples": 9000});
            let more = changes.as_object().unwrap().clone();
            value.as_object_mut().unwrap().extend(more);
            all.push(workload(value));
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
            json!({"threads": 16, "build_tuples": 9000, "skew": 1.0}),
            json!({"build_tuples": 9000, "keys": "scattered", "match_share": 0.2}),
            json!({"tuple_bytes": 8, "threads": 3, "keys": "scattered", "skew": 1.0, "match_share": 0.8}),
        ] {
            let mut value =
                json!({"kernel": "parallel-join", "build_tuples": 4000, "probe_tuples": 9000});
            for more in [&algorithm, &changes] {
                let more = more.as_object().unwrap().clone();
                value.as_object_mut().unwrap().extend(more);
            }
            all.push(workload(value));
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

#[test]
fn a_kept_tree_gives_the_events_of_a_new_one() {
    let mut library = Library::new();
    for workload in every_workload() {
        let first = events(&mut library, &workload);
        assert_eq!(first, events(&mut library, &workload), "{workload:?}");
        assert_eq!(
            first,
            events(&mut Library::new(), &workload),
            "{workload:?}"
        );
    }
}

#[test]
fn loads_and_stores_stay_in_their_segments() {
    for workload in every_workload() {
        let mut library = Library::new();
        let (events, _) = events(&mut library, &workload);
        let prepared = library.prepare(&workload).unwrap();
        let layout = prepared.layout();
        assert!(
            layout
                .segments
                .windows(2)
                .all(|pair| pair[0].base + pair[0].size_bytes <= pair[1].base)
        );
        for event in &events {
            assert!(usize::from(event.site) < layout.sites.len());
            match event.kind {
                Kind::Load | Kind::Store => {
                    let end = event.address + u64::from(event.size);
                    let inside = |segment: &traces::Segment| {
                        event.address >= segment.base && end <= segment.base + segment.size_bytes
                    };
                    assert!(
                        layout.segments.iter().any(inside),
                        "{event:?} of {workload:?}"
                    );
                }
                Kind::Mark => assert!((event.address as usize) < layout.phases.len()),
                Kind::Call => assert!((event.address as usize) < layout.calls.len()),
                _ => {}
            }
        }
    }
}

#[test]
fn every_kernel_is_among_these_workloads() {
    let used: BTreeSet<String> = every_workload()
        .iter()
        .map(|workload| serde_json::to_value(workload).unwrap()["kernel"].to_string())
        .collect();
    let all = workloads::kernels().into_iter();
    let all: BTreeSet<String> = all.map(|kernel| json!(kernel.name).to_string()).collect();
    assert_eq!(used, all);
}

/// A file per attribute, and every frame in use: what is loaded for one attribute is loaded for no other.
#[test]
fn files_of_a_decomposed_relation_do_not_overlap() {
    let mut workloads = Vec::new();
    for layout in ["dsm", "dsm-merge", "dsm-position"] {
        workloads.push(table(
            json!({"layout": layout, "predicates": 4, "first_projected": 5, "projected": 4, "selectivity": 1.0}),
        ));
        for query in ["q1", "q12", "q14"] {
            workloads.push(workload(json!({
                "kernel": "tpch", "query": query, "layout": layout, "scale_factor": 0.01, "pool_bytes": 4 << 20,
            })));
        }
    }
    for workload in workloads {
        let mut library = Library::new();
        let (events, _) = events(&mut library, &workload);
        let prepared = library.prepare(&workload).unwrap();
        let mut owners: BTreeMap<u64, &str> = BTreeMap::new();
        for event in events.iter().filter(|event| event.kind == Kind::Load) {
            let site = prepared.layout().sites[usize::from(event.site)].as_str();
            if site.starts_with("output") || !site.contains("attribute ") {
                continue;
            }
            for byte in event.address..event.address + u64::from(event.size) {
                let owner = *owners.entry(byte).or_insert(site);
                assert_eq!(owner, site, "{byte:#x} of {workload:?}");
            }
        }
        let attributes: BTreeSet<&str> = owners.into_values().collect();
        assert!(attributes.len() > 3, "{attributes:?} of {workload:?}");
    }
}

#[test]
fn producers_stand_before_their_users() {
    for workload in every_workload() {
        let (events, _) = events(&mut Library::new(), &workload);
        for (index, event) in events.iter().enumerate() {
            assert!(event.dep as usize <= index);
            if event.dep > 0 {
                let producer = events[index - event.dep as usize];
                assert!(
                    matches!(producer.kind, Kind::Load | Kind::Exchange | Kind::Op),
                    "{event:?} waits for {producer:?}"
                );
            }
        }
    }
}

#[test]
fn workloads_say_what_instructions_they_have() {
    let stored = json!({"kernel": "hash-probe", "interleaving": "one-by-one", "build_tuples": 3000, "probe_tuples": 9000, "results": "stored"});
    let search = json!({"kernel": "disk-index", "operation": "search", "structure": "array", "keys": 2000, "operations": 20, "caches": "empty"});
    let more = [
        stored,
        with(&search, &json!({"threads": 2})),
        with(
            &search,
            &json!({"operation": "insert", "latching": "optimistic"}),
        ),
    ];
    for workload in every_workload().into_iter().chain(more.map(self::workload)) {
        let (events, _) = events(&mut Library::new(), &workload);
        let has = |kinds: &[Kind]| events.iter().any(|event| kinds.contains(&event.kind));
        let waited_for: BTreeSet<usize> = events
            .iter()
            .enumerate()
            .filter(|(_, event)| event.dep > 0)
            .map(|(index, event)| index - event.dep as usize)
            .collect();
        let computes = |class| {
            let is = |event: &Event| event.kind == Kind::Op && event.size == class as u16;
            waited_for.iter().any(|&index| is(&events[index]))
        };
        let found = Instructions {
            stores: has(&[Kind::Store, Kind::StoreNta, Kind::Call]),
            prefetches: has(&[Kind::Prefetch, Kind::PrefetchNta]),
            multiplies: computes(OpClass::Multiply),
            divides: computes(OpClass::Divide),
            exchanges: has(&[Kind::Exchange]),
        };
        assert_eq!(found, workload.instructions(), "{workload:?}");
    }
}

#[test]
fn workloads_say_what_they_ask_storage_for() {
    let scan = json!({"kernel": "disk-index", "operation": "scan", "structure": "array", "keys": 20_000, "operations": 20, "range": 5000,
        "page_bytes": 4096, "pool_frames": 64, "distance_pages": 4, "caches": "empty"});
    let join = json!({"kernel": "hash-join", "algorithm": "group", "build_tuples": 2000, "probe_tuples": 5000});
    let partition =
        json!({"kernel": "hash-partition", "algorithm": "group", "tuples": 5000, "partitions": 40});
    let delete = json!({"kernel": "table", "operation": "delete", "records": 3000});
    let mut more = vec![scan];
    for base in [join, partition] {
        more.push(with(&base, &json!({"output": "stored"})));
        more.push(with(&base, &json!({"pages_asked_ahead": 5})));
    }
    for layout in ["nsm", "pax", "dsm"] {
        more.push(with(&delete, &json!({"layout": layout})));
    }
    for workload in every_workload()
        .into_iter()
        .chain(more.into_iter().map(self::workload))
    {
        let (events, _) = events(&mut Library::new(), &workload);
        let asks = |kind| events.iter().any(|event| event.kind == kind);
        let found = Traffic {
            reads: asks(Kind::PageRead),
            writes: asks(Kind::PageWrite),
            asks_ahead: asks(Kind::PagePrefetch),
        };
        assert_eq!(found, workload.traffic(), "{workload:?}");
    }
}

#[test]
fn flushes_stand_before_operations() {
    let flushes = |caches: &str| {
        let (events, _) = events(&mut Library::new(), &index(json!({"caches": caches})));
        let count = |kind| events.iter().filter(|event| event.kind == kind).count();
        (count(Kind::Flush), count(Kind::Mark))
    };
    assert_eq!(flushes("empty"), (1, 300));
    assert_eq!(flushes("cold"), (300, 300));
}

#[test]
fn only_prefetching_trees_prefetch() {
    for operation in ["search", "insert", "delete", "scan"] {
        let prefetches = |tree: Value| {
            let mut counter = Counter::default();
            let workload = index(json!({"operation": operation, "tree": tree}));
            Library::new()
                .prepare(&workload)
                .unwrap()
                .run(&mut counter)
                .unwrap();
            counter.events[Kind::Prefetch as usize]
        };
        assert_eq!(prefetches(json!({})), 0);
        assert!(prefetches(p8("none")) > 0);
    }
    // Three levels of eight lines per search.
    let mut counter = Counter::default();
    Library::new()
        .prepare(&index(json!({"tree": p8("none")})))
        .unwrap()
        .run(&mut counter)
        .unwrap();
    assert_eq!(counter.events[Kind::Prefetch as usize], 300 * 3 * 8);
}

/// A search in 3 levels of full one-line nodes, added up by hand from the steps that `search.rs` states.
#[test]
fn a_search_takes_the_instructions_of_its_steps() {
    let mut counter = Counter::default();
    // 7 x 8 x 8 keys: three levels of full nodes, in which every binary search takes 3 steps.
    let full = index(json!({"keys": 448, "operations": 100}));
    Library::new()
        .prepare(&full)
        .unwrap()
        .run(&mut counter)
        .unwrap();
    let step = 8 + 1 + 2;
    let node = 1 + 1 + 3 * step + (1 + 1);
    let child = 2 + 1;
    let level = 1 + 1;
    let found = 1 + 2 + 1 + 1 + 1;
    let search = 22 + 3 * (level + node) + 2 * child + found;
    assert_eq!(counter.instructions, 100 * search);
}

/// Everything that is found, deleted or scanned is what the keys say.
#[test]
fn outcomes_count_what_was_done() {
    let metric = |changes: Value, name: &str| {
        let (_, outcome) = events(&mut Library::new(), &index(changes));
        outcome.metrics[name]
    };
    assert_eq!(metric(json!({"operation": "search"}), "returned"), 300);
    assert_eq!(metric(json!({"operation": "delete"}), "returned"), 300);
    assert_eq!(metric(json!({"operation": "insert"}), "returned"), 0);
    assert_eq!(metric(json!({"operation": "scan"}), "returned"), 150_000);
    assert_eq!(metric(json!({"operation": "search"}), "node_splits"), 0);
    // Full leaves: nearly every one of the few insertions splits one; with three slots free in each, none does.
    let splitting = metric(json!({"operation": "insert"}), "splitting_insertions");
    assert!(splitting > 250 && splitting <= 300);
    assert!(metric(json!({"operation": "insert"}), "node_splits") > splitting);
    assert_eq!(
        metric(
            json!({"operation": "insert", "fill": 0.6}),
            "splitting_insertions"
        ),
        0
    );
    // 20,000 keys, 7 a leaf; 2858 leaves, 8 a node: 358, 45, 6, 1.
    assert_eq!(metric(json!({}), "leaf_nodes"), 2858);
    assert_eq!(metric(json!({}), "inner_nodes"), 410);
    assert_eq!(metric(json!({}), "index_bytes"), 3268 * 64);
}

/// Scans return the same tupleIDs whatever the tree.
#[test]
fn all_trees_return_the_same() {
    let checksums: Vec<BTreeMap<String, u64>> = [
        json!({}),
        p8("none"),
        p8("external"),
        p8("internal"),
        json!({"kind": "csb+"}),
    ]
    .into_iter()
    .map(|tree| {
        events(
            &mut Library::new(),
            &index(json!({"operation": "scan", "tree": tree})),
        )
        .1
        .metrics
    })
    .collect();
    assert!(
        checksums
            .iter()
            .all(|metrics| metrics["checksum"] == checksums[0]["checksum"])
    );
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
        .prepare(&index(json!({})))
        .unwrap()
        .run(&mut few);
    assert!(matches!(result, Err(SinkError::Interrupted)));
    assert!(few.0 <= 1024);
}

#[test]
fn mistakes_are_named() {
    let message = |changes: Value| index(changes).validate().unwrap_err().to_string();
    assert_eq!(
        message(json!({"word_bytes": 3})),
        "word_bytes: 3 bytes; it must be 4 or 8"
    );
    assert_eq!(
        message(json!({"fill": 1.5})),
        "fill: 1.5 is out of range; it must be from 0.1 to 1"
    );
    assert_eq!(
        message(json!({"tree": {"node_lines": 0}})),
        "tree.node_lines: 0 is out of range; it must be from 1 to 64"
    );
    assert_eq!(
        message(json!({"line_bytes": 48})),
        "line_bytes: 48 bytes; it must be a power of two from 16 to 1024"
    );
    assert_eq!(
        message(json!({"operation": "scan", "range": 30_000})),
        "range: 30000 is out of range; it must be from 1 to 20000"
    );
    assert!(
        message(json!({"keys": 200_000_000, "fill": 0.1})).contains("word_bytes 4 reaches 4 GiB")
    );
    assert!(
        message(json!({"tree": {"kind": "csb+", "prefetch": true, "jump_pointers": "internal"}}))
            .starts_with("tree.jump_pointers: ")
    );
    assert!(
        message(json!({"keys": 150_000_000, "maturity": "mature", "tree": csb(1)}))
            .contains("word_bytes 4 reaches")
    );
    assert!(message(json!({"tree": {"jump_pointers": "internal"}})).starts_with("tree.prefetch: "));
    assert!(
        serde_json::from_value::<Workload>(json!({"kernel": "index", "kes": 5}))
            .unwrap_err()
            .to_string()
            .contains("kes")
    );
    let crowded = workload(json!({"kernel": "pointer-chase", "pages": 2}));
    assert!(
        crowded
            .validate()
            .unwrap_err()
            .to_string()
            .contains("at most 254 lines")
    );
}

/// An estimate that is far off makes progress and the time left useless; the factor is what they bear.
#[test]
fn work_is_estimated_near_what_is_done() {
    const FACTOR: f64 = 1.8;
    let mut library = Library::new();
    let mut large = vec![
        index(json!({"keys": 1_000_000})),
        index(
            json!({"keys": 1_000_000, "operation": "scan", "range": 10_000, "tree": p8("internal")}),
        ),
        table(json!({"records": 40_000, "selectivity": 0.01, "layout": "dsm"})),
        table(
            json!({"records": 40_000, "selectivity": 1.0, "projected": 7, "operation": "update", "layout": "pax"}),
        ),
    ];
    large.extend(every_workload());
    let mut off = Vec::new();
    for workload in large {
        let mut counter = Counter::default();
        let prepared = library.prepare(&workload).unwrap();
        prepared.run(&mut counter).unwrap();
        let emitted = counter.events.iter().sum::<u64>() as f64;
        let calls = counter.events[Kind::Call as usize] as f64;
        let work = workload.work();
        let (events, called) = (work.events as f64, work.calls as f64);
        if !(emitted / FACTOR..=emitted * FACTOR).contains(&events) {
            off.push(format!("{events} events, not {emitted}: {workload:?}"));
        }
        if (calls > 0.0) != (called > 0.0) {
            off.push(format!("{called} calls, not {calls}: {workload:?}"));
        }
    }
    assert!(off.is_empty(), "{}", off.join("\n"));
}
