//! What operations do, event by event, and the pages and lines that they do it to.

use super::*;
use traces::{EventSink, SinkError};

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
    // Header and the place of a minipage, the predicate's value; then header, place of the minipage, ends and string, and place and ends again.
    assert_eq!(count("pax", Kind::Load), 39 * 2 + 5000 * (1 + 4 + 2));
    assert_eq!(count("pax", Kind::Store), 5000 * 2);
}

/// As [`an_update_of_strings_is_its_steps`], through the index of the strings' attribute.
#[test]
fn an_update_of_decomposed_strings_is_its_steps() {
    let update = json!({"operation": "update", "layout": "dsm", "selectivity": 1.0, "strings": [8], "string_bytes": 1, "updated_string_bytes": 1});
    let prepared = Library::new().prepare(&table(update.clone())).unwrap();
    let sites = &prepared.layout().sites;
    let events = events(update);
    let count = |kind: Kind| events.iter().filter(|event| event.kind == kind).count();
    // Keys: 18 pages. Strings: 12 + 4 + 2 + 1 bytes, rounded to 20, and a slot: 340 of them in 8160 bytes.
    let (keys, strings) = (18, 15);
    assert_eq!(count(Kind::PageRead), keys + strings);
    assert_eq!(count(Kind::PageWrite), strings);
    // Next and two values; lock, two levels of the index and a page, change, log record.
    assert_eq!(count(Kind::Call), keys + 5000 * (3 + 1 + 3 + 2));
    // An entry of the list, the record that is rewritten, and its log record: the index stays as it is.
    assert_eq!(count(Kind::Store), 5000 * 3);
    let of_pages = |event: &&Event| {
        event.kind == Kind::Load && !sites[usize::from(event.site)].starts_with("index: ")
    };
    // Header, and for each key slot, number and value, and the list's entry; then header, slot, ends and string, and the record.
    let loads = events.iter().filter(of_pages).count();
    assert_eq!(loads, keys + 5000 * (3 + 1 + 4 + 1));
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
    // A point query locks file, page and record, fixes a page of each column for a value, and returns the record.
    let point = json!({"layout": "dsm-position", "operation": "point", "projected": 3, "first_projected": 2});
    assert_eq!(count(point, Kind::Call), 500 * (3 + 2 * 3 + 1));
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

/// What a run asks for, as it is seen: events of a deletion are too many to keep.
struct Seen {
    /// By site: whether it looks into a node that comes from storage.
    of_stored_index: Vec<bool>,
    /// Pages of files come before those of nodes.
    files: u64,
    /// Pages that are read and written.
    of_files: [usize; 2],
    of_nodes: [usize; 2],
    loads: usize,
    /// Frames into which a page has come: where each begins and ends.
    there: BTreeMap<u64, u64>,
}

impl Seen {
    fn of(changes: Value, files: u64) -> Self {
        let is_stored = changes["index_pages"] == "stored";
        let prepared = Library::new().prepare(&table(changes)).unwrap();
        let sites = prepared.layout().sites.iter();
        let mut seen = Self {
            of_stored_index: sites
                .map(|site| is_stored && site.starts_with("index: "))
                .collect(),
            files,
            of_files: [0; 2],
            of_nodes: [0; 2],
            loads: 0,
            there: BTreeMap::new(),
        };
        prepared.run(&mut seen).unwrap();
        seen
    }

    fn see(&mut self, event: &Event) {
        match event.kind {
            Kind::PageRead | Kind::PageWrite => {
                let pages = if event.address < self.files {
                    &mut self.of_files
                } else {
                    &mut self.of_nodes
                };
                pages[usize::from(event.kind == Kind::PageWrite)] += 1;
            }
            Kind::PageArrival => {
                let end = event.address + u64::from(event.size);
                self.there.insert(event.address, end);
            }
            Kind::Load => {
                self.loads += 1;
                if self.of_stored_index[usize::from(event.site)] {
                    let before = self.there.range(..=event.address).next_back();
                    let has_come = before.is_some_and(|(_, end)| event.address < *end);
                    assert!(has_come, "{event:?}");
                }
            }
            _ => {}
        }
    }
}

impl EventSink for Seen {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        events.iter().for_each(|event| self.see(event));
        Ok(())
    }
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
        let stored = changed(changes.clone(), &json!({"index_pages": "stored"}));
        let (plain, stored) = (Seen::of(changes, files), Seen::of(stored, files));
        assert_eq!((plain.of_nodes, plain.loads), ([0, 0], stored.loads));
        assert_eq!(plain.of_files, stored.of_files);
        let [found, written] = stored.of_nodes;
        if let Some(reads) = reads {
            assert_eq!(found, reads);
        } else {
            // Of five leaves, three are not there: the root stays, and two that were used last.
            assert!((250..350).contains(&found), "{found}");
        }
        assert_eq!(written, writes);
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
