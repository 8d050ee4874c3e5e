//! Runs that start from a page file are those that build the index.

use serde_json::{Value, json};
use std::path::Path;
use traces::{Counter, Event, Layout};
use workloads::disk_index::{DiskIndexWorkload, check_page_file, seal_page_file};
use workloads::{Library, Outcome, Workload};

fn with(base: &Value, change: &Value) -> Value {
    let mut value = base.clone();
    let change = change.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(change);
    value
}

fn of_kernel(parameters: &Value) -> Workload {
    serde_json::from_value(with(parameters, &json!({"kernel": "disk-index"}))).unwrap()
}

fn save(parameters: &Value, path: &Path) {
    let workload: DiskIndexWorkload = serde_json::from_value(parameters.clone()).unwrap();
    let header = workload.save(path).unwrap();
    assert_eq!(check_page_file(path).unwrap(), header);
}

/// What a run leaves; the text of the error if it cannot run.
fn run(library: &mut Library, parameters: &Value) -> Result<(Layout, Vec<Event>, Outcome), String> {
    let prepared = library.prepare(&of_kernel(parameters));
    let prepared = prepared.map_err(|error| error.to_string())?;
    let mut events: Vec<Event> = Vec::new();
    let outcome = prepared.run(&mut events).unwrap();
    Ok((prepared.layout().clone(), events, outcome))
}

fn structures() -> [Value; 5] {
    [
        json!({"structure": "slotted"}),
        json!({"structure": "array"}),
        json!({"structure": "micro-index", "subarray_lines": 2}),
        json!({"structure": "disk-first", "nonleaf_lines": 1, "leaf_lines": 6}),
        json!({"structure": "cache-first", "node_lines": 9}),
    ]
}

#[test]
fn runs_are_the_same_from_a_page_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.pages");
    let base = json!({"keys": 20_000, "operations": 200, "range": 500, "page_bytes": 4096, "caches": "empty"});
    let settings = [
        json!({}),
        json!({"maturity": "mature"}),
        json!({"maturity": "mature", "bulkloaded_share": 0.3333, "page_bytes": 2048, "seed": 5}),
        json!({"page_bytes": 8192, "fill": 0.7, "line_bytes": 128, "key_bytes": 8}),
        json!({"key_bytes": 20}),
    ];
    let runs = [
        json!({"operation": "search"}),
        json!({"operation": "insert"}),
        json!({"operation": "delete"}),
        json!({"operation": "scan", "pool_frames": 30, "caches": "warm", "warm_up": 9}),
        json!({"operation": "insert", "pool_frames": 16}),
    ];
    for structure in structures() {
        for setting in &settings {
            let built = with(&with(&base, &structure), setting);
            save(&built, &path);
            // It builds the index once for all runs.
            let mut library = Library::new();
            for what in &runs {
                let plain = with(&built, what);
                let from_file = with(&plain, &json!({"page_file": path}));
                let wanted = run(&mut library, &plain).unwrap();
                let found = run(&mut Library::new(), &from_file).unwrap();
                assert!(found == wanted, "{from_file}");
            }
        }
    }
}

/// More insertions than every index has room for, and the one in the file, too: it reserves what one that is built does, and has it.
#[test]
fn there_is_room_for_all_insertions_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.pages");
    for structure in structures() {
        for maturity in ["bulkloaded", "mature"] {
            let base = json!({"keys": 15_000, "page_bytes": 2048, "caches": "empty", "key_bytes": 20, "maturity": maturity});
            let base = with(&base, &structure);
            save(&base, &path);
            let insertions = json!({"operation": "insert", "operations": 100_500});
            let plain = with(&base, &insertions);
            let from_file = with(&plain, &json!({"page_file": path}));
            let [built, read] = [&plain, &from_file]
                .map(|parameters| Library::new().prepare(&of_kernel(parameters)).unwrap());
            assert!(built.layout() == read.layout(), "{from_file}");
            // The plans for pages of an array and of nodes across pages.
            if maturity == "mature"
                && ["array", "cache-first"]
                    .map(Value::from)
                    .contains(&structure["structure"])
            {
                let outcome = read.run(&mut Counter::default()).unwrap();
                assert_eq!(outcome.metrics["operations"], 100_500);
            }
        }
    }
}

#[test]
fn what_a_page_file_contradicts_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.pages");
    let built =
        json!({"structure": "micro-index", "keys": 5000, "operations": 20, "caches": "empty"});
    save(&built, &path);
    let from_file = with(&built, &json!({"page_file": path}));
    let mut library = Library::new();
    assert!(run(&mut library, &from_file).is_ok());
    for (name, other) in [
        ("structure", json!("array")),
        ("page_bytes", json!(8192)),
        ("key_bytes", json!(8)),
        ("line_bytes", json!(128)),
        ("keys", json!(5001)),
        ("fill", json!(0.9)),
        ("maturity", json!("mature")),
        ("subarray_lines", json!(3)),
    ] {
        let error = run(&mut library, &with(&from_file, &json!({name: other}))).unwrap_err();
        assert!(
            error.starts_with(&format!(
                "{name}: {other}, and the index in {}",
                path.display()
            )),
            "{error}"
        );
    }
}

/// Where the header says how many keys were bulkloaded, and how many were inserted since.
const BULKLOADED_AT: usize = 80;
const INSERTED_AT: usize = BULKLOADED_AT + 24;

#[test]
fn an_index_with_other_keys_than_it_was_built_with_is_refused_by_checks_and_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.pages");
    let built = json!({"structure": "array", "keys": 5000, "operations": 20, "caches": "empty", "maturity": "mature", "bulkloaded_share": 0.9});
    save(&built, &path);
    let whole = std::fs::read(&path).unwrap();
    let from_file = with(&built, &json!({"page_file": path}));
    for (at, was, number, says) in [
        (
            BULKLOADED_AT,
            4500_u64,
            5128_u64,
            "5128 were bulkloaded and 500 inserted",
        ),
        (
            INSERTED_AT,
            500,
            131_072,
            "4500 were bulkloaded and 131072 inserted",
        ),
    ] {
        let mut bytes = whole.clone();
        assert_eq!(bytes[at..at + 8], was.to_le_bytes());
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        seal_page_file(&mut bytes);
        std::fs::write(&path, &bytes).unwrap();
        let told = format!(
            "{}: has 5000 keys, of which {says}; name a file that `memwalk index build` wrote",
            path.display()
        );
        assert_eq!(check_page_file(&path).unwrap_err().to_string(), told);
        let error = run(&mut Library::new(), &from_file).unwrap_err();
        assert_eq!(error, format!("page_file: {told}"));
    }
}

#[test]
fn a_page_file_that_is_another_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.pages");
    let built = json!({"structure": "array", "keys": 5000, "operations": 20, "caches": "empty", "maturity": "mature"});
    save(&built, &path);
    let digest = |path: &Path| {
        use sha2::Digest as _;
        let digest = sha2::Sha256::digest(std::fs::read(path).unwrap());
        digest
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let first = digest(&path);
    let named = json!({"page_file": {"path": path, "sha256": first}});
    let from_file = with(&built, &named);
    let mut library = Library::new();
    let events = run(&mut library, &from_file).unwrap();
    // The same keys, inserted in another order.
    save(&with(&built, &json!({"seed": 2})), &path);
    let error = run(&mut library, &from_file).unwrap_err();
    assert!(error.contains("has changed since it was named"), "{error}");
    let now = json!({"page_file": {"path": path, "sha256": digest(&path)}});
    assert!(run(&mut library, &with(&built, &now)).unwrap() != events);
    std::fs::remove_file(&path).unwrap();
    let error = run(&mut library, &from_file).unwrap_err();
    assert!(
        error.starts_with("page_file: ") && error.contains("No such file"),
        "{error}"
    );
}

/// Numbers that the estimate of a run's memory knows nothing of.
#[test]
fn a_history_that_is_not_the_workloads_is_refused() {
    const ROOM: usize = BULKLOADED_AT + 16;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.pages");
    let built = json!({"structure": "array", "keys": 5000, "operations": 20, "caches": "empty", "page_bytes": 4096});
    save(&built, &path);
    let bytes = std::fs::read(&path).unwrap();
    let from_file = with(&built, &json!({"page_file": path}));
    for (place, number, is_whole) in [
        (BULKLOADED_AT, 5001_u64, false),
        (ROOM, 100_001, true),
        (INSERTED_AT, 1, false),
    ] {
        let mut changed = bytes.clone();
        changed[place..place + 8].copy_from_slice(&number.to_le_bytes());
        seal_page_file(&mut changed);
        std::fs::write(&path, &changed).unwrap();
        // With room for more the index is one that can work.
        assert_eq!(check_page_file(&path).is_ok(), is_whole);
        let error = run(&mut Library::new(), &from_file).unwrap_err();
        assert!(error.starts_with("page_file: "), "{error}");
    }
}
