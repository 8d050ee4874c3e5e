//! The table kernel: what it returns does not depend on the layout, its events are those of the page formats, and what cannot be is refused.

mod refusals;
mod steps;

use crate::common::workload::{changed, workload};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use traces::{Counter, Event, Kind};
use workloads::{Library, Workload};

fn table(changes: Value) -> Workload {
    let base =
        json!({"kernel": "table", "records": 5000, "point_queries": 500, "first_projected": 8});
    workload(changed(base, &changes))
}

fn metrics(changes: Value) -> BTreeMap<String, u64> {
    let prepared = Library::new().prepare(&table(changes)).unwrap();
    prepared.run(&mut Counter::default()).unwrap().metrics
}

fn events(changes: Value) -> Vec<Event> {
    let mut events = Vec::new();
    let prepared = Library::new().prepare(&table(changes)).unwrap();
    prepared.run(&mut events).unwrap();
    events
}

fn returned(changes: Value, layouts: &[&str]) -> Vec<(u64, u64)> {
    let of = |layout: &&str| {
        let mut changes = changes.clone();
        changes["layout"] = (*layout).into();
        let metrics = metrics(changes);
        (metrics["returned"], metrics["checksum"])
    };
    layouts.iter().map(of).collect()
}

#[test]
fn all_layouts_return_the_same() {
    let layouts = ["nsm", "pax", "dsm", "dsm-merge", "dsm-position"];
    for changes in [
        json!({"selectivity": 0.3, "projected": 3, "first_projected": 2}),
        json!({"predicates": 4, "aggregate": false}),
        json!({"operation": "point", "projected": 8, "first_projected": 1}),
    ] {
        let found = returned(changes.clone(), &layouts);
        assert!(
            found[0].0 > 0 && found.iter().all(|other| *other == found[0]),
            "{changes}: {found:?}"
        );
    }
    // One attribute alone: of a decomposed relation, only its file is read.
    let alone = json!({"selectivity": 0.3, "first_predicate": 3, "first_projected": 3});
    let found = returned(alone.clone(), &layouts);
    assert!(found.iter().all(|other| *other == found[0]), "{found:?}");
    let mut decomposed = alone;
    decomposed["layout"] = "dsm".into();
    assert!(
        events(decomposed)
            .iter()
            .all(|event| event.kind != Kind::Store)
    );
    let stores = ["standard-row", "super-row", "super-column"];
    for changes in [
        json!({"first_projected": 1, "projected": 8}),
        json!({"first_projected": 2, "projected": 3, "abstraction": [5, 10, 100], "level_attributes": [2, 2, 4]}),
    ] {
        let found = returned(changes.clone(), &stores);
        assert!(
            found[0].0 == 5000 && found.iter().all(|other| *other == found[0]),
            "{changes}: {found:?}"
        );
    }
}

/// The outcome is of the relation as the operation leaves it: by its values, and not by its layout.
#[test]
fn outcomes_of_changes_are_of_what_is_left() {
    let all = json!({"projected": 8, "first_projected": 1, "selectivity": 1.0});
    let before = metrics(all)["checksum"];
    for layout in ["nsm", "pax", "dsm", "dsm-merge", "dsm-position"] {
        let changes = json!({"operation": "update", "layout": layout, "projected": 3, "first_projected": 2, "selectivity": 0.3});
        let updated = metrics(changes);
        assert!(updated["returned"] > 1000);
        assert_eq!(updated["checksum"], before + 3 * updated["returned"]);
        assert_eq!(updated["records"], 5000);
    }
    let deleted = |layout: &&str| {
        metrics(json!({"operation": "delete", "layout": layout, "selectivity": 0.5}))
    };
    let found: Vec<_> = ["nsm", "pax", "dsm"].iter().map(deleted).collect();
    for one in &found {
        assert_eq!(one["records"], 5000 - one["returned"]);
        assert!(0 < one["checksum"] && one["checksum"] < before);
        assert_eq!(one["checksum"], found[0]["checksum"]);
    }
    let grown = |layout: &&str| {
        let strings = json!({"layout": layout, "strings": [2], "first_projected": 2, "records": 500, "page_bytes": 8192});
        let update =
            json!({"operation": "update", "updated_string_bytes": 2000, "selectivity": 1.0});
        let scan = changed(strings.clone(), &json!({"aggregate": false}));
        let before = metrics(scan)["pages"];
        let after = metrics(changed(strings, &update));
        assert_eq!((after["returned"], after["records"]), (500, 500));
        // A thousand bytes on the average: at most eight in a page, where more than a hundred were.
        assert!(after["pages"] >= before + 500 / 9, "{after:?}");
        after["checksum"]
    };
    let found: Vec<_> = ["nsm", "pax", "dsm"].iter().map(grown).collect();
    assert!(found.iter().all(|other| *other == found[0]), "{found:?}");
}

/// Branches that a two-bit counter for each place in the code mispredicts (Smith, ISCA 1981).
fn mispredicted_without_history(events: &[Event]) -> usize {
    let mut counters: HashMap<u16, u8> = HashMap::new();
    let branches = events.iter().filter(|event| event.kind == Kind::Branch);
    let mispredicted = branches.filter(|branch| {
        let (taken, counter) = (
            branch.address == 1,
            counters.entry(branch.site).or_insert(2),
        );
        let predicted = *counter >= 2;
        *counter = if taken {
            (*counter + 1).min(3)
        } else {
            counter.saturating_sub(1)
        };
        predicted != taken
    });
    mispredicted.count()
}

/// The bounds of a range are two comparisons in the code: were they one place, a counter would swing between the lower one, which always holds
/// here, and the upper one, which seldom does, and mispredict nearly every record.
#[test]
fn each_bound_of_a_range_is_a_place_of_its_own() {
    let rare = json!({"selectivity": 0.1});
    let qualifying = metrics(rare.clone())["returned"] as usize;
    let mispredicted = mispredicted_without_history(&events(rare));
    assert!(
        (qualifying..2 * qualifying).contains(&mispredicted),
        "{mispredicted} for {qualifying} records"
    );
}

/// Attribute by attribute, all records of a page are tested before the first is read; record by record, each that passes is read at once.
#[test]
fn minipages_are_scanned_by_attributes_or_by_records() {
    let qualify = json!({"layout": "pax", "selectivity": 0.3, "predicates": 3, "projected": 3, "first_projected": 2, "aggregate": false});
    let in_order = |order: &str| changed(qualify.clone(), &json!({"scan_order": order}));
    let read_at_once = |order: &str| {
        let of_record = |event: &Event| matches!(event.kind, Kind::Store | Kind::Branch);
        let kinds: Vec<Kind> = events(in_order(order))
            .iter()
            .filter(|event| of_record(event))
            .map(|event| event.kind)
            .collect();
        kinds
            .windows(2)
            .filter(|pair| *pair == [Kind::Branch, Kind::Store])
            .count() as u64
    };
    let (by_records, by_attributes) = (
        metrics(in_order("records")),
        metrics(in_order("attributes")),
    );
    assert_eq!(by_records, by_attributes);
    assert_eq!(read_at_once("records"), by_records["returned"]);
    assert_eq!(read_at_once("attributes"), by_records["pages"]);
}

/// Blocks come attribute by attribute, in order, and each is copied to a place of its own in the pages.
#[test]
fn scattering_copies_every_block_once() {
    let (attributes, block) = (5, 512);
    let scatter = json!({"operation": "scatter", "layout": "pax", "attributes": attributes, "first_projected": 1});
    let metrics = metrics(scatter.clone());
    let blocks = metrics["pages"] * (8192 / block / attributes) * attributes;
    assert_eq!(metrics["returned"], blocks);
    let events = events(scatter);
    let places = |kind: Kind| -> Vec<u64> {
        let of_kind = events.iter().filter(|event| event.kind == kind);
        of_kind.map(|event| event.address).collect()
    };
    let (read, written) = (places(Kind::Load), places(Kind::Store));
    assert_eq!(read.len() as u64, blocks * block / 4);
    assert!(read.windows(2).all(|pair| pair[1] == pair[0] + 4));
    let places: HashSet<&u64> = written.iter().collect();
    assert_eq!(places.len(), read.len());
    // The first attribute's blocks of a page are as far apart as there are attributes.
    let of_page = written.chunks(128).take(3);
    let first: Vec<u64> = of_page.map(|words| words[0] - written[0]).collect();
    assert_eq!(first, [0, 5 * 512, 10 * 512]);
}

/// Nulls are nulls in every layout: no range selects them, and they come back as such.
#[test]
fn all_layouts_pass_over_the_same_nulls() {
    let layouts = ["nsm", "pax", "dsm", "dsm-merge", "dsm-position"];
    let returned_where = |changes: Value| {
        let mut with_nulls = json!({"nullable": [2, 8], "nulls": 0.4});
        with_nulls
            .as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        let found = returned(with_nulls, &layouts);
        assert!(found.iter().all(|other| *other == found[0]), "{found:?}");
        found[0].0
    };
    let projected = json!({"selectivity": 0.3, "projected": 3, "first_projected": 6});
    assert!((1400..1600).contains(&returned_where(projected)));
    let tested = json!({"selectivity": 0.5, "first_predicate": 2});
    assert!((1400..1600).contains(&returned_where(tested)));
    let all_but_nulls = json!({"selectivity": 1.0, "predicates": 2, "aggregate": false});
    assert!((2900..3100).contains(&returned_where(all_but_nulls)));
    let point = json!({"operation": "point", "projected": 8, "first_projected": 1});
    assert_eq!(returned_where(point.clone()), 500);
    let strings = json!({"strings": [3, 8], "string_bytes": 50, "aggregate": false});
    assert_eq!(returned_where(changed(point, &strings)), 500);
    for operation in ["update", "delete"] {
        let changes = json!({"operation": operation, "selectivity": 0.5, "nullable": [2, 8], "nulls": 0.4, "projected": 8, "first_projected": 1});
        let found = returned(changes, &layouts[..3]);
        assert!(found.iter().all(|other| *other == found[0]), "{found:?}");
    }
}

/// Strings that grow: every record that a scan selects is changed once, wherever it moves; pages that it moves to are written, too.
#[test]
fn strings_that_grow_are_changed_once() {
    let changes = |layout: &str| json!({"layout": layout, "selectivity": 0.5, "projected": 2, "first_projected": 7, "strings": [7, 8], "string_bytes": 20});
    let selected = metrics(changed(changes("nsm"), &json!({"aggregate": false})));
    for layout in ["nsm", "pax", "dsm"] {
        let update = |bytes: u32| {
            changed(
                changes(layout),
                &json!({"operation": "update", "updated_string_bytes": bytes}),
            )
        };
        let grown = metrics(update(300));
        let before = metrics(changed(changes(layout), &json!({"aggregate": false})))["pages"];
        assert_eq!(grown["returned"], selected["returned"], "{layout}");
        assert!(grown["moved_records"] > 1000, "{grown:?}");
        let events = events(update(300));
        let pages = |kind: Kind| -> HashSet<u64> {
            let of_kind = events.iter().filter(|event| event.kind == kind);
            of_kind.map(|event| event.address).collect()
        };
        // Each page that is written has a frame of its own that was stored to.
        let prepared = Library::new().prepare(&table(update(300))).unwrap();
        let frame = |address: u64| {
            let segments = &prepared.layout().segments;
            let segment = segments.iter().find(|segment| {
                (segment.base..segment.base + segment.size_bytes).contains(&address)
            });
            let frames = segment.filter(|segment| segment.name.starts_with("frames"))?;
            Some((frames.base, (address - frames.base) / (8192 + 4096)))
        };
        let stores = events.iter().filter(|event| event.kind == Kind::Store);
        let frames: HashSet<_> = stores.filter_map(|event| frame(event.address)).collect();
        assert_eq!(frames.len(), pages(Kind::PageWrite).len(), "{layout}");
        // More than half of what was moved to a new page is over 150 bytes long.
        let new = pages(Kind::PageWrite)
            .iter()
            .filter(|&&page| page >= before)
            .count();
        assert!(new as u64 > grown["moved_records"] * 150 / 8192, "{new}");
        assert!(
            pages(Kind::PageRead)
                .iter()
                .all(|&page| page < before + new as u64)
        );
        assert_eq!(grown["pages"], before + new as u64);
        let shrunk = metrics(update(1));
        assert_eq!(
            (shrunk["returned"], shrunk["moved_records"]),
            (selected["returned"], 0)
        );
    }
}

/// Values are uniform: a range of 30% of the values selects about 30% of the records.
#[test]
fn selectivity_is_the_share_of_the_records() {
    let selected = |selectivity: f64| metrics(json!({"selectivity": selectivity}))["returned"];
    assert_eq!((selected(0.0), selected(1.0)), (0, 5000));
    assert!((1400..1600).contains(&selected(0.3)));
}

/// A deletion finds as many records in each layout, and the relation that is kept stays whole.
#[test]
fn all_layouts_delete_the_same_records() {
    let layouts = ["nsm", "pax", "dsm"];
    for selectivity in [0.0, 0.02, 1.0] {
        let changes = json!({"operation": "delete", "selectivity": selectivity, "predicates": 3, "first_projected": 1});
        let found = returned(changes, &layouts);
        assert!(found.iter().all(|other| *other == found[0]), "{found:?}");
        let scan = json!({"selectivity": selectivity, "predicates": 3});
        assert_eq!(found[0].0, returned(scan, &["nsm"])[0].0);
    }
    let mut library = Library::new();
    let mut run = |operation: &str| {
        let changes = json!({"operation": operation, "selectivity": 0.3, "first_projected": 1});
        let prepared = library.prepare(&table(changes)).unwrap();
        prepared.run(&mut Counter::default()).unwrap().metrics["returned"]
    };
    let all = [run("scan"), run("delete"), run("scan"), run("delete")];
    assert!(all.iter().all(|found| *found == all[0]), "{all:?}");
}

/// A layout changes as many records, whatever the share; nothing is written where none is changed.
#[test]
fn all_layouts_change_the_same_records() {
    for selectivity in [0.0, 0.02, 1.0] {
        let changes = json!({"operation": "update", "selectivity": selectivity, "projected": 3, "first_projected": 1});
        let found = returned(
            changes.clone(),
            &["nsm", "pax", "dsm", "dsm-merge", "dsm-position"],
        );
        assert!(found.iter().all(|other| *other == found[0]), "{found:?}");
        assert_eq!(found[0].0 == 0, selectivity == 0.0);
        let mut changes = changes;
        changes["layout"] = "dsm-merge".into();
        let writes = events(changes)
            .iter()
            .filter(|event| event.kind == Kind::PageWrite)
            .count();
        assert_eq!(writes, if selectivity == 0.0 { 0 } else { 3 * 5 });
    }
}

/// A relation that is kept gives the events of a new one.
#[test]
fn a_kept_relation_gives_the_events_of_a_new_one() {
    let mut library = Library::new();
    let mut count = |changes: Value| {
        let mut counter = Counter::default();
        library
            .prepare(&table(changes))
            .unwrap()
            .run(&mut counter)
            .unwrap();
        counter
    };
    let first = count(json!({"operation": "update"}));
    assert_eq!(first, count(json!({"operation": "update"})));
    let scan = count(json!({"selectivity": 0.7}));
    count(json!({"layout": "pax"}));
    assert_eq!(scan, count(json!({"selectivity": 0.7})));
}
