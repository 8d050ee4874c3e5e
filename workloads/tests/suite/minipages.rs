//! Minipages that are full, and borrow from one beside them: which bytes move.

use serde_json::json;
use traces::{Event, Kind};
use workloads::page::{
    Attribute, FullMinipage, Geometry, PageFile, PageSites, Pax, PaxOptions, RecordId, Schema,
    Type, Value,
};
use workloads::tracer::{Dep, Tracer, Untraced};
use workloads::{Library, Workload};

const GEOMETRY: Geometry = Geometry {
    page_bytes: 256,
    header_bytes: 32,
};
const STRING: Type = Type::Variable(60);

fn file(attributes: Vec<Attribute>, full_minipage: FullMinipage) -> Pax {
    let options = PaxOptions {
        deletions: true,
        full_minipage,
        ..PaxOptions::default()
    };
    Pax::new(
        Schema::new(attributes),
        GEOMETRY,
        options,
        PageSites::from(0),
    )
    .unwrap()
}

fn text(bytes: usize) -> Value<'static> {
    const TEXT: [u8; 60] = [b'x'; 60];
    Value::Bytes(&TEXT[..bytes])
}

/// Gives a record of page 0 another value, if the page has room: whether it has, and bytes loaded and stored by site, `moved` if both.
fn update(file: &mut Pax, slot: u32, attribute: usize, value: Value) -> (bool, Vec<String>) {
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    let page = file.open(&mut Untraced, 0, Dep::NONE);
    let record = file.record(&mut Untraced, page, slot).unwrap();
    let there = file.update_in_page(&mut tracer, page, record, attribute, value);
    tracer.finish().unwrap();
    let names = PageSites::names("", file.schema());
    let mut steps: Vec<String> = Vec::new();
    for event in &events {
        let what = format!("{} {}", names[usize::from(event.site)], event.size);
        match event.kind {
            Kind::Load => steps.push(format!("load {what}")),
            Kind::Store if steps.last() == Some(&format!("load {what}")) => {
                *steps.last_mut().unwrap() = format!("moved {what}");
            }
            Kind::Store => steps.push(format!("store {what}")),
            _ => {}
        }
    }
    (there, steps)
}

fn values(file: &Pax) -> Vec<Vec<Option<usize>>> {
    let value = |value: Value| match value {
        Value::Null => None,
        Value::Bytes(bytes) => Some(bytes.len()),
        _ => Some(value.int() as usize),
    };
    let record = |slot| {
        let id = RecordId { page: 0, slot };
        let found = file.fetch(&mut Untraced, id, Dep::NONE).unwrap();
        found.into_iter().map(value).collect()
    };
    (0..file.records() as u32).map(record).collect()
}

/// Three records with strings of 10 and 10 bytes. Minipages for seven such records have 7 x (10 + 4) = 98 bytes each.
fn two_strings(full_minipage: FullMinipage) -> Pax {
    let strings = ["front", "back"].map(|name| Attribute::new(name, STRING));
    let mut file = file(strings.to_vec(), full_minipage);
    for _ in 0..3 {
        file.insert(&mut Untraced, &[text(10), text(10)]);
    }
    file
}

const FRONT: usize = 0;
const BACK: usize = 1;
/// Who reads how full a minipage is reads its entry and the last end.
const FULL: [&str; 2] = ["load page header 4", "load end offset 4"];
/// An update reads the minipage's entry, where the value ends, and the last end, as the value grows.
const FIRST: [&str; 3] = [
    "load page header 4",
    "load end offset 4",
    "load end offset 4",
];
/// The same of a value that has another one before it.
const SECOND: [&str; 3] = [
    "load page header 4",
    "load end offset 8",
    "load end offset 4",
];

/// The boundary between two minipages moves either way: the values behind it, and the ends before it.
#[test]
fn a_boundary_moves_towards_who_lends() {
    let mut file = two_strings(FullMinipage::Borrow);
    let (there, steps) = update(&mut file, 0, FRONT, text(60));
    // 80 bytes and three ends: 6 are left of 98.
    assert!(there && !steps.iter().any(|step| step.contains("back")));
    // Of the ten more, 4 are missing; the minipage behind has 56 to spare.
    let (there, steps) = update(&mut file, 1, FRONT, text(20));
    let borrowed = [
        "store page header 8",
        "moved attribute back 30",
        "moved end offset 12",
    ];
    // One value behind the record's own, and two ends.
    let replaced = [
        "load page header 4",
        "load end offset 8",
        "moved attribute front 10",
        "moved end offset 8",
        "store attribute front 20",
    ];
    assert!(there);
    assert_eq!(steps, [&SECOND[..], &FULL, &borrowed, &replaced].concat());
    // It got 4 and half of the 52 left, so each has 26 to spare. Of 30 more, 4 are missing once more, and nothing is behind the last one.
    let (there, steps) = update(&mut file, 0, BACK, text(40));
    let borrowed = [
        "store page header 8",
        "moved end offset 12",
        "moved attribute back 30",
    ];
    let replaced = [
        "load page header 4",
        "load end offset 4",
        "moved attribute back 20",
        "moved end offset 12",
        "store attribute back 40",
    ];
    assert!(there);
    assert_eq!(steps, [&FIRST[..], &FULL, &borrowed, &replaced].concat());
    let expected = [[60, 40], [20, 10], [10, 10]];
    assert_eq!(
        values(&file),
        expected.map(|record| record.map(Some).to_vec())
    );
}

/// If no neighbor has room, all boundaries are set anew; if the page has none, the record has to move, and the page stays as it is.
#[test]
fn a_neighbor_without_room_lends_nothing() {
    let string = |name| Attribute::new(name, STRING);
    let number = Attribute::new("number", Type::Int64);
    for full_minipage in [FullMinipage::Borrow, FullMinipage::Reorganize] {
        let between = vec![string("front"), number.clone(), string("back")];
        let mut file = file(between, full_minipage);
        for number in 0..3 {
            file.insert(&mut Untraced, &[text(10), Value::Int(number), text(10)]);
        }
        // Five records of 10 + 4, 8 and 10 + 4 bytes: 70 for each string, of which 28 are to spare. Numbers lend nothing.
        let (there, steps) = update(&mut file, 0, FRONT, text(40));
        let all = ["load page header 12", "load end offset 4"];
        assert!(there);
        assert_eq!(steps[..5], [&FIRST[..], &all].concat());
        // The first string's values stay where they are. What is behind moves up, the last first.
        let moved = [
            "moved end offset 12",
            "moved attribute back 30",
            "moved presence bits 2",
            "moved attribute number 24",
            "moved end offset 12",
            "store page header 12",
        ];
        assert_eq!(steps[5..11], moved);
        let (there, _) = update(&mut file, 1, FRONT, text(60));
        assert!(there);
        // 110, 24 and 30 bytes of values, three ends twice, and 4 of bits: of 212 bytes, 20 are left.
        let before = file.frames().page(0).to_vec();
        let (there, steps) = update(&mut file, 2, FRONT, text(31));
        assert!(!there);
        assert_eq!(steps, [&SECOND[..], &all].concat());
        assert_eq!(file.frames().page(0), before);
        let (there, _) = update(&mut file, 2, FRONT, text(30));
        assert!(there);
    }
}

/// Nulls that become values need room, too, and minipages of values that may be missing lend what they have.
#[test]
fn minipages_without_nulls_lend_and_borrow() {
    let number = Attribute::new("number", Type::Int64).nullable();
    let string = Attribute::new("string", STRING);
    let mut file = file(vec![number, string], FullMinipage::Borrow);
    // The page begins with a record without a number: all space is the strings'.
    for bytes in [10, 20, 30] {
        file.insert(&mut Untraced, &[Value::Null, text(bytes)]);
    }
    let (there, steps) = update(&mut file, 1, 0, Value::Int(7));
    assert!(there, "{steps:?}");
    // 60 bytes of strings are behind the boundary, and bits of three records before it.
    let borrowed = ["moved attribute string 60", "moved presence bits 2"];
    let at = steps.iter().position(|step| step == borrowed[0]);
    assert_eq!(steps[at.unwrap()..][..2], borrowed);
    // Half of what is to spare is the numbers' now, and the strings want it back.
    for slot in 0..2 {
        let (there, steps) = update(&mut file, slot, 1, text(60));
        assert!(there, "{steps:?}");
    }
    let expected = [[None, Some(60)], [Some(7), Some(60)], [None, Some(30)]];
    assert_eq!(values(&file), expected.map(|record| record.to_vec()));
}

/// The kernel: the same records leave their page, and fewer bytes are moved in pages.
#[test]
fn borrowing_moves_fewer_bytes() {
    let updated = |full_minipage: &str| {
        let workload = json!({"kernel": "table", "layout": "pax", "operation": "update", "records": 5000, "selectivity": 0.5,
            "projected": 3, "first_projected": 6, "strings": [6, 7, 8], "string_bytes": 20, "updated_string_bytes": 40,
            "full_minipage": full_minipage});
        let workload: Workload = serde_json::from_value(workload).unwrap();
        let prepared = Library::new().prepare(&workload).unwrap();
        let mut events: Vec<Event> = Vec::new();
        let metrics = prepared.run(&mut events).unwrap().metrics;
        let stores = events.iter().filter(|event| event.kind == Kind::Store);
        let bytes: u64 = stores.map(|event| u64::from(event.size)).sum();
        (metrics, bytes)
    };
    let (reorganized, borrowed) = (updated("reorganize"), updated("borrow"));
    assert_eq!(reorganized.0, borrowed.0);
    assert!(reorganized.0["moved_records"] > 100);
    assert!(borrowed.1 < reorganized.1, "{reorganized:?} {borrowed:?}");
}
