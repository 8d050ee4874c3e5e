//! Every kernel's layout, events, outcome and estimates are what they were: their digests stand in `event_streams.txt`.
//!
//! **When this fails,** the simulated program has changed, and with it every number that was simulated with it. Moving code must not do
//! that: find out why. Mending a kernel may: say in the changelog which results move, run again what is published of them, and
//! write the digests anew with `MEMWALK_WRITE_DIGESTS=1 cargo test -p memwalk-workloads event_streams`. The columns say what has
//! changed: `estimates` alone moves no result, `layout` alone renames or moves data structures.

mod indexes;
mod joins;
mod tables;

use crate::common::digest::Digest;
use serde_json::Value;
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

/// One line per workload, under the names of the columns.
fn digests() -> String {
    let mut lines = String::from("layout           events           outcome          estimates\n");
    let mut library = Library::new();
    let values = [
        indexes::disk_index(),
        indexes::index(),
        joins::join(),
        joins::parallel_join(),
        joins::partition(),
        indexes::pointers(),
        joins::probe(),
        indexes::string_index(),
        tables::table(),
        tables::tpch(),
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
