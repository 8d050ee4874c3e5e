//! Operations find in every index what they find in a `BTreeMap`, also where they scan among insertions.

use super::{Operation, Operations, ReturnBuffers, ScanLengths, Searched, Thread};
use crate::outcome::Outcome;
use crate::tracer::{Trace, Untraced};
use crate::tree::{ReturnBuffer, ScanRange};
use crate::warm_up::CacheState;
use crate::{Library, Workload, threads};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use traces::EventSource;

/// Entries, and how often scans have found one that was inserted.
struct Map(BTreeMap<u64, u64>, u64);

impl Searched for Map {
    type Key = u64;
    type Tuple = u64;

    fn key(&self, number: u64) -> u64 {
        number
    }

    fn search<T: Trace>(&mut self, _trace: &mut T, key: u64) -> Option<u64> {
        self.0.get(&key).copied()
    }

    fn insert<T: Trace>(&mut self, _trace: &mut T, key: u64, tuple: u64) -> Option<u64> {
        self.0.insert(key, tuple)
    }

    fn delete<T: Trace>(&mut self, _trace: &mut T, key: u64) -> Option<u64> {
        self.0.remove(&key)
    }

    fn scan<T: Trace>(
        &mut self,
        _trace: &mut T,
        range: ScanRange<u64>,
        buffer: ReturnBuffer<'_, u64>,
    ) {
        let found = self.0.range(range.start..=range.end);
        let tuples: Vec<u64> = found.map(|(_, &tuple)| tuple).take(range.tuples).collect();
        self.1 += tuples.iter().filter(|&&tuple| tuple >= KEYS).count() as u64;
        (buffer.take)(&tuples);
    }
}

const KEYS: u64 = 6000;

fn operations(operation: Operation) -> Operations {
    Operations {
        operation,
        keys: KEYS,
        count: 2000,
        range: 40,
        scan_lengths: ScanLengths::Fixed,
        skew: if operation == Operation::Insert {
            0.0
        } else {
            0.7
        },
        search_share: if operation == Operation::Delete {
            0.3
        } else {
            0.0
        },
        insert_share: 0.4,
        seed: 5,
        thread: Thread::ALONE,
    }
}

/// A map after the operations, and what they left.
fn after(operations: Operations) -> (Map, Outcome) {
    let entries = (0..KEYS).map(|rank| (super::key(rank), rank));
    let mut map = Map(entries.collect(), 0);
    let mut buffers = ReturnBuffers::simulated(operations.buffers(256, None), &[]);
    let keys = operations.drawn();
    let caches = (CacheState::Empty, None);
    let done = operations.run(&keys, caches, &mut map, &mut buffers, &mut Untraced);
    let mut outcome = Outcome::default();
    done.begin(&mut outcome);
    done.end(&mut outcome);
    (map, outcome)
}

/// What an index leaves; its parameters besides those of `operations` are given.
fn found(operations: Operations, index: &Value) -> Outcome {
    let mut value = json!({"operation": operations.operation, "keys": KEYS, "operations": operations.count, "range": operations.range,
        "scan_lengths": operations.scan_lengths,
        "skew": operations.skew, "search_share": operations.search_share, "insert_share": operations.insert_share, "seed": operations.seed,
        "buffer_bytes": 128, "caches": "empty"});
    let index = index.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(index);
    let workload: Workload = serde_json::from_value(value).unwrap();
    let prepared = Library::new().prepare(&workload).unwrap();
    let mut all = prepared.begin();
    for thread in &mut all {
        let mut batch = Vec::new();
        loop {
            thread.next_batch(&mut batch).unwrap();
            if batch.is_empty() {
                break;
            }
            batch.clear();
        }
    }
    threads::outcome(all)
}

/// Every kind of index, each of which scans in ways of its own.
fn indexes() -> Vec<Value> {
    let external =
        json!({"node_lines": 2, "prefetch": true, "jump_pointers": "external", "chunk_lines": 1});
    let internal = json!({"node_lines": 2, "prefetch": true, "jump_pointers": "internal"});
    let mut all = vec![
        json!({"kernel": "index"}),
        json!({"kernel": "index", "tree": external}),
        json!({"kernel": "index", "tree": internal}),
        json!({"kernel": "index", "tree": {"kind": "csb+", "node_lines": 2}}),
    ];
    for structure in ["slotted", "prefix-array", "in-page-tree"] {
        all.push(json!({"kernel": "string-index", "structure": structure, "page_bytes": 4096, "node_lines": 8}));
    }
    let lines = json!({"kernel": "disk-index", "page_bytes": 2048, "nonleaf_lines": 1, "leaf_lines": 3, "node_lines": 3, "subarray_lines": 2});
    for structure in [
        "slotted",
        "array",
        "micro-index",
        "disk-first",
        "cache-first",
    ] {
        let mut one = lines.clone();
        one["structure"] = json!(structure);
        all.push(one.clone());
        one["pool_frames"] = json!(32);
        one["distance_pages"] = json!(4);
        all.push(one.clone());
        if structure == "cache-first" {
            continue;
        }
        one["pool_frames"] = json!(100);
        one["distance_pages"] = json!(0);
        one["jump_pointers"] = json!(false);
        for latching in ["pessimistic", "optimistic"] {
            one["latching"] = json!(latching);
            one["threads"] = json!(3);
            all.push(one.clone());
        }
    }
    all
}

#[test]
fn operations_find_in_every_index_what_they_find_in_a_map() {
    let some = [
        Operation::Search,
        Operation::Insert,
        Operation::Delete,
        Operation::Scan,
        Operation::ScanAndInsert,
    ];
    for operation in some {
        let operations = operations(operation);
        let map = after(operations).1.metrics;
        let returned = map["returned"];
        match operation {
            Operation::Search => assert_eq!(returned, 2000),
            Operation::Insert => assert_eq!(returned, 0),
            // Some are searched for that have been deleted.
            Operation::Delete => assert!((1800..2000).contains(&returned), "{returned}"),
            Operation::Scan => assert_eq!(returned, 2000 * 40),
            // Scans have as many tupleIDs as they want, some of them of keys that came among them.
            Operation::ScanAndInsert => {
                assert!(returned.is_multiple_of(40));
                assert!((1100..1300).contains(&(returned / 40)), "{returned}");
            }
        }
        for index in indexes() {
            let found = found(operations, &index).metrics;
            for (name, value) in &map {
                assert_eq!(found[name], *value, "{operation:?}, {index}: {name}");
            }
            let splits = found.get("page_splits").or(found.get("node_splits"));
            let splits = splits.copied().unwrap_or(0);
            assert_eq!(
                splits > 20,
                operation.inserts(),
                "{operation:?}, {index}: {splits} splits"
            );
        }
    }
}

/// Else a test of scans among insertions would be one of scans.
#[test]
fn scans_find_what_was_inserted_among_them() {
    let with = |insert_share| {
        let operations = Operations {
            insert_share,
            ..operations(Operation::ScanAndInsert)
        };
        let map = after(operations).0;
        (map.0.len() as u64 - KEYS, map.1)
    };
    let (many, few) = (with(0.4), with(0.002));
    assert!((760..840).contains(&many.0) && (1..10).contains(&few.0));
    assert!(many.1 > 20 * few.1.max(1), "{many:?}, {few:?}");
}

/// Scans of all lengths up to the longest find what they are to, also if threads divide them and some have nothing of the short ones.
#[test]
fn scans_of_several_lengths_find_what_a_map_finds() {
    for operation in [Operation::Scan, Operation::ScanAndInsert] {
        let uniform = Operations {
            scan_lengths: ScanLengths::Uniform,
            ..operations(operation)
        };
        let lengths: BTreeSet<u64> = (0..uniform.count)
            .map(|number| uniform.part(number).end)
            .collect();
        assert!(lengths.into_iter().eq(1..=40));
        let map = after(uniform).1.metrics;
        let scans = (0..uniform.count).filter(|&number| uniform.kind(number) == Operation::Scan);
        let mean = map["returned"] as f64 / scans.count() as f64;
        assert!((19.5..21.5).contains(&mean), "{mean}");
        for index in indexes() {
            let found = found(uniform, &index).metrics;
            for (name, value) in &map {
                assert_eq!(found[name], *value, "{operation:?}, {index}: {name}");
            }
        }
    }
}
