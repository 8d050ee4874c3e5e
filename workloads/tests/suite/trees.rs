//! Trees in memory: the steps of their operations, what these leave, and what cannot be.

use crate::common::every_workload::{csb, events, every_tree, index, p8};
use crate::common::stream::Stream;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use traces::{Counter, Event, Kind};
use workloads::{Library, Workload};

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

/// Looking for the place of a jump pointer should miss nothing (section 2.3.2), so its chunk is prefetched before, and before keys move.
#[test]
fn chunks_are_asked_for_before_their_jump_pointers_are_looked_at() {
    for operation in ["insert", "delete"] {
        // Many splits of leaves and of chunks; and leaves that become empty.
        let base = json!({"kernel": "index", "operation": operation, "caches": "empty", "keys": 5000, "operations": 5000,
                          "tree": {"kind": "b+", "node_lines": 2, "prefetch": true, "jump_pointers": "external", "chunk_lines": 2}});
        let stream = Stream::of(base, &json!({}));
        let line = |event: &Event| event.address & !63;
        let (mut asked, mut looks, mut moves) = (BTreeSet::new(), 0, 0);
        for event in &stream.events {
            match (event.kind, stream.site(event)) {
                (Kind::Mark, _) => asked.clear(),
                (Kind::Prefetch, site) => {
                    moves += usize::from(site == "prefetch chunk" && asked.contains(&0));
                    asked.insert(line(event));
                }
                (Kind::Load, "move word: load") => _ = asked.insert(0),
                (Kind::Load, "load jump pointer") => {
                    looks += 1;
                    assert!(asked.contains(&line(event)), "{operation}: {event:?}");
                }
                _ => {}
            }
        }
        assert!(looks > 500, "{operation}: {looks}");
        assert!(operation == "delete" || moves == 0, "{moves} come late");
    }
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
    let checksums: Vec<BTreeMap<String, u64>> = every_tree()
        .into_iter()
        .map(|tree| {
            let scans = index(json!({"operation": "scan", "tree": tree}));
            events(&mut Library::new(), &scans).1.metrics
        })
        .collect();
    assert!(
        checksums
            .iter()
            .all(|metrics| metrics["checksum"] == checksums[0]["checksum"])
    );
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
}
