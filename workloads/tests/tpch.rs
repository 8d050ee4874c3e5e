//! The queries on TPC-H's tables give what DuckDB gives, in every layout and with any heap.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use workloads::{Library, Outcome, Workload};

/// DuckDB's answers: what `tests/oracles/tpch/duckdb_answers.py` wrote.
const ANSWERS: &str = include_str!("../../tests/oracles/tpch/answers.csv");
const LAYOUTS: [&str; 2] = ["nsm", "pax"];
const QUERIES: [&str; 4] = ["q1", "q6", "q12", "q14"];

fn workload(changes: Value) -> Workload {
    let mut value = json!({"kernel": "tpch", "scale_factor": 0.01});
    let changes = changes.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(changes);
    serde_json::from_value(value).unwrap()
}

fn run(library: &mut Library, changes: Value) -> Outcome {
    library.prepare(&workload(changes)).unwrap().run_untraced()
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

fn agree(scale_factor: &str, layouts: &[&str]) {
    let mut library = Library::new();
    for layout in layouts {
        for query in QUERIES {
            let scale: f64 = scale_factor.parse().unwrap();
            let changes = json!({"query": query, "layout": layout, "scale_factor": scale});
            let found = answers(&run(&mut library, changes));
            let wanted = expected(scale_factor, query);
            assert!(!wanted.is_empty());
            assert_eq!(found, wanted, "{query} in {layout} at {scale_factor}");
        }
    }
}

#[test]
fn answers_are_those_of_duckdb() {
    agree("0.01", &LAYOUTS);
    agree("0.1", &LAYOUTS);
}

/// The paper's 200 and 500 MB.
#[test]
fn answers_on_large_tables_are_those_of_duckdb() {
    agree("0.2", &LAYOUTS);
    agree("0.5", &LAYOUTS);
}
