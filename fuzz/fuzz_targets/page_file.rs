//! A page file of an index, with checksums made right: what is accepted has to work.

#![no_main]

use serde_json::json;
use std::io::Write;
use std::path::Path;
use traces::Counter;
use workloads::disk_index::{check_page_file, seal_page_file};
use workloads::{Library, Workload};

/// Most bytes that a run may ask of the system in one piece, touched or not: libFuzzer stops at 2 GB.
const MOST_BYTES: u64 = 1 << 30;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    seal_page_file(&mut bytes);
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(&bytes)
        .expect("a temporary file takes bytes");
    for operation in ["insert", "delete", "scan"] {
        run(file.path(), operation);
    }
});

/// Runs some operations on the index, if it is one.
fn run(path: &Path, operation: &str) {
    let Ok(header) = check_page_file(path) else {
        return;
    };
    let mut workload = header.parameters();
    let run = json!({"kernel": "disk-index", "page_file": path, "operation": operation, "operations": 40, "range": 9, "caches": "empty"});
    workload.extend(run.as_object().expect("it is one").clone());
    let Ok(workload) = serde_json::from_value::<Workload>(workload.into()) else {
        return;
    };
    if workload.validate().is_ok()
        && workload.memory().piece < MOST_BYTES
        && let Ok(prepared) = Library::new().prepare(&workload)
    {
        let _ = prepared.run(&mut Counter::default());
    }
}
