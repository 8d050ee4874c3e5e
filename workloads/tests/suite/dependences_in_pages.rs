//! What stores and copies in pages wait for: every store for what was loaded to make its value, every copy of an entry for the slot that
//! says where it is. In-order cores stop there.

use crate::common::stream::Stream;
use crate::common::workload::changed;
use serde_json::{Value, json};
use traces::{Event, Kind};

/// Insertions into an index in pages that split pages, nodes and roots.
fn disk_index(structure: &Value, changes: &Value) -> Stream {
    let base = json!({"kernel": "disk-index", "operation": "insert", "caches": "empty",
        "keys": 2000, "operations": 2000, "page_bytes": 2048});
    Stream::of(changed(base, structure), changes)
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

/// The same with keys that are strings.
fn string_index(structure: &Value, changes: &Value) -> Stream {
    let base = json!({"kernel": "string-index", "operation": "insert", "caches": "empty",
        "keys": 2000, "operations": 2000, "page_bytes": 2048, "longest_key_bytes": 24});
    Stream::of(changed(base, structure), changes)
}

fn string_structures() -> [Value; 4] {
    [
        json!({"structure": "slotted"}),
        json!({"structure": "prefix-array", "prefix_bytes": 4}),
        json!({"structure": "prefix-array", "prefix_bytes": 16}),
        json!({"structure": "in-page-tree", "node_lines": 4}),
    ]
}

/// The name of what an event waits for.
fn waits_for<'s>(stream: &'s Stream, (_, load): &(&Event, Option<&Event>)) -> Option<&'s str> {
    load.map(|load| stream.site(load))
}

/// How many events of a kind at one place in the code wait for an event at another.
fn waiting(stream: &Stream, kind: Kind, site: &str, load: &str) -> usize {
    let events = stream.at(kind, site);
    let waiting = events
        .iter()
        .filter(|event| waits_for(stream, event) == Some(load));
    waiting.count()
}

/// Stores at a place in the code: there are some, and each waits for a load at one of these.
fn all_wait(stream: &Stream, store: &str, loads: &[&str]) {
    let stores = stream.at(Kind::Store, store);
    assert!(stores.len() > 100, "{store}: {}", stores.len());
    for store in &stores {
        let load = waits_for(stream, store).expect("a store of what was loaded");
        assert!(loads.contains(&load), "{load}");
    }
}

/// Whether a store waits for what was at its place: it is counted up or down.
fn is_counted((store, load): &(&Event, Option<&Event>)) -> bool {
    load.is_some_and(|load| load.kind == Kind::Load && load.address == store.address)
}

fn counted(stream: &Stream, sites: &[&str]) -> usize {
    let stores = sites.iter().flat_map(|site| stream.at(Kind::Store, site));
    stores.filter(is_counted).count()
}

#[test]
fn counts_wait_for_what_they_were() {
    for operation in ["insert", "delete"] {
        let operation = json!({"operation": operation});
        for structure in structures() {
            let stream = disk_index(&structure, &operation);
            let counted = counted(&stream, &["store page header", "leaf node: store"]);
            assert!(counted > 1950, "{structure} {operation}: {counted}");
        }
        for structure in string_structures() {
            let stream = string_index(&structure, &operation);
            let sites = ["page header: store", "in-page nodes: store header"];
            let counted = counted(&stream, &sites);
            // The number of entries, and the bytes that are used, or dead.
            assert!(counted > 2 * 1950, "{structure} {operation}: {counted}");
        }
    }
}

/// A split copies key and ID of each entry, and puts its place on the chain of free ones.
#[test]
fn entries_of_slotted_pages_wait_for_what_they_are_copies_of() {
    let slotted = &structures()[0];
    let stream = disk_index(slotted, &json!({}));
    for load in ["load key of an entry", "load pageID or tupleID of an entry"] {
        let copied = waiting(&stream, Kind::Store, "store entry", load);
        assert!(copied > 500, "{load}: {copied}");
    }
    all_wait(&stream, "load free entry", &["load slot"]);
    // The place of each insertion is on the chain, or behind those that were used.
    let placed = waiting(&stream, Kind::Store, "store slot", "load page header");
    assert!(placed >= 2000, "{placed}");
    let deletions = disk_index(slotted, &json!({"operation": "delete"}));
    all_wait(&deletions, "load free entry", &["load page header"]);
}

#[test]
fn micro_indexes_wait_for_their_keys() {
    let stream = disk_index(&structures()[2], &json!({}));
    let load = "micro-index: load first key of a sub-array";
    all_wait(&stream, "micro-index: store key", &[load]);
}

/// The key that divides two halves goes into the page or node above when it has been loaded.
#[test]
fn separators_wait_for_their_loads() {
    for (number, store, load) in [
        (0, "store entry", "load found key"),
        (1, "store key", "load found key"),
        (2, "store key", "load found key"),
        (3, "non-leaf node: store", "leaf node: load key"),
        (3, "store key", "load found key"),
        (4, "non-leaf node: store", "leaf node: load key"),
    ] {
        let structure = &structures()[number];
        let stream = disk_index(structure, &json!({}));
        let separators = waiting(&stream, Kind::Store, store, load);
        assert!(separators > 5, "{structure} {store}: {separators}");
    }
    for (number, store, load) in [
        (0, "keys: store entry", "keys: load word"),
        (1, "keys: store entry", "keys: load word"),
        (1, "slots: store slot", "keys: load word"),
        (
            3,
            "in-page nodes: store entry",
            "in-page nodes: load word of a key",
        ),
    ] {
        let structure = &string_structures()[number];
        let stream = string_index(structure, &json!({}));
        let separators = waiting(&stream, Kind::Store, store, load);
        assert!(separators > 5, "{structure} {store}: {separators}");
    }
}

/// Which half of a page takes a key shows by what divides them.
#[test]
fn halves_of_pages_are_chosen_by_what_divides_them() {
    let side = "which half takes the key?";
    for (structure, load) in [
        (0, "load found key"),
        (1, "load found key"),
        (3, "load found key"),
    ] {
        let stream = disk_index(&structures()[structure], &json!({}));
        assert!(waiting(&stream, Kind::Branch, side, load) > 5);
    }
    let stream = string_index(&string_structures()[0], &json!({}));
    assert!(waiting(&stream, Kind::Branch, side, "keys: load word") > 5);
}

/// Pointers that are copied wait for their loads, those to nodes that were taken for what told that they are free.
#[test]
fn pointers_wait_for_their_loads() {
    let stream = disk_index(&structures()[4], &json!({}));
    for load in ["load header of a leaf node", "load map of nodes"] {
        let copied = waiting(&stream, Kind::Store, "store pointer", load);
        assert!(copied > 100, "{load}: {copied}");
    }
    let maps = stream.at(Kind::Store, "store map of nodes");
    assert!(maps.len() > 20, "{}", maps.len());
    assert!(maps.iter().all(is_counted));

    let stream = disk_index(&structures()[3], &json!({}));
    let links = stream.at(Kind::Store, "leaf node: store");
    let copied = links.iter().filter(|link| {
        waits_for(&stream, link) == Some("load header of a leaf node") && !is_counted(link)
    });
    assert!(copied.count() > 50);
    let taken = waiting(&stream, Kind::Store, "leaf node: store", "load page header");
    assert!(taken > 50, "{taken}");

    let stream = string_index(&string_structures()[3], &json!({}));
    let store = "in-page nodes: store header";
    for load in ["in-page nodes: load header", "page header: load"] {
        let copied = waiting(&stream, Kind::Store, store, load);
        assert!(copied > 50, "{load}: {copied}");
    }
    // The next page of the level.
    for structure in &structures()[..4] {
        let stream = disk_index(structure, &json!({}));
        let headers = stream.at(Kind::Store, "store page header");
        let copied = headers.iter().filter(|header| {
            waits_for(&stream, header) == Some("load page header") && !is_counted(header)
        });
        assert!(copied.count() > 5, "{structure}");
    }
}

/// Whoever copies an entry knows from its slot where it is, and how long: splits do, and what moves the living entries together.
#[test]
fn copies_of_strings_wait_for_their_slots() {
    let whole = ("slots: store slot", "slots: load offset and length");
    let node = (
        "in-page nodes: store slot",
        "in-page nodes: load offset and length of a slot",
    );
    for (structure, (store, load)) in [(0, whole), (1, whole), (3, node)] {
        let structure = &string_structures()[structure];
        // Deleted entries make room for others.
        let stream = string_index(structure, &json!({"fill": 0.7}));
        let mut copied = 0;
        for (number, event) in stream.events.iter().enumerate() {
            let slot = number - event.dep as usize;
            let is_copy = event.kind == Kind::Store
                && stream.site(event) == store
                && stream.site(&stream.events[slot]) == load;
            if !is_copy {
                continue;
            }
            // The copy of the entry is between.
            let between = &stream.events[slot..number];
            let entry = between
                .iter()
                .position(|event| stream.site(event) == "move word: load");
            let Some(entry) = entry else {
                // The first slot behind those that were moved together.
                continue;
            };
            let event = &stream.events[slot + entry];
            assert_eq!(event.dep as usize, entry, "{structure}");
            assert!(event.chain > 0, "{structure}");
            copied += 1;
        }
        assert!(copied > 500, "{structure}: {copied}");
    }
}

/// Entries go to the buffer when they have been loaded, and come back when they have been loaded from there.
#[test]
fn entries_of_reorganized_pages_wait_for_their_loads() {
    let stream = string_index(&string_structures()[3], &json!({"fill": 0.7}));
    all_wait(
        &stream,
        "reorganized page: store entry into the buffer",
        &["in-page nodes: load child, pageID or tupleID"],
    );
    let load = "reorganized page: load entry from the buffer";
    let loads = stream.at(Kind::Load, load).len();
    let stores = stream.at(Kind::Store, "reorganized page: store entry into the buffer");
    assert_eq!(loads, stores.len());
    let back = waiting(&stream, Kind::Store, "in-page nodes: store entry", load);
    assert_eq!(back, 2 * loads);
}

/// A scan keeps in a register what is in a slot: where key and ID are.
#[test]
fn scans_load_each_slot_once() {
    for structure in string_structures() {
        let loads = |range: u32, sites: [&str; 2]| {
            let scan = json!({"operation": "scan", "operations": 1, "range": range});
            let stream = string_index(&structure, &scan);
            let loads = sites.iter().map(|site| stream.at(Kind::Load, site).len());
            loads.sum::<usize>()
        };
        let more = |sites: [&str; 2]| loads(1100, sites) - loads(100, sites);
        let slots = more([
            "slots: load offset and length",
            "in-page nodes: load offset and length of a slot",
        ]);
        let ids = more([
            "keys: load pageID or tupleID",
            "in-page nodes: load child, pageID or tupleID",
        ]);
        assert!(ids >= 1000, "{structure}: {ids}");
        assert!(slots < ids + 50, "{structure}: {slots} slots, {ids} IDs");
    }
}

/// A new root gets an entry that leads to the old one before that of its sibling.
#[test]
fn new_roots_get_both_entries() {
    for (structure, stores) in structures()[..4].iter().zip([4, 2, 2, 2]) {
        let few = json!({"keys": 150, "operations": 200});
        let stream = disk_index(structure, &few);
        let is_growth = |event: &Event| {
            event.kind == Kind::Branch && event.address == 1 && stream.site(event) == "root split?"
        };
        let growth = stream
            .events
            .iter()
            .position(is_growth)
            .expect("a new root");
        let grown = stream.events[growth..].iter().take_while(|event| {
            // The next insertion.
            event.kind != Kind::Branch || stream.site(event) != "another level?"
        });
        let stored: Vec<&str> = grown
            .filter(|event| event.kind == Kind::Store)
            .map(|event| stream.site(event))
            .collect();
        let entries = ["store pageID or tupleID", "store entry"];
        let entries = stored.iter().filter(|site| entries.contains(site)).count();
        assert_eq!(entries, stores, "{structure}");
        if structure["structure"] == "disk-first" {
            // The number of entries, twice, and the next node.
            let headers = stored.iter().filter(|site| **site == "leaf node: store");
            assert_eq!(headers.count(), 3);
        }
    }
}

/// Non-leaf nodes that a split of their page gives back are found in those above them.
#[test]
fn nodes_that_are_given_back_were_looked_for() {
    let nonleaf = json!({"leaf_lines": 1, "page_bytes": 4096, "keys": 8000, "operations": 8000});
    let stream = disk_index(&structures()[3], &nonleaf);
    let load = "non-leaf node: load child";
    assert!(waiting(&stream, Kind::Store, "store page header", load) > 0);
    let stream = string_index(
        &string_structures()[3],
        &json!({"keys": 8000, "operations": 8000, "page_bytes": 8192}),
    );
    let load = "in-page nodes: load child, pageID or tupleID";
    assert!(waiting(&stream, Kind::Store, "page header: store", load) > 0);
}

/// Where the leaf nodes of a page are, those above them say: none is found by the one before it.
#[test]
fn a_division_does_not_walk_along_the_chain_of_leaf_nodes() {
    let fractal = disk_index(&structures()[3], &json!({}));
    let strings = string_index(&string_structures()[3], &json!({}));
    for (stream, header, child) in [
        (
            fractal,
            "load header of a leaf node",
            "non-leaf node: load child",
        ),
        (
            strings,
            "in-page nodes: load header",
            "in-page nodes: load child, pageID or tupleID",
        ),
    ] {
        assert_eq!(waiting(&stream, Kind::Load, header, header), 0, "{header}");
        assert!(
            waiting(&stream, Kind::Load, header, child) > 1000,
            "{child}"
        );
    }
}

/// A scan that prefetches ahead looks for its last key and for its first, and goes on from there.
#[test]
fn a_scan_goes_down_to_its_first_key_once() {
    let steps = |jump_pointers: bool| {
        let scans = json!({"operation": "scan", "operations": 100, "range": 1, "jump_pointers": jump_pointers});
        let stream = disk_index(&structures()[3], &scans);
        stream
            .at(Kind::Load, "load header of a non-leaf node")
            .len()
    };
    assert!(steps(false) >= 200);
    assert_eq!(steps(true), 2 * steps(false));
}

/// A division of a leaf page tells parents where their nodes have gone. Neighbours have mostly one parent, which stays pinned.
#[test]
fn divisions_pin_a_parent_once_for_neighbours() {
    let cache_first = &structures()[4];
    let stream = disk_index(cache_first, &json!({"page_bytes": 8192, "keys": 10_000}));
    // Where nodes lie in their pages, as stored since a page was pinned or unpinned last.
    let mut places: Vec<u64> = Vec::new();
    let mut neighbours = 0;
    for event in stream
        .events
        .iter()
        .filter(|event| event.kind == Kind::Store)
    {
        match (stream.site(event), event.size) {
            ("frame descriptor: store pins", _) => places.clear(),
            ("store pointer", 2) => {
                neighbours += usize::from(places.contains(&(event.address - 2)));
                places.push(event.address);
            }
            _ => {}
        }
    }
    assert!(neighbours > 50, "{neighbours}");
}
