//! The table kernel: what it returns does not depend on the layout, and its events are those of the page formats.

use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use traces::{Counter, Event, Kind};
use workloads::{Library, Workload};

/// The layouts `dsm-merge` and `dsm-position` are `dsm` with this reconstruction.
fn table(changes: Value) -> Workload {
    let mut value =
        json!({"kernel": "table", "records": 5000, "point_queries": 500, "first_projected": 8});
    value
        .as_object_mut()
        .unwrap()
        .extend(changes.as_object().unwrap().clone());
    if let Some(how) = value["layout"]
        .as_str()
        .and_then(|name| name.strip_prefix("dsm-"))
    {
        value["reconstruction"] = how.into();
        value["layout"] = "dsm".into();
    }
    serde_json::from_value(value).unwrap()
}

fn with_more(mut changes: Value, more: &Value) -> Value {
    let more = more.as_object().unwrap().clone();
    changes.as_object_mut().unwrap().extend(more);
    changes
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
    assert_eq!(returned_where(with_more(point, &strings)), 500);
    for operation in ["update", "delete"] {
        let changes = json!({"operation": operation, "selectivity": 0.5, "nullable": [2, 8], "nulls": 0.4, "projected": 8, "first_projected": 1});
        let found = returned(changes, &layouts[..3]);
        assert!(found.iter().all(|other| *other == found[0]), "{found:?}");
    }
}

/// Pages and loads of a scan whose last attribute may be missing, and is missing always or never.
#[test]
fn a_scan_of_nulls_is_its_steps() {
    let count = |layout: &str, nulls: f64, kind: Kind| {
        let changes =
            json!({"layout": layout, "selectivity": 1.0, "nullable": [8], "nulls": nulls});
        events(changes)
            .iter()
            .filter(|event| event.kind == kind)
            .count()
    };
    // Slotted records have the bit and the value's place: 12 + 64 + 1, rounded to 80, and a slot; 97 a page.
    // Minipages have bits alone: 142 x 56 and 8 x 18 of 8128 bytes, where there were 125 with a value each.
    for (layout, nulls, pages) in [
        ("nsm", 1.0, 52),
        ("nsm", 0.0, 52),
        ("pax", 1.0, 36),
        ("pax", 0.0, 40),
    ] {
        assert_eq!(
            count(layout, nulls, Kind::PageRead),
            pages,
            "{layout} {nulls}"
        );
        // The header, and in minipages two places; slot or none, the predicate's value, a bit, and a value.
        let opened = if layout == "nsm" { pages } else { 3 * pages };
        let slot = usize::from(layout == "nsm");
        let value = usize::from(nulls == 0.0);
        let loads = opened + 5000 * (slot + 1 + 1 + value);
        assert_eq!(count(layout, nulls, Kind::Load), loads, "{layout} {nulls}");
        // Next, and two values read; a null is not added to the sum.
        let calls = pages + 5000 * (3 + value);
        assert_eq!(count(layout, nulls, Kind::Call), calls, "{layout} {nulls}");
    }
}

/// Updates of strings that keep their length, counted by hand.
#[test]
fn an_update_of_strings_is_its_steps() {
    let count = |layout: &str, kind: Kind| {
        let changes = json!({"operation": "update", "layout": layout, "selectivity": 1.0, "strings": [8], "string_bytes": 1,
            "updated_string_bytes": 1});
        events(changes)
            .iter()
            .filter(|event| event.kind == kind)
            .count()
    };
    // Slotted records: 12 + 7 x 8 + 2 + 1 bytes, rounded to 72, and a slot: 107 a page. PAX pages with bits of deleted records:
    // 61 bytes and 8 bits a record, 130 of them in 8128 bytes.
    for (layout, pages) in [("nsm", 47), ("pax", 39)] {
        assert_eq!(count(layout, Kind::PageRead), pages);
        assert_eq!(count(layout, Kind::PageWrite), pages);
        // Next and the predicate's value; lock, change, log record.
        assert_eq!(count(layout, Kind::Call), pages + 5000 * 5);
    }
    // Header, and for each record slot and predicate's value; then header, slot, ends and string, and the record that is rewritten.
    assert_eq!(count("nsm", Kind::Load), 47 + 5000 * (2 + 4 + 1));
    assert_eq!(count("nsm", Kind::Store), 5000 * 2);
    // Header and the place of a minipage, the predicate's value; then header, place of the minipage, ends and string, and the place again.
    assert_eq!(count("pax", Kind::Load), 39 * 2 + 5000 * (1 + 4 + 1));
    assert_eq!(count("pax", Kind::Store), 5000 * 2);
}

/// Strings that grow: every record that a scan selects is changed once, wherever it moves; pages that it moves to are written, too.
#[test]
fn strings_that_grow_are_changed_once() {
    let changes = |layout: &str| json!({"layout": layout, "selectivity": 0.5, "projected": 2, "first_projected": 7, "strings": [7, 8], "string_bytes": 20});
    let selected = metrics(with_more(changes("nsm"), &json!({"aggregate": false})));
    for layout in ["nsm", "pax"] {
        let update = |bytes: u32| {
            with_more(
                changes(layout),
                &json!({"operation": "update", "updated_string_bytes": bytes}),
            )
        };
        let grown = metrics(update(300));
        assert_eq!(grown["returned"], selected["returned"], "{layout}");
        assert!(grown["moved_records"] > 1000, "{grown:?}");
        let events = events(update(300));
        let pages = |kind: Kind| -> HashSet<u64> {
            let of_kind = events.iter().filter(|event| event.kind == kind);
            of_kind.map(|event| event.address).collect()
        };
        // More than half of what was moved to a new page is over 150 bytes long.
        let new = pages(Kind::PageWrite)
            .iter()
            .filter(|&&page| page >= grown["pages"])
            .count();
        assert!(new as u64 > grown["moved_records"] * 150 / 8192, "{new}");
        assert!(
            pages(Kind::PageRead)
                .iter()
                .all(|&page| page < grown["pages"] + new as u64)
        );
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

/// 5000 records of 64 bytes: 102, 125 and, with a record number, 8160 / (12 + 4 + 8 + 4) = 291 in a page of 8 KB; without,
/// (8160 - 4) / (8 + 1/8) = 1003.
#[test]
fn pages_are_those_of_the_formats() {
    let pages = |changes: Value| metrics(changes)["pages"];
    assert_eq!(pages(json!({"layout": "nsm"})), 50);
    assert_eq!(pages(json!({"layout": "pax"})), 40);
    assert_eq!(pages(json!({"layout": "dsm"})), 8 * 18);
    assert_eq!(pages(json!({"layout": "dsm-position"})), 8 * 5);
    // Of 32000 bytes, without overhead: 8000 values of 4 bytes.
    let store = |layout: &str, more: Value| {
        let mut changes = json!({"layout": layout, "page_bytes": 32_768, "header_bytes": 768, "attributes": 4, "attribute_bytes": 4, "first_projected": 1, "records": 40_000});
        changes
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        pages(changes)
    };
    assert_eq!(store("standard-row", json!({})), 40);
    assert_eq!(store("super-row", json!({})), 20);
    assert_eq!(store("super-column", json!({})), 4 * 5);
    // One value in 40,000 / 400 rows stands alone: 400 values with the number of their rows are one page.
    let levels = json!({"abstraction": [400, 100], "level_attributes": [1, 3]});
    assert_eq!(store("super-column", levels), 1 + 3 * 5);
}

/// Calls, loads and pages of a scan, counted by hand.
#[test]
fn a_scan_is_its_steps() {
    let count = |changes: Value, kind: Kind| {
        events(changes)
            .iter()
            .filter(|event| event.kind == kind)
            .count()
    };
    let all = |layout: &str| json!({"layout": layout, "selectivity": 1.0});
    // A call for each page, and for each record: next, predicate, projection, sum.
    assert_eq!(count(all("nsm"), Kind::Call), 50 + 4 * 5000);
    assert_eq!(count(all("pax"), Kind::Call), 40 + 4 * 5000);
    // A header for each page, and for each record slot, predicate and projection.
    assert_eq!(count(all("nsm"), Kind::Load), 50 + 3 * 5000);
    // Header and two places of minipages for each page, no slots.
    assert_eq!(count(all("pax"), Kind::Load), 3 * 40 + 2 * 5000);
    assert_eq!(count(all("nsm"), Kind::PageRead), 50);
    // Two columns of five pages: of each page the header and the place of its minipage; no list and no index.
    assert_eq!(count(all("dsm-position"), Kind::Call), 2 * 5 + 4 * 5000);
    assert_eq!(count(all("dsm-position"), Kind::Load), 2 * 2 * 5 + 2 * 5000);
    assert_eq!(count(all("dsm-position"), Kind::PageRead), 2 * 5);
    assert_eq!(count(all("dsm-position"), Kind::Store), 0);
    // Both columns are scanned: one more call for each record.
    assert_eq!(count(all("dsm-merge"), Kind::Call), 2 * 5 + 5 * 5000);
    // A point query locks the record, fixes a page of each column for a value, and returns the record.
    let point = json!({"layout": "dsm-position", "operation": "point", "projected": 3, "first_projected": 2});
    assert_eq!(count(point, Kind::Call), 500 * (1 + 2 * 3 + 1));
    let updates =
        json!({"operation": "update", "selectivity": 1.0, "projected": 2, "first_projected": 3});
    assert_eq!(count(updates.clone(), Kind::PageWrite), 50);
    assert_eq!(count(updates, Kind::Store), 5000 * 2 * 2);
    // In columns each change is in a file of its own: five pages for each of two attributes, and a third file is scanned.
    let in_columns = |layout: &str| json!({"operation": "update", "layout": layout, "selectivity": 1.0, "projected": 2, "first_projected": 3});
    for layout in ["dsm-merge", "dsm-position"] {
        assert_eq!(count(in_columns(layout), Kind::PageRead), 3 * 5);
        assert_eq!(count(in_columns(layout), Kind::PageWrite), 2 * 5);
        assert_eq!(count(in_columns(layout), Kind::Store), 5000 * 2 * 2);
    }
    // Page turns; then for each record a step in each scanned file, the predicate's value, a lock, and a change and a log record twice.
    let calls = |layout: &str| count(in_columns(layout), Kind::Call);
    assert_eq!(calls("dsm-merge"), 3 * 5 + 5000 * (3 + 1 + 1 + 4));
    assert_eq!(calls("dsm-position"), 3 * 5 + 5000 * (1 + 1 + 1 + 4));
}

/// Of an update through indexes: each value is looked up, changed and logged; a page of its file is written once the next one is.
#[test]
fn an_update_through_indexes_is_its_steps() {
    let changes = json!({"operation": "update", "layout": "dsm", "selectivity": 1.0, "projected": 2, "first_projected": 3});
    let events = events(changes);
    let count = |kind: Kind| events.iter().filter(|event| event.kind == kind).count();
    // Records are in the order of their numbers: 18 pages of the file that is scanned, and of each that is changed.
    assert_eq!(count(Kind::PageRead), 3 * 18);
    assert_eq!(count(Kind::PageWrite), 2 * 18);
    // An entry of the list for each record, then value and log record twice.
    assert_eq!(count(Kind::Store), 5000 * (1 + 2 * 2));
    // A page turn, then next and two values; a lock, and for each value two levels of the index, its page, a change and a log record.
    let scan = 18 + 5000 * 3;
    assert_eq!(count(Kind::Call), scan + 5000 * (1 + 2 * (2 + 1 + 2)));
}

/// Of an index in storage, a node's page comes before any load of the node, and is not read again while it is used.
#[test]
fn nodes_of_a_stored_index_are_read_before_they_are_looked_into() {
    let update = json!({"operation": "update", "layout": "dsm", "selectivity": 1.0, "projected": 2, "first_projected": 3});
    let delete =
        json!({"operation": "delete", "layout": "dsm", "selectivity": 1.0, "first_projected": 1});
    let point = |layout: &str| json!({"operation": "point", "layout": layout});
    // The pages of files come first. Records are in order, so the five leaves of 5000 entries and their root are read once: of two
    // attributes, or of eight. A deletion changes and writes them all, once: a leaf that is refilled stays beside its sibling.
    let (nodes, files) = (5 + 1, 8 * 18);
    for (changes, files, reads, writes) in [
        (update, files, Some(2 * nodes), 0),
        (delete, files, Some(8 * nodes), 8 * nodes),
        (point("nsm"), 50, None, 0),
        (point("pax"), 40, None, 0),
        (point("dsm"), files, None, 0),
    ] {
        let stored = with_more(changes.clone(), &json!({"index_pages": "stored"}));
        let prepared = Library::new().prepare(&table(stored.clone())).unwrap();
        let sites = prepared.layout().sites.clone();
        let (plain, events) = (events(changes), events(stored));
        let of = |events: &[Event], kind: Kind, index: bool| {
            let pages = events.iter().filter(|event| event.kind == kind);
            pages
                .filter(|event| (event.address >= files) == index)
                .count()
        };
        for kind in [Kind::PageRead, Kind::PageWrite] {
            assert_eq!(of(&plain, kind, true), 0);
            assert_eq!(of(&plain, kind, false), of(&events, kind, false));
        }
        let loads = |events: &[Event]| {
            events
                .iter()
                .filter(|event| event.kind == Kind::Load)
                .count()
        };
        assert_eq!(loads(&plain), loads(&events));
        let found = of(&events, Kind::PageRead, true);
        if let Some(reads) = reads {
            assert_eq!(found, reads);
        } else {
            // Of five leaves, three are not there: the root stays, and two that were used last.
            assert!((250..350).contains(&found), "{found}");
        }
        assert_eq!(of(&events, Kind::PageWrite, true), writes);
        let mut there: Vec<std::ops::Range<u64>> = Vec::new();
        for event in &events {
            match event.kind {
                Kind::PageArrival => {
                    there.push(event.address..event.address + u64::from(event.size));
                }
                Kind::Load if sites[usize::from(event.site)].starts_with("index: ") => {
                    let come = there.iter().any(|frame| frame.contains(&event.address));
                    assert!(come, "{event:?}");
                }
                _ => {}
            }
        }
    }
}

/// Loads, stores, calls and pages of deletions, counted by hand.
#[test]
fn a_deletion_is_its_steps() {
    let count = |layout: &str, kind: Kind| {
        let changes = json!({"operation": "delete", "layout": layout, "selectivity": 1.0, "first_projected": 1});
        events(changes)
            .iter()
            .filter(|event| event.kind == kind)
            .count()
    };
    // Bits of deleted records leave room for 124 records in a page of PAX, where there were 125.
    // Each record is locked, deleted and logged once it is found.
    assert_eq!(count("nsm", Kind::Call), 50 + 5000 * (2 + 3));
    assert_eq!(count("pax", Kind::Call), 41 + 5000 * (2 + 3));
    for (layout, pages) in [("nsm", 50), ("pax", 41), ("dsm", 8 * 18)] {
        assert_eq!(count(layout, Kind::PageWrite), pages, "{layout}");
    }
    // The header of each page, slot and value of each record; then header, slot, eight values, and the header's counts.
    assert_eq!(count("nsm", Kind::Load), 50 + 5000 * (2 + 1 + 1 + 8 + 1));
    // The log record, the slot and the header's counts.
    assert_eq!(count("nsm", Kind::Store), 5000 * 3);
    // Header and eight places of minipages of each page, the value of each record; then header, eight values and their minipages'
    // places, and a byte of bits to be changed. Records behind the first of a page are looked for among the bits, and those before
    // the last have values and bits moved in eight minipages.
    let (all, but_one) = (5000, 5000 - 41);
    assert_eq!(
        count("pax", Kind::Load),
        41 * 9 + all * (1 + 1 + 8 + 8 + 1) + but_one * (1 + 8 * 2)
    );
    // The log record, the bit, the header's counts; values and bits of eight minipages, unless the record is the page's last.
    assert_eq!(count("pax", Kind::Store), all * 3 + but_one * 8 * 2);
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

/// The columns of a scan share the memory for prefetching: 8 pages for two columns are 4 of each in turn.
#[test]
fn columns_are_prefetched_in_turn() {
    let changes = json!({"layout": "super-column", "records": 20_000, "attribute_bytes": 8, "first_projected": 1, "projected": 2, "prefetch_bytes": 8 * 8192});
    let pages: Vec<u64> = events(changes)
        .iter()
        .filter(|event| event.kind == Kind::PageRead)
        .map(|event| event.address)
        .collect();
    // 8160 / 8 = 1020 values a page, 20 pages a column.
    assert_eq!(
        pages[..16],
        [0, 1, 2, 3, 20, 21, 22, 23, 4, 5, 6, 7, 24, 25, 26, 27]
    );
    assert_eq!(pages.len(), 40);
}

/// Lines that a scan touches, per record, are what the page format says.
#[test]
fn lines_per_record_are_those_of_the_format() {
    for line_bytes in [32, 64, 128] {
        for layout in [
            "nsm",
            "pax",
            "dsm",
            "dsm-position",
            "standard-row",
            "super-row",
            "super-column",
        ] {
            for attribute in 1..=8 {
                // Full pages of every layout: 102, 125, 291, 1003, 127 and 1020 records.
                let changes = json!({"layout": layout, "selectivity": 0.0, "records": match layout {
                    "nsm" | "standard-row" => 102 * 20,
                    "pax" => 125 * 20,
                    "dsm" => 291 * 10,
                    "dsm-position" => 1003 * 3,
                    "super-row" => 127 * 20,
                    _ => 1020 * 4,
                }, "first_predicate": attribute, "first_projected": attribute});
                let mut lines = HashSet::new();
                for event in events(changes.clone()) {
                    if event.kind == Kind::Load {
                        let last = event.address + u64::from(event.size) - 1;
                        lines.extend(event.address / line_bytes..=last / line_bytes);
                    }
                }
                let touched = lines.len() as f64 / changes["records"].as_f64().unwrap();
                let Workload::Table(workload) = table(changes) else {
                    unreachable!("it is a table workload");
                };
                let expected = workload.scan_lines(line_bytes as usize).unwrap().in_all();
                assert!(
                    (touched - expected).abs() < 1e-9,
                    "{layout} a{attribute}: {touched}, {expected}"
                );
            }
        }
    }
}

#[test]
fn mistakes_are_named() {
    let message = |changes: Value| match Library::new().prepare(&table(changes)) {
        Ok(_) => "no mistake".to_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(
        message(json!({"attribute_bytes": 5})),
        "attribute_bytes: 5 bytes; it must be 4 or 8"
    );
    assert_eq!(
        message(json!({"projected": 2})),
        "projected: 2 is out of range; it must be from 1 to 1"
    );
    assert_eq!(
        message(json!({"page_bytes": 5000})),
        "page_bytes: 5000 bytes; it must be a power of two from 16 to 32768"
    );
    assert_eq!(
        message(json!({"page_bytes": 512, "attributes": 64})),
        "page_bytes: 512 bytes, 480 of them usable; the longest record needs 528"
    );
    assert_eq!(
        message(json!({"layout": "super-row", "operation": "point"})),
        "operation: stores for reading are for `scan` only"
    );
    assert_eq!(
        message(
            json!({"layout": "super-row", "abstraction": [10, 10], "level_attributes": [4, 4]})
        ),
        "abstraction: [10, 10]; its product must be the 5000 records"
    );
    assert_eq!(
        message(json!({"layout": "dsm-merge", "operation": "delete"})),
        "reconstruction: places of records follow from their numbers, and a deletion would move all behind it; it must be `index`"
    );
    assert_eq!(
        message(json!({"layout": "super-row", "operation": "delete"})),
        "operation: stores for reading are for `scan` only"
    );
    assert_eq!(
        message(json!({"layout": "pax", "reconstruction": "position"})),
        "reconstruction: `merge` and `position` are for `dsm`, other layouts keep records whole; it must be `index`"
    );
    assert_eq!(
        message(json!({"nulls": 0.5})),
        "nulls: 0.5; every record has all values unless `nullable` names attributes; it must be 0"
    );
    for numbers in [json!([3, 3]), json!([2, 1]), json!([9])] {
        let expected = format!(
            "nullable: {}; it must be ascending numbers of attributes, from 1 to 8",
            numbers.to_string().replace(',', ", ")
        );
        assert_eq!(message(json!({"nullable": numbers})), expected);
    }
    assert_eq!(
        message(json!({"layout": "super-row", "nullable": [1]})),
        "nullable: stores for reading index their values; it must be empty"
    );
    assert_eq!(
        message(json!({"nullable": [1], "nulls": 1.5})),
        "nulls: 1.5 is out of range; it must be from 0 to 1"
    );
    for changes in [
        json!({"index_pages": "stored"}),
        json!({"index_pages": "stored", "layout": "dsm-merge", "operation": "point"}),
    ] {
        assert_eq!(
            message(changes),
            "index_pages: there is an index for point queries of `nsm` and `pax`, and where `dsm` puts records together through it; it must be `in-memory`"
        );
    }
    assert_eq!(
        message(json!({"string_bytes": 8})),
        "string_bytes: 8 bytes; there is no string unless `strings` names attributes; it must be 32"
    );
    assert_eq!(
        message(json!({"strings": [8], "aggregate": false, "updated_string_bytes": 8})),
        "updated_string_bytes: 8 bytes; no string is updated; it must be 32"
    );
    assert_eq!(
        message(json!({"strings": [8]})),
        "aggregate: attribute 8 is a string and has no sum; it must be false"
    );
    assert_eq!(
        message(json!({"strings": [1], "aggregate": false})),
        "strings: attribute 1 has a predicate, which is a range of numbers; it must not be among them"
    );
    assert_eq!(
        message(
            json!({"strings": [8], "operation": "update", "projected": 2, "first_projected": 7})
        ),
        "projected: attribute 7 is a number, others are strings; an update must be of one kind"
    );
    assert_eq!(
        message(json!({"strings": [8], "operation": "update", "layout": "dsm"})),
        "layout: `dsm` keeps its values where they are; an update of strings must be of `nsm` or `pax`"
    );
    assert_eq!(
        message(json!({"layout": "super-row", "strings": [8]})),
        "strings: stores for reading index their values; it must be empty"
    );
    assert!(
        message(json!({"abstraction": [5000], "level_attributes": [8]}))
            .starts_with("abstraction: only `standard-row`")
    );
}

/// Pages are checked with the other parameters, before anything is built.
#[test]
fn pages_without_room_are_refused_by_validation() {
    let message = |changes: Value| match table(changes).validate() {
        Ok(()) => "no mistake".to_owned(),
        Err(error) => error.to_string(),
    };
    for layout in ["nsm", "pax", "dsm", "standard-row"] {
        let with = |page: u32| json!({"layout": layout, "page_bytes": page});
        for page in [1, 3, 5000, 1 << 31] {
            let expected =
                format!("page_bytes: {page} bytes; it must be a power of two from 16 to 32768");
            assert_eq!(message(with(page)), expected, "{layout}");
        }
        let as_large = message(json!({"layout": layout, "page_bytes": 64, "header_bytes": 64}));
        assert!(as_large.starts_with("header_bytes: 64 bytes; it must be from 12 to"));
    }
    let tiny = json!({"attributes": 1, "attribute_bytes": 4, "page_bytes": 32, "header_bytes": 12, "first_projected": 1});
    assert_eq!(message(tiny.clone()), "no mistake");
    let mut indexed = tiny;
    indexed["operation"] = json!("point");
    assert_eq!(
        message(indexed),
        "page_bytes: 32 bytes; an index needs at least 64"
    );
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
