//! Searches a B+-tree on the host's processor once and without a clock that matters: a program for cachegrind to watch.
//!
//! usage: native_searches WORKLOAD.json OPERATIONS

use std::env::args;
use std::error::Error;
use std::ops::ControlFlow;
use workloads::native::Options;
use workloads::{Library, Workload};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = args().skip(1).collect();
    let [file, operations] = arguments.as_slice() else {
        return Err("usage: native_searches WORKLOAD.json OPERATIONS".into());
    };
    let mut workload: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    workload["operations"] = operations.parse::<u64>()?.into();
    let workload: Workload = serde_json::from_value(workload)?;
    // The run that is not measured is the only one; it begins with caches that hold nothing of the tree.
    let once = Options {
        repetitions: 0,
        evict_bytes: 4 << 20,
    };
    let prepared = Library::new().prepare(&workload)?;
    prepared.run_native(once, &mut |_| ControlFlow::Continue(()))?;
    Ok(())
}
