//! Operations on an index in pages by several threads behind one buffer pool: together they find what one finds.

use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use traces::{Event, EventSource, Kind};
use workloads::{Library, Outcome, Prepared, Workload, threads};

pub fn prepared(changes: &Value) -> Prepared {
    prepared_in(&mut Library::default(), changes)
}

/// The same on an index that a library may have.
pub fn prepared_in(library: &mut Library, changes: &Value) -> Prepared {
    let mut value = json!({
        "kernel": "disk-index", "operation": "scan", "structure": "slotted", "page_bytes": 2048, "keys": 40_000, "operations": 3,
        "range": 14_003, "pool_frames": 280, "distance_pages": 4, "nonleaf_lines": 2, "leaf_lines": 3, "node_lines": 3,
        "subarray_lines": 2, "caches": "empty"
    });
    let more = changes.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(more);
    let workload: Workload = serde_json::from_value(value).unwrap();
    library.prepare(&workload).unwrap()
}

fn searches(changes: &Value) -> Prepared {
    let mut value =
        json!({"operation": "search", "operations": 500, "distance_pages": 0, "pool_frames": 112});
    value.as_object_mut().unwrap().remove("range");
    let more = changes.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(more);
    prepared(&value)
}

/// The events of each thread, and what all leave.
pub fn run(prepared: &Prepared) -> (Vec<Vec<Event>>, Outcome) {
    let threads = prepared.threads() as usize;
    run_in_order(
        prepared,
        (0..threads).flat_map(|thread| std::iter::repeat_n(thread, 1 << 20)),
    )
}

/// The same if the threads are asked for batches in this order, but for those that have ended.
pub fn run_in_order(
    prepared: &Prepared,
    order: impl Iterator<Item = usize>,
) -> (Vec<Vec<Event>>, Outcome) {
    let mut all = prepared.begin();
    let mut events = vec![Vec::new(); all.len()];
    let mut ended = vec![false; all.len()];
    for thread in order {
        if ended[thread] {
            if ended.iter().all(|&ended| ended) {
                break;
            }
            continue;
        }
        let mut batch = Vec::new();
        all[thread].next_batch(&mut batch).unwrap();
        ended[thread] = batch.is_empty();
        events[thread].append(&mut batch);
    }
    assert!(ended.iter().all(|&ended| ended), "the order is too short");
    (events, threads::outcome(all))
}

pub fn of(events: &[Event], kind: Kind) -> Vec<u64> {
    let of_kind = events.iter().filter(|event| event.kind == kind);
    of_kind.map(|event| event.address).collect()
}

const STRUCTURES: [&str; 5] = [
    "slotted",
    "array",
    "micro-index",
    "disk-first",
    "cache-first",
];

/// What several threads find is what one finds, and which index it is.
#[track_caller]
fn assert_same(found: &BTreeMap<String, u64>, alone: &BTreeMap<String, u64>, what: &str) {
    for name in [
        "operations",
        "returned",
        "checksum",
        "levels",
        "index_bytes",
        "leaf_pages",
    ] {
        assert_eq!(found[name], alone[name], "{what}: {name}");
    }
}

#[test]
fn threads_find_together_what_one_finds() {
    for structure in STRUCTURES {
        for (maturity, latching) in [
            ("bulkloaded", "pessimistic"),
            ("mature", "pessimistic"),
            ("mature", "optimistic"),
        ] {
            let mut library = Library::default();
            let mut with = |threads: u32| {
                let changes = json!({"structure": structure, "maturity": maturity, "latching": latching, "threads": threads});
                run(&prepared_in(&mut library, &changes)).1.metrics
            };
            let alone = with(1);
            for threads in [2, 3, 7] {
                assert_same(
                    &with(threads),
                    &alone,
                    &format!("{structure}, {maturity}, {latching}, {threads} threads"),
                );
            }
        }
    }
}

#[test]
fn searches_are_dealt_out() {
    for structure in STRUCTURES {
        for frames in [0, 112] {
            let with = |threads: u32| {
                let changes =
                    json!({"structure": structure, "threads": threads, "pool_frames": frames});
                run(&searches(&changes)).1.metrics
            };
            let alone = with(1);
            assert_eq!(alone["returned"], 500);
            for threads in [2, 7] {
                let found = with(threads);
                assert_same(&found, &alone, &format!("{structure}, {threads} threads"));
                // One pool: pages that one thread has read are there for all.
                let (read, before) = (found["pages_read"], alone["pages_read"]);
                assert!(
                    read.abs_diff(before) * 10 <= before,
                    "{structure}: {read}, {before}"
                );
            }
        }
    }
}

#[test]
fn threads_share_the_index_and_have_buffers_of_their_own() {
    for structure in STRUCTURES {
        let prepared = prepared(&json!({"structure": structure, "threads": 3}));
        let (events, _) = run(&prepared);
        let segments = &prepared.layout().segments;
        let buffers = segments.len() - 3;
        let touched = |thread: usize, segment: usize| {
            let range = &segments[segment];
            let range = range.base..range.base + range.size_bytes;
            let kinds = [Kind::Load, Kind::Store, Kind::Prefetch, Kind::Exchange];
            kinds.into_iter().any(|kind| {
                of(&events[thread], kind)
                    .iter()
                    .any(|address| range.contains(address))
            })
        };
        for thread in 0..3 {
            for other in 0..3 {
                let own = touched(thread, buffers + other);
                assert_eq!(
                    own,
                    thread == other,
                    "{structure}: buffer {other} and thread {thread}"
                );
            }
            assert!(touched(thread, 0), "{structure}: frames");
        }
    }
}

/// Control structures of the pool: those behind the groups of frames, before return buffers.
fn control(prepared: &Prepared) -> std::ops::Range<u64> {
    let layout = prepared.layout();
    let of = |name: &str| {
        let found = layout.segments.iter().find(|one| one.name == name);
        found.unwrap().base..found.unwrap().base + found.unwrap().size_bytes
    };
    of("page table").start..of("frame descriptors").end
}

/// What an optimistic reader changes: each frame is referenced once while all pages stay.
#[test]
fn who_reads_optimistically_changes_nothing_that_others_read() {
    for structure in STRUCTURES {
        for threads in [1, 4_u64] {
            let changes = json!({"structure": structure, "threads": threads, "pool_frames": 0, "latching": "optimistic"});
            let prepared = searches(&changes);
            let control = control(&prepared);
            let sites = &prepared.layout().sites;
            let at = |name: &str| sites.iter().position(|site| site == name).unwrap();
            let versions = [
                at("frame descriptor: load version"),
                at("frame descriptor: load version again"),
            ];
            let (events, outcome) = run(&prepared);
            let mut stored: Vec<u64> = Vec::new();
            for events in &events {
                for kind in [Kind::Exchange, Kind::Latch, Kind::Unlatch] {
                    assert!(of(events, kind).is_empty(), "{structure}");
                }
                let loads = versions.map(|site| {
                    let of_site = events
                        .iter()
                        .filter(|event| usize::from(event.site) == site);
                    of_site.map(|event| event.address).collect::<Vec<_>>()
                });
                // Each search pins the pages of its way down, one at a time.
                assert_eq!(loads[0], loads[1], "{structure}");
                let searches = outcome.metrics["operations"] / threads;
                assert!(loads[0].len() as u64 >= 2 * searches, "{structure}");
                let stores = of(events, Kind::Store);
                stored.extend(stores.iter().filter(|address| control.contains(address)));
            }
            let distinct: HashSet<u64> = stored.iter().copied().collect();
            assert_eq!(stored.len(), distinct.len(), "{structure}: noted twice");
            assert!(
                stored.len() as u64
                    <= outcome.metrics["leaf_pages"] + outcome.metrics["inner_pages"]
            );
        }
    }
}

/// Which page comes into which frame is the same plan, and pages come and leave under latches.
#[test]
fn how_pages_are_kept_does_not_decide_which_are_there() {
    for structure in STRUCTURES {
        for threads in [1, 5] {
            let with = |latching: &str| {
                let changes =
                    json!({"structure": structure, "threads": threads, "latching": latching});
                run(&searches(&changes))
            };
            let ((held, pessimistic), (read, optimistic)) =
                (with("pessimistic"), with("optimistic"));
            assert_eq!(pessimistic.metrics, optimistic.metrics, "{structure}");
            assert!(optimistic.metrics["pages_read"] > 100, "{structure}");
            for (held, read) in held.iter().zip(&read) {
                for kind in [Kind::PageRead, Kind::PageWait, Kind::PageArrival] {
                    assert_eq!(of(held, kind), of(read, kind), "{structure}");
                }
            }
            let latched: usize = read
                .iter()
                .map(|events| of(events, Kind::Latch).len())
                .sum();
            // CLOCK, the chain that a page leaves, and the one that it comes to.
            let most = 3 * (optimistic.metrics["pages_read"] as usize + 112);
            assert!(latched > 0 && latched <= most, "{structure}: {latched}");
        }
    }
}

/// Every page that a thread looks into has come there for it: the thread has read it, or waited for it, since it came.
#[test]
fn threads_wait_for_every_page_that_they_look_into() {
    for structure in STRUCTURES {
        for prepared in [
            prepared(&json!({"structure": structure, "threads": 3})),
            searches(&json!({"structure": structure, "threads": 5})),
            searches(&json!({"structure": structure, "threads": 5, "latching": "optimistic"})),
        ] {
            let frames = &prepared.layout().segments[0];
            let frame_of = |address: u64| (address - frames.base) / 2048;
            let is_in_frame =
                |address: &u64| (frames.base..frames.base + frames.size_bytes).contains(address);
            let (events, outcome) = run(&prepared);
            let mut fills: HashMap<u64, HashSet<u16>> = HashMap::new();
            let mut waits = 0;
            for events in &events {
                let mut came: HashSet<u64> = HashSet::new();
                for (event, next) in events.iter().zip(&events[1..]) {
                    match event.kind {
                        Kind::PageRead | Kind::PageWait => {
                            assert_ne!(event.fill(), 0);
                            assert_eq!(next.kind, Kind::PageArrival);
                            assert_eq!(next.comes_for_another(), event.kind == Kind::PageWait);
                            came.insert(frame_of(next.address));
                            fills.entry(event.address).or_default().insert(event.fill());
                            waits += u32::from(event.kind == Kind::PageWait);
                        }
                        Kind::PagePrefetch => {
                            fills.entry(event.address).or_default().insert(event.fill());
                        }
                        Kind::Load if is_in_frame(&event.address) => {
                            assert!(
                                came.contains(&frame_of(event.address)),
                                "{structure}: {event:?}"
                            );
                        }
                        _ => {}
                    }
                }
            }
            assert!(waits > 0, "the root is read once");
            // Fills of a page are counted from 1 on, without a gap.
            let counted: usize = fills.values().map(HashSet::len).sum();
            assert_eq!(counted as u64, outcome.metrics["pages_read"], "{structure}");
            let is_whole = |of_page: &HashSet<u16>| {
                (1..=of_page.len() as u16).all(|fill| of_page.contains(&fill))
            };
            assert!(fills.values().all(is_whole), "{structure}");
        }
    }
}

#[test]
fn threads_say_the_same_whoever_is_asked_first() {
    let prepared = searches(&json!({"threads": 4, "structure": "disk-first"}));
    let (first, outcome) = run(&prepared);
    for order in [[3, 2, 1, 0], [0, 1, 2, 3], [2, 2, 2, 1]] {
        let mixed = order.into_iter().chain(0..4).cycle();
        let (events, again) = run_in_order(&prepared, mixed);
        assert_eq!(again.metrics, outcome.metrics);
        assert!(events == first, "{order:?}");
    }
}

/// Leaf pages are read by one thread, but for those in which one part ends and the next begins.
#[test]
fn parts_of_a_range_share_no_more_than_their_edges() {
    let alone = run(&prepared(&json!({"operations": 1}))).1.metrics["pages_read"];
    let (events, together) = run(&prepared(&json!({"operations": 1, "threads": 4})));
    let read = together.metrics["pages_read"];
    assert!((alone..=alone + 3 * 4).contains(&read), "{read} of {alone}");
    let pages: Vec<HashSet<u64>> = events
        .iter()
        .map(|events| of(events, Kind::PageRead).into_iter().collect())
        .collect();
    for (number, one) in pages.iter().enumerate() {
        for other in &pages[..number] {
            // The way down, and a leaf page at the edge.
            assert!(one.intersection(other).count() <= 4);
        }
        let barriers = of(&events[number], Kind::Barrier).len();
        assert_eq!(barriers, 1, "they begin together");
    }
}

#[test]
fn one_thread_meets_nobody() {
    let (events, _) = run(&prepared(&json!({"threads": 1})));
    assert!(of(&events[0], Kind::Barrier).is_empty());
}

#[test]
fn threads_without_frames_are_refused() {
    let refused = |changes: Value| {
        let mut value = json!({"kernel": "disk-index", "operation": "scan", "structure": "array", "keys": 20_000, "operations": 1, "range": 5000});
        value
            .as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        let workload: Workload = serde_json::from_value(value).unwrap();
        workload.validate().unwrap_err().to_string()
    };
    let error = refused(json!({"threads": 8, "pool_frames": 20}));
    assert!(
        error.contains("pool_frames: 20 for 8 threads; name at least 128"),
        "{error}"
    );
    let error = refused(json!({"threads": 4, "pool_frames": 100, "distance_pages": 40}));
    assert!(
        error.contains("40 pages asked for ahead by each thread, and there are 100 frames"),
        "{error}"
    );
    let cache_first = json!({"structure": "cache-first", "node_lines": 3, "operation": "insert"});
    for (changes, expected) in [
        (
            json!({"threads": 2}),
            "threads: 2; the nodes of a cache-first tree",
        ),
        (
            json!({"latching": "optimistic"}),
            "latching: optimistic; the nodes of",
        ),
    ] {
        let mut both = cache_first.clone();
        let more = changes.as_object().unwrap().clone();
        both.as_object_mut().unwrap().extend(more);
        let error = refused(both);
        assert!(error.contains(expected), "{error}");
    }
    let error = refused(json!({"threads": 2, "operation": "search", "caches": "cold"}));
    assert!(
        error.contains("caches: cold; threads work at the same time"),
        "{error}"
    );
    let error = refused(json!({"threads": 8, "range": 7}));
    assert!(error.contains("range"), "{error}");
}

/// Threads meet when all have warmed up, and again when operations begin; scans at each.
#[test]
fn threads_are_measured_from_one_point_on() {
    for (prepared, meetings) in [
        (
            searches(&json!({"threads": 3, "caches": "warm", "warm_up": 50})),
            2,
        ),
        (
            searches(&json!({"threads": 3, "caches": "empty", "operations": 2})),
            1,
        ),
        (
            prepared(&json!({"threads": 3, "caches": "warm", "warm_up": 2})),
            4,
        ),
    ] {
        let (events, _) = run(&prepared);
        for events in &events {
            assert_eq!(of(events, Kind::Barrier).len(), meetings);
            let measured = events.iter().position(|event| event.kind == Kind::Measure);
            if let Some(measured) = measured {
                assert_eq!(events[measured - 1].kind, Kind::Barrier);
            }
        }
    }
}

/// Each thread remembers what it has waited for: that is told before a run.
#[test]
fn memory_that_threads_take_is_estimated() {
    let with = |threads: u32, latching: &str| {
        let value = json!({"kernel": "disk-index", "operation": "search", "structure": "array", "page_bytes": 2048, "keys": 50_000_000,
            "operations": 1000, "pool_frames": 200_000, "caches": "empty", "threads": threads, "latching": latching});
        let workload: Workload = serde_json::from_value(value).unwrap();
        workload.memory().running
    };
    let running = |threads| with(threads, "pessimistic");
    // One that reads optimistically has a pool as several have.
    assert!(with(1, "optimistic") >= running(1) + 200_000 * 8);
    assert_eq!(with(2, "optimistic"), running(2));
    let of_threads = running(256) - running(1);
    assert!(of_threads >= 256 * 200_000 * 8, "{of_threads}");
    assert!(running(256) > running(128) && running(128) > running(2));
}
