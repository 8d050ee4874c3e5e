//! Pages that are read name the frames in which kernels then find them.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use traces::{Event, Kind};
use workloads::{Library, Workload};

/// Workloads that ask for every page before they touch it.
fn readers() -> Vec<Value> {
    let mut all = Vec::new();
    for (layout, reconstruction) in [
        ("nsm", "index"),
        ("pax", "index"),
        ("dsm", "merge"),
        ("dsm", "position"),
    ] {
        for operation in ["scan", "point", "update"] {
            all.push(
                json!({"kernel": "table", "records": 5000, "point_queries": 200, "layout": layout,
                "reconstruction": reconstruction, "operation": operation}),
            );
        }
    }
    let few_frames = json!({"keys": 9000, "operations": 60, "range": 200, "page_bytes": 4096, "pool_frames": 24, "caches": "empty"});
    let on_few_frames = |more: Value| {
        let mut value = few_frames.clone();
        value
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        value
    };
    for operation in ["search", "scan"] {
        for structure in ["slotted", "disk-first", "cache-first"] {
            all.push(on_few_frames(
                json!({"kernel": "disk-index", "structure": structure, "operation": operation}),
            ));
        }
        all.push(on_few_frames(
            json!({"kernel": "string-index", "operation": operation}),
        ));
    }
    all.push(on_few_frames(
        json!({"kernel": "disk-index", "operation": "scan", "distance_pages": 4}),
    ));
    for how in [
        json!({"algorithm": "grace"}),
        json!({"algorithm": "enhanced-cache-partitioning"}),
        json!({"algorithm": "inspector", "false_positives": 0.05}),
        json!({"algorithm": "choosing-inspector", "duplicates": 8, "switch_at": 2}),
        json!({"algorithm": "sort-merge", "order": "nearly-sorted", "displaced": 0.2}),
    ] {
        let mut join = json!({"kernel": "hash-join", "build_tuples": 700, "probe_tuples": 1500, "page_bytes": 4096, "tuple_bytes": 60,
            "partitions": 3, "pages_asked_ahead": 4, "cache_bytes": 8192});
        let join_by = join.as_object_mut().unwrap();
        join_by.extend(how.as_object().unwrap().clone());
        all.push(join);
    }
    all.push(json!({"kernel": "hash-partition", "tuples": 3000, "partitions": 7, "page_bytes": 4096, "tuple_bytes": 60,
        "pages_asked_ahead": 4}));
    all
}

/// The addresses that an event's bytes take.
fn span(event: &Event) -> (u64, u64) {
    (event.address, event.address + u64::from(event.size))
}

#[test]
fn whatever_is_touched_in_a_segment_of_frames_has_come_before() {
    for value in readers() {
        let workload: Workload = serde_json::from_value(value.clone()).unwrap();
        let prepared = Library::default().prepare(&workload).unwrap();
        let mut events: Vec<Event> = Vec::new();
        prepared.run(&mut events).unwrap();
        let segments = &prepared.layout().segments;
        let segment = |address: u64| segments.partition_point(|one| one.base <= address);
        let is_arrival = |event: &&Event| event.kind == Kind::PageArrival;
        let of_frames: BTreeSet<usize> = events
            .iter()
            .filter(is_arrival)
            .map(|event| segment(event.address))
            .collect();
        assert!(!of_frames.is_empty(), "{value}: nothing is read");
        let mut frames: BTreeMap<u64, u64> = BTreeMap::new();
        let around = |frames: &BTreeMap<u64, u64>, end: u64| {
            frames
                .range(..end)
                .next_back()
                .map(|(&start, &end)| (start, end))
        };
        let mut touched = 0;
        for (number, event) in events.iter().enumerate() {
            let (start, end) = span(event);
            match event.kind {
                Kind::PageRead => assert_eq!(events[number + 1].kind, Kind::PageArrival, "{value}"),
                Kind::PageArrival => {
                    assert_eq!(events[number - 1].kind, Kind::PageRead, "{value}");
                    let before = around(&frames, end);
                    assert!(
                        before.is_none_or(|held| held == (start, end) || held.1 <= start),
                        "{value}: frames overlap"
                    );
                    frames.insert(start, end);
                }
                Kind::Load | Kind::Store | Kind::Prefetch
                    if of_frames.contains(&segment(start)) =>
                {
                    touched += 1;
                    let (from, until) = around(&frames, end).unwrap_or_default();
                    assert!(
                        from <= start && end <= until,
                        "{value}: event {number} at {start:#x} is in no page that was read"
                    );
                }
                _ => {}
            }
        }
        assert!(touched > 100, "{value}");
    }
}
