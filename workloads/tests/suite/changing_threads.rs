//! Insertions and deletions in an index in pages by several threads: together they leave the index that one leaves, and hold latches of pages
//! as they should.

use super::index_threads::{of, prepared_in, run, run_in_order};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use traces::{Event, Kind};
use workloads::{Library, Prepared};

const STRUCTURES: [&str; 4] = ["slotted", "array", "micro-index", "disk-first"];
const LATCHINGS: [&str; 2] = ["pessimistic", "optimistic"];

fn changes(more: &Value) -> Prepared {
    changes_in(&mut Library::default(), more)
}

/// The same on an index that a library may have.
fn changes_in(library: &mut Library, more: &Value) -> Prepared {
    let mut value = json!({"operation": "insert", "operations": 600, "keys": 12_000, "key_bytes": 20, "distance_pages": 0, "pool_frames": 112});
    let more = more.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(more);
    prepared_in(library, &value)
}

/// Every structure, insertions and deletions, and scans among insertions, with a frame for each page and with few.
fn all() -> Vec<Value> {
    let mut all = Vec::new();
    for structure in STRUCTURES {
        for operation in ["insert", "delete"] {
            let case = json!({"structure": structure, "operation": operation});
            for frames in [0, 112] {
                let mut case = case.clone();
                case["pool_frames"] = json!(frames);
                all.push(case);
            }
            let mut mixed = case;
            mixed["search_share"] = json!(0.4);
            mixed["skew"] = json!(0.8);
            all.push(mixed);
        }
        all.push(json!({"structure": structure, "operation": "scan-and-insert", "insert_share": 0.6, "range": 30, "jump_pointers": false,
            "skew": 0.8}));
    }
    all
}

fn with(case: &Value, latching: &str, threads: u32) -> Value {
    let mut case = case.clone();
    case["latching"] = json!(latching);
    case["threads"] = json!(threads);
    case
}

/// One thread that is pessimistic has an index without latches: theirs is that one, split by split.
#[test]
fn threads_change_together_what_one_changes() {
    let mut library = Library::default();
    for case in all() {
        let alone = run(&changes_in(&mut library, &with(&case, "pessimistic", 1)))
            .1
            .metrics;
        let mixed = case.get("search_share").is_some();
        let returned = match case["operation"].as_str().unwrap() {
            "insert" => {
                if mixed {
                    220..260
                } else {
                    0..1
                }
            }
            // Some are searched for that have been deleted.
            "delete" => {
                if mixed {
                    540..600
                } else {
                    600..601
                }
            }
            _ => 220 * 30..260 * 30,
        };
        assert!(returned.contains(&alone["returned"]), "{case}");
        assert_eq!(
            alone["page_splits"] > 20,
            case["operation"] != "delete",
            "{case}"
        );
        for (latching, threads) in [
            ("pessimistic", 2),
            ("pessimistic", 7),
            ("optimistic", 1),
            ("optimistic", 7),
        ] {
            let found = run(&changes_in(&mut library, &with(&case, latching, threads)))
                .1
                .metrics;
            for (name, value) in &alone {
                let is_paging = name == "pages_read" || name == "pages_written";
                let differs = if is_paging { value / 5 } else { 0 };
                assert!(
                    found[name].abs_diff(*value) <= differs,
                    "{case}, {latching}, {threads} threads: {name} {} {value}",
                    found[name]
                );
            }
        }
    }
}

#[test]
fn threads_that_change_say_the_same_whoever_is_asked_first() {
    for latching in LATCHINGS {
        let case = json!({"structure": "disk-first", "latching": latching, "threads": 4});
        let prepared = changes(&case);
        let (first, outcome) = run(&prepared);
        for order in [[3, 2, 1, 0], [0, 1, 2, 3], [2, 2, 2, 1]] {
            let mixed = order.into_iter().chain(0..4).cycle();
            let (events, again) = run_in_order(&prepared, mixed);
            assert_eq!(again.metrics, outcome.metrics);
            assert!(events == first, "{latching}, {order:?}");
        }
    }
}

/// What a thread holds at an event, or has only awaited: latches by word and page, and how. Says whether it releases one. Who reads
/// optimistically also says so of pages that it has brought itself, and awaited nobody for.
fn holds(held: &mut HashMap<(u64, u32), Kind>, event: &Event, optimistic: bool) -> bool {
    match event.kind {
        Kind::Latch | Kind::ShareLatch | Kind::AwaitLatch => {
            let before = held.insert(event.latch(), event.kind);
            let is_new = before.is_none_or(|kind| kind == Kind::AwaitLatch);
            assert!(is_new, "{event:?} is held");
            false
        }
        Kind::Unlatch => {
            let before = held.remove(&event.latch());
            assert!(before.is_some() || optimistic, "{event:?} is not held");
            before.is_some_and(|kind| kind != Kind::AwaitLatch)
        }
        _ => false,
    }
}

/// A thread stores into pages only while it has one of them for itself, reads them only while it holds one (or has noted a version), and
/// holds nothing at the end.
#[test]
fn pages_are_changed_by_who_holds_them_alone() {
    let mut library = Library::default();
    let cases = all().into_iter();
    for (case, latching) in
        cases.flat_map(|case| LATCHINGS.map(|latching| (case.clone(), latching)))
    {
        let prepared = changes_in(&mut library, &with(&case, latching, 3));
        let segments = &prepared.layout().segments;
        let control = |name: &str| segments.iter().find(|one| one.name == name).unwrap().base;
        let frames = 0..control("page table");
        // Behind the latch of CLOCK.
        let descriptors = control("frame descriptors") + 16;
        let sites = &prepared.layout().sites;
        let at = |name: &str| sites.iter().position(|site| site == name).unwrap();
        let noted = at("frame descriptor: load version");
        let compared = at("frame descriptor: load version again");
        let optimistic = latching == "optimistic";
        let (events, _) = run(&prepared);
        for events in &events {
            let (mut held, mut reading) = (HashMap::new(), HashSet::new());
            let (mut stored, mut brought) = (0, 0);
            for event in events {
                let releases = holds(&mut held, event, optimistic);
                let site = usize::from(event.site);
                let loads = event.kind == Kind::Load;
                if loads && site == noted {
                    reading.insert(event.address);
                } else if loads && site == compared || releases {
                    // Who brings a page knows its version, and who releases its latch gives it another.
                    let was_noted = reading.remove(&event.address);
                    brought -= i32::from(!was_noted && event.address >= descriptors && brought > 0);
                }
                brought += i32::from(event.kind == Kind::PageRead);
                let is_of_page = |kind: Option<Kind>| {
                    let of_page = held.iter().filter(|((word, _), how)| {
                        *word >= descriptors && **how != Kind::AwaitLatch
                    });
                    of_page
                        .filter(|(_, how)| kind.is_none_or(|kind| **how == kind))
                        .count()
                };
                if !frames.contains(&event.address) {
                    continue;
                }
                if event.kind == Kind::Store {
                    stored += 1;
                    assert!(
                        is_of_page(Some(Kind::Latch)) > 0,
                        "{case}, {latching}: {event:?}"
                    );
                }
                if event.kind == Kind::Load {
                    let notes = optimistic && (brought > 0 || !reading.is_empty());
                    let reads = notes || is_of_page(None) > 0;
                    assert!(reads, "{case}, {latching}: {event:?}");
                }
            }
            assert!(held.is_empty(), "{case}, {latching}: {held:?}");
            assert!(stored > 200, "{case}, {latching}");
        }
    }
}

/// Who splits a page has the one above for himself, too, and no page that is above one which surely has room.
#[test]
fn a_split_holds_what_it_changes() {
    for structure in STRUCTURES {
        for latching in LATCHINGS {
            let case = json!({"structure": structure, "latching": latching, "threads": 2, "pool_frames": 0});
            let prepared = changes(&case);
            let (events, outcome) = run(&prepared);
            let mut most = 0;
            let mut alone: BTreeMap<usize, u64> = BTreeMap::new();
            for events in &events {
                let mut held = HashMap::new();
                for event in events {
                    holds(&mut held, event, latching == "optimistic");
                    if event.kind == Kind::Latch {
                        let pages = held.iter().filter(|((_, page), how)| {
                            **how == Kind::Latch && *page != Event::new(Kind::Latch, 0).latch().1
                        });
                        let count = pages.count();
                        *alone.entry(count).or_default() += 1;
                        most = most.max(count);
                    }
                }
            }
            // A leaf page and its parent; more only where the parent may be split, too.
            assert!((2..=3).contains(&most), "{structure}: {alone:?}");
            let splits = outcome.metrics["page_splits"];
            assert!(
                alone[&2] >= splits,
                "{structure}: {alone:?}, {splits} splits"
            );
        }
    }
}

/// What is moved through a buffer goes through the thread's own: else its lines would go from core to core.
#[test]
fn buffers_are_each_thread_s_own() {
    for structure in STRUCTURES {
        // Slots move upwards when one is taken out, elements of arrays when one comes.
        let operation = if structure == "slotted" {
            "delete"
        } else {
            "insert"
        };
        let case = json!({"structure": structure, "upward_moves": "through-buffer", "operation": operation});
        let prepared = changes(&with(&case, "pessimistic", 3));
        let segments = prepared.layout().segments.iter();
        let buffers: Vec<_> = segments.filter(|one| one.name == "page buffer").collect();
        assert_eq!(buffers.len(), 3, "{structure}");
        let (events, _) = run(&prepared);
        for (thread, events) in events.iter().enumerate() {
            for (other, buffer) in buffers.iter().enumerate() {
                let range = buffer.base..buffer.base + buffer.size_bytes;
                let stores = of(events, Kind::Store);
                let touched = stores.iter().any(|address| range.contains(address));
                assert_eq!(touched, thread == other, "{structure}: {thread}, {other}");
            }
        }
    }
}

/// Every page that comes from storage is read or waited for by each thread that looks into it.
#[test]
fn threads_wait_for_pages_that_come_and_write_those_that_they_changed() {
    for structure in STRUCTURES {
        let case = json!({"structure": structure, "threads": 5});
        let (events, outcome) = run(&changes(&case));
        let mut read = HashSet::new();
        for events in &events {
            for event in events {
                if event.kind == Kind::PageRead {
                    assert!(
                        read.insert((event.address, event.fill())),
                        "{event:?} twice"
                    );
                    assert!(event.fill() > 0);
                }
            }
        }
        let waits: HashSet<(u64, u16)> = events
            .iter()
            .flatten()
            .filter(|event| event.kind == Kind::PageWait)
            .map(|event| (event.address, event.fill()))
            .collect();
        assert!(
            waits.is_subset(&read),
            "{structure}: a wait for what nobody reads"
        );
        assert!(!waits.is_empty(), "{structure}");
        let written: usize = events
            .iter()
            .map(|events| of(events, Kind::PageWrite).len())
            .sum();
        assert_eq!(written as u64, outcome.metrics["pages_written"]);
        assert!(written > 100, "{structure}: {written}");
    }
}
