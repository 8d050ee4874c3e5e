//! The queries on TPC-H's tables give what DuckDB gives, in every layout and with any heap.

use crate::common::workload::{changed, workload};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use traces::{Counter, Event, EventSink, Kind, SinkError};
use workloads::{Library, Outcome, Workload};

/// DuckDB's answers: what `tests/oracles/tpch/duckdb_answers.py` wrote.
const ANSWERS: &str = include_str!("../../../tests/oracles/tpch/answers.csv");
/// `dsm-merge` and `dsm-position` are `dsm` with this reconstruction.
const LAYOUTS: [&str; 5] = ["nsm", "pax", "dsm", "dsm-merge", "dsm-position"];
const QUERIES: [&str; 4] = ["q1", "q6", "q12", "q14"];

fn query(changes: Value) -> Workload {
    workload(changed(
        json!({"kernel": "tpch", "scale_factor": 0.01}),
        &changes,
    ))
}

fn run(library: &mut Library, changes: Value) -> Outcome {
    let prepared = library.prepare(&query(changes)).unwrap();
    prepared.run(&mut Counter::default()).unwrap()
}

fn answers(outcome: &Outcome) -> BTreeMap<String, u64> {
    outcome
        .metrics
        .iter()
        .filter_map(|(name, &value)| Some((name.strip_prefix("answer.")?.to_owned(), value)))
        .collect()
}

fn expected(scale_factor: &str, query: &str) -> BTreeMap<String, u64> {
    ANSWERS
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|row| row[1..3] == [scale_factor, query])
        .map(|row| (row[3].to_owned(), row[4].parse().unwrap()))
        .collect()
}

fn agree(library: &mut Library, scale_factor: &str, layout: &str) {
    for query in QUERIES {
        let scale: f64 = scale_factor.parse().unwrap();
        let changes = json!({"query": query, "layout": layout, "scale_factor": scale});
        let found = answers(&run(library, changes));
        let wanted = expected(scale_factor, query);
        assert!(!wanted.is_empty());
        assert_eq!(found, wanted, "{query} in {layout} at {scale_factor}");
    }
}

/// And with a heap too small for the build input, by way of temporary files: the same.
#[test]
fn answers_are_those_of_duckdb() {
    for layout in LAYOUTS {
        // It builds the tables once.
        let mut library = Library::new();
        agree(&mut library, "0.01", layout);
        for query in ["q12", "q14"] {
            let mut written = Vec::new();
            for heap_bytes in [1 << 14, 1 << 17, 1 << 20] {
                let changes = json!({"query": query, "layout": layout, "heap_bytes": heap_bytes});
                let outcome = run(&mut library, changes);
                assert_eq!(answers(&outcome), expected("0.01", query));
                written.push(outcome.metrics["pages_written"]);
            }
            assert!(written[0] >= written[1] && written[1] > 0, "{written:?}");
            assert_eq!(written[2], 0, "{query} in {layout}");
        }
    }
}

/// And the paper's 200 and 500 MB.
#[test]
#[ignore = "takes a minute or two and 3 GB of memory"]
fn answers_on_large_tables_are_those_of_duckdb() {
    for scale_factor in ["0.1", "0.2", "0.5"] {
        let mut library = Library::new();
        for layout in LAYOUTS {
            agree(&mut library, scale_factor, layout);
        }
    }
}

/// Counts page requests, and calls by name.
#[derive(Default)]
struct Requests {
    reads: u64,
    writes: u64,
    calls: BTreeMap<u64, u64>,
}

impl EventSink for Requests {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        for event in events {
            match event.kind {
                Kind::PageRead => self.reads += 1,
                Kind::PageWrite => self.writes += 1,
                Kind::Call => *self.calls.entry(event.address).or_default() += 1,
                _ => {}
            }
        }
        Ok(())
    }
}

fn requests(changes: Value) -> (Requests, BTreeMap<String, u64>, Outcome) {
    let prepared = Library::new().prepare(&query(changes)).unwrap();
    let mut requests = Requests::default();
    let outcome = prepared.run(&mut requests).unwrap();
    let calls = (0..).zip(&prepared.layout().calls);
    let calls = calls
        .map(|(number, name)| {
            (
                name.clone(),
                requests.calls.get(&number).copied().unwrap_or(0),
            )
        })
        .collect();
    (requests, calls, outcome)
}

/// A range selection turns to every page, tries every record, and reads what it tests and what it projects.
#[test]
fn a_range_selection_calls_for_what_it_reads() {
    for layout in ["nsm", "pax"] {
        let (requests, calls, outcome) = requests(json!({
            "query": "rs", "layout": layout, "selectivity": 0.2,
            "predicates": ["l_partkey", "l_quantity"], "project": ["l_tax", "l_comment", "l_discount"],
        }));
        let (records, pages) = (
            outcome.metrics["lineitem_records"],
            outcome.metrics["lineitem_pages"],
        );
        let returned = outcome.metrics["returned"];
        // Part keys repeat: up to 30 or so line items share the last of the range.
        assert!(
            returned.abs_diff(records / 5) < 60,
            "{returned} of {records}"
        );
        assert_eq!(calls["next-page"], pages);
        assert_eq!(calls["next-record"], records);
        assert_eq!(calls["read-attribute"], records + 4 * returned);
        assert_eq!(calls["output-record"], returned);
        assert_eq!(
            (requests.reads, requests.writes),
            (pages, outcome.metrics["pages_written"])
        );
    }
}

/// In a decomposed table each predicate is a scan of its attribute's file; a projected value takes a page fix for each level of the index
/// and one more.
#[test]
fn a_decomposed_table_is_read_through_its_indexes() {
    let changes =
        json!({"query": "rs", "layout": "dsm", "predicates": ["l_partkey", "l_quantity"]});
    let (_, calls, outcome) = requests(changes);
    let (records, returned) = (
        outcome.metrics["lineitem_records"],
        outcome.metrics["returned"],
    );
    assert_eq!(calls["next-record"], 2 * records);
    // 60,000 records in two levels of nodes of 8 KB.
    assert_eq!(calls["fix-page"], returned * (2 + 1));
}

/// Nodes of stored indexes are pages behind those of their table: each that is used is read, once where numbers ascend; answers stay.
#[test]
fn nodes_of_stored_indexes_are_pages_like_others() {
    let range = json!({"query": "rs", "layout": "dsm", "predicates": ["l_partkey", "l_quantity"], "project": ["l_tax"]});
    let stored = changed(range.clone(), &json!({"index_pages": "stored"}));
    let prepared = Library::new().prepare(&query(stored.clone())).unwrap();
    let segments = prepared.layout().segments.iter();
    let nodes: u64 = segments
        .filter(|segment| segment.name.contains("numbers of l_tax"))
        .map(|segment| segment.size_bytes / 8192)
        .sum();
    // 60,000 numbers, some thousand to a leaf.
    assert!((50..70).contains(&nodes), "{nodes}");
    let ((before, _, in_memory), (after, _, found)) = (requests(range), requests(stored));
    assert_eq!(in_memory, found);
    assert_eq!(
        (after.reads - before.reads, after.writes),
        (nodes, before.writes)
    );
}

/// No two pages of a join have one number, and a load writes those of indexes, too.
#[test]
fn tables_lie_behind_the_stored_indexes_of_others() {
    let base = json!({"layout": "dsm", "index_pages": "stored"});
    let join = query(changed(base.clone(), &json!({"query": "q12"})));
    let prepared = Library::new().prepare(&join).unwrap();
    let mut events: Vec<Event> = Vec::new();
    prepared.run(&mut events).unwrap();
    let mut frames = BTreeMap::new();
    for pair in events.windows(2) {
        if pair[0].kind == Kind::PageRead && pair[1].kind == Kind::PageArrival {
            let frame = *frames.entry(pair[0].address).or_insert(pair[1].address);
            assert_eq!(frame, pair[1].address, "page {}", pair[0].address);
        }
    }
    let segments = prepared.layout().segments.iter();
    let nodes: u64 = segments
        .filter(|segment| segment.name.contains(" index on the numbers of "))
        .map(|segment| segment.size_bytes / 8192)
        .sum();
    let load = json!({"query": "load", "tables": ["lineitem", "orders"]});
    let (requests, _, loaded) = requests(changed(base, &load));
    let tables = loaded.metrics["pages"] + nodes;
    assert_eq!(requests.writes, tables + loaded.metrics["log_pages"]);
}

/// In columns every page is turned to, and no more than the values that are wanted are read: those tested until a predicate
/// fails, and those of the records that pass all. A scan goes from record to record in one file, or in all three.
#[test]
fn columns_are_read_in_step() {
    for (layout, scans) in [("dsm-position", 1), ("dsm-merge", 3)] {
        let changes = json!({"query": "rs", "layout": layout, "selectivity": 0.2, "predicates": ["l_partkey", "l_quantity"], "project": ["l_comment"]});
        let (requests, calls, outcome) = requests(changes);
        let (records, returned) = (
            outcome.metrics["lineitem_records"],
            outcome.metrics["returned"],
        );
        assert_eq!(calls["next-record"], scans * records);
        assert_eq!(calls["read-attribute"], records + 2 * returned);
        assert_eq!((calls["fix-page"], calls["next-page"]), (0, requests.reads));
        // Two columns of 4 bytes, (8192 - 32 - 4) / (4 + 1/8) = 1977 values a page, and comments, of which no page holds so many.
        let numbers = 2 * records.div_ceil(1977);
        assert!(requests.reads > 3 * numbers && requests.reads < outcome.metrics["lineitem_pages"]);
    }
}

/// Updates change the records of the range by one, and write the pages that have any.
#[test]
fn updates_change_what_they_select() {
    for layout in ["nsm", "pax"] {
        let sum = |selectivity: f64| {
            let change = ["l_extendedprice", "l_tax"];
            let changes = json!({"query": "update", "layout": layout, "selectivity": selectivity, "change": change});
            requests(changes)
        };
        let (nothing, calls, before) = sum(0.0);
        assert_eq!((nothing.writes, calls["lock-record"]), (0, 0));
        let (requests, calls, after) = sum(0.3);
        let changed = after.metrics["changed"];
        assert!(changed > 0 && requests.writes > 0);
        assert_eq!(calls["lock-record"], changed);
        assert_eq!(calls["log-record"], 2 * changed);
        assert_eq!(
            after.metrics["checksum"] - before.metrics["checksum"],
            2 * changed
        );
    }
}

/// A load reads its data files, logs every record, writes each page of tables and log once, and leaves the tables that queries run on.
#[test]
fn loads_write_every_page() {
    for layout in LAYOUTS {
        let scale = json!({"layout": layout, "scale_factor": 0.002});
        let load = json!({"query": "load", "tables": ["lineitem", "nation"]});
        let (requests, calls, loaded) = requests(changed(scale.clone(), &load));
        let pages = loaded.metrics["lineitem_pages"] + loaded.metrics["nation_pages"];
        assert_eq!(loaded.metrics["pages"], pages);
        // What other layouts do not have is no 0.
        for (name, of) in [
            ("slot_bytes", "nsm"),
            ("bytes", "nsm"),
            ("reorganizations", "pax"),
        ] {
            assert_eq!(loaded.metrics.contains_key(name), layout == of, "{name}");
        }
        assert_eq!(requests.writes, pages + loaded.metrics["log_pages"]);
        // Some 1.5 MB of text.
        assert_eq!(requests.reads, loaded.metrics["data_file_pages"]);
        assert!((170..200).contains(&requests.reads), "{}", requests.reads);
        let values = 16 * loaded.metrics["lineitem_records"] + 4 * 25;
        let records = loaded.metrics["lineitem_records"] + 25;
        let inserted = if layout.starts_with("dsm") {
            values
        } else {
            records
        };
        assert_eq!(
            (calls["insert-record"], calls["log-record"]),
            (inserted, inserted)
        );
        let queried = run(&mut Library::new(), changed(scale, &json!({"query": "q6"})));
        assert_eq!(
            queried.metrics["lineitem_pages"],
            loaded.metrics["lineitem_pages"]
        );
    }
}

#[test]
fn mistakes_are_named() {
    let message = |changes: Value| query(changes).validate().unwrap_err().to_string();
    assert_eq!(
        message(json!({"scale_factor": 0})),
        "scale_factor: 0 is out of range; it must be from 0.001 to 4"
    );
    assert!(
        message(json!({"query": "rs", "predicates": ["l_partkey", "l_comment"]}))
            .starts_with("predicates.1: `l_comment`; it must be one of l_orderkey, ")
    );
    for (query, path) in [
        (
            json!({"query": "rs", "predicates": ["l_tax", "l_tax"]}),
            "predicates.1: `l_tax`",
        ),
        (
            json!({"query": "rs", "project": ["l_tax", "l_comment", "l_tax"]}),
            "project.2: `l_tax`",
        ),
        (
            json!({"query": "update", "change": ["l_tax", "l_tax"]}),
            "change.1: `l_tax`",
        ),
        (
            json!({"query": "load", "tables": ["region", "region"]}),
            "tables.1: `region`",
        ),
    ] {
        assert_eq!(
            message(query),
            format!("{path} is there already; each must be there once")
        );
    }
    assert!(message(json!({"query": "rs", "project": []})).starts_with("project: none; "));
    assert!(message(json!({"query": "update", "layout": "dsm"})).starts_with("layout: `dsm` "));
    assert!(message(json!({"query": "load", "tables": []})).starts_with("tables: none; "));
    assert!(message(json!({"page_bytes": 1000})).starts_with("page_bytes: 1000 bytes; "));
    let in_step = json!({"layout": "dsm", "reconstruction": "merge", "index_pages": "stored"});
    assert!(message(in_step).starts_with("index_pages: there are indexes where `dsm` "));
}

#[test]
fn every_record_fits_the_smallest_page() {
    let all = [
        "lineitem", "orders", "partsupp", "part", "customer", "supplier", "nation", "region",
    ];
    for layout in LAYOUTS {
        let load = json!({
            "query": "load", "layout": layout, "page_bytes": 512, "tables": all, "scale_factor": 0.001,
        });
        let outcome = run(&mut Library::new(), load);
        assert_eq!(outcome.metrics["region_records"], 5);
    }
}
