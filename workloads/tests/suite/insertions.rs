//! What an insertion reads and writes in a page, step by step: counted by hand.

use crate::common::stream::Stream;
use serde_json::json;
use traces::{Event, Kind};
use workloads::page::{
    Attribute, Geometry, Nsm, PageFile, PageSites, Pax, PaxOptions, Schema, Type, Value,
};
use workloads::tracer::Tracer;

const GEOMETRY: Geometry = Geometry {
    page_bytes: 256,
    header_bytes: 32,
};

/// Inserts a record: what is loaded and stored, by site and bytes, with the branches; and the events.
fn insert<F: PageFile>(file: &mut F, values: &[Value]) -> (Vec<String>, Vec<Event>) {
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    file.insert(&mut tracer, values);
    tracer.finish().unwrap();
    let names = PageSites::names("", file.schema());
    let step = |event: &Event| {
        let site = &names[usize::from(event.site)];
        match event.kind {
            Kind::Load => format!("load {site} {}", event.size),
            Kind::Store => format!("store {site} {}", event.size),
            Kind::Branch => format!("branch {site} {}", event.address),
            other => format!("{other:?}"),
        }
    };
    (events.iter().map(step).collect(), events)
}

/// Every store at one of these places waits for a load of the record that was read, but for values that were moved in their page.
fn copied(stream: &Stream, stores: &[&str]) {
    for site in stores {
        let stores = stream.at(Kind::Store, site);
        assert!(stores.len() > 100, "{site}: {}", stores.len());
        for (store, load) in stores {
            let load = load.expect("a store of what was loaded");
            if stream.site(load) == *site {
                continue;
            }
            assert_eq!(
                (load.kind, stream.site(load)),
                (Kind::Load, "record that was read"),
                "{site}"
            );
            assert!(load.size <= store.size, "{site}");
        }
    }
}

/// A load has the values of a record from its line, and copies them into its page and into the log.
#[test]
fn a_load_copies_what_it_has_read() {
    for (layout, stores) in [
        ("nsm", &["lineitem whole record", "log record"][..]),
        (
            "pax",
            &[
                "lineitem attribute l_tax",
                "part attribute p_name",
                "log record",
            ],
        ),
        ("dsm", &["lineitem whole record", "log record"]),
        ("dsm-position", &["lineitem attribute l_tax", "log record"]),
    ] {
        let base =
            json!({"kernel": "tpch", "query": "load", "scale_factor": 0.001, "layout": layout});
        let stream = Stream::of(base, &json!({}));
        copied(&stream, stores);
        let parsed = stream.at(Kind::Store, "record that was read");
        assert!(parsed.len() > 100_000, "{layout}: {}", parsed.len());
        for (_, line) in parsed {
            assert_eq!(stream.site(line.expect("a line")), "data file");
        }
    }
}

/// What the event of a number waits for: the number of another one.
fn producer(events: &[Event], number: usize) -> Option<usize> {
    let back = events[number].dep as usize;
    (back > 0).then(|| number - back)
}

fn numbers() -> Schema {
    Schema::new(vec![
        Attribute::new("key", Type::Int32),
        Attribute::new("number", Type::Int64),
    ])
}

/// A new page has its header stored; from then on the header is read, tells that there is room and where the record goes, and is changed.
#[test]
fn a_slotted_page_is_read_before_it_is_changed() {
    let mut file = Nsm::new(numbers(), GEOMETRY, PageSites::from(0)).unwrap();
    let record = [Value::Int(1), Value::Int(2)];
    let stored = [
        "store tag 12",
        "store whole record 12",
        "store slot 4",
        "store page header 8",
    ];
    let (steps, _) = insert(&mut file, &record);
    assert_eq!(steps, [&["store page header 12"][..], &stored].concat());
    let read = ["load page header 8", "branch page header 1"];
    let (steps, events) = insert(&mut file, &record);
    assert_eq!(steps, [&read[..], &stored].concat());
    assert!((1..6).all(|number| producer(&events, number) == Some(0)));
    // Eight records of 24 + 4 bytes fill the 224. The ninth finds no room, and goes to a new page.
    (2..8).for_each(|_| drop(insert(&mut file, &record)));
    let (steps, _) = insert(&mut file, &record);
    let full = [
        "load page header 8",
        "branch page header 0",
        "store page header 12",
    ];
    assert_eq!(steps, [&full[..], &stored].concat());
}

/// The same of minipages: a new page has their entries stored, and their bits cleared.
#[test]
fn a_pax_page_is_read_before_it_is_changed() {
    let mut file = Pax::new(
        numbers(),
        GEOMETRY,
        PaxOptions::default(),
        PageSites::from(0),
    )
    .unwrap();
    let record = [Value::Int(1), Value::Int(2)];
    // 216 bytes for 17 records of 12 bytes, whose bits take 4 bytes twice.
    let new = [
        "store page header 12",
        "store page header 8",
        "store presence bits 4",
        "store presence bits 4",
    ];
    let inserted = [
        "load page header 6",
        "branch page header 1",
        "load page header 4",
        "store attribute key 4",
        "load presence bits 1",
        "store presence bits 1",
        "load page header 4",
        "store attribute number 8",
        "load presence bits 1",
        "store presence bits 1",
        "store page header 4",
    ];
    let (steps, _) = insert(&mut file, &record);
    assert_eq!(steps, [&new[..], &inserted].concat());
    let (steps, events) = insert(&mut file, &record);
    assert_eq!(steps, inserted);
    // The branch and the numbers of slots wait for the header, values for their entries.
    let waits = [(1, 0), (3, 2), (5, 4), (7, 6), (9, 8), (10, 0)];
    for (number, wanted) in waits {
        assert_eq!(producer(&events, number), Some(wanted), "{}", steps[number]);
    }
}

/// Whether a string has room, the minipage's entry and its last end tell.
#[test]
fn room_for_a_string_is_read() {
    let schema = Schema::new(vec![Attribute::new("text", Type::Variable(20))]);
    let mut file = Pax::new(schema, GEOMETRY, PaxOptions::default(), PageSites::from(0)).unwrap();
    let stored = [
        "branch page header 1",
        "load page header 4",
        "store attribute text 10",
        "store end offset 4",
        "store page header 4",
    ];
    let (steps, _) = insert(&mut file, &[Value::Bytes(b"0123456789")]);
    let new = [
        "store page header 12",
        "store page header 4",
        "load page header 6",
    ];
    assert_eq!(steps, [&new[..], &stored].concat());
    let (steps, events) = insert(&mut file, &[Value::Bytes(b"0123456789")]);
    let read = [
        "load page header 6",
        "load page header 4",
        "load end offset 4",
    ];
    // The value begins where the one before ends.
    let mut stored = stored.to_vec();
    stored.insert(2, "load end offset 4");
    assert_eq!(steps, [&read[..], &stored].concat());
    assert_eq!(producer(&events, 2), Some(1));
    assert_eq!(producer(&events, 6), Some(5));
}

/// A string that is changed lies where its end and the one before say; boundaries that move up do so from the top down.
#[test]
fn minipages_that_move_up_move_from_the_top_down() {
    let strings = ["a", "b", "c"].map(|name| Attribute::new(name, Type::Variable(60)));
    let schema = Schema::new(strings.to_vec());
    let mut file = Pax::new(schema, GEOMETRY, PaxOptions::default(), PageSites::from(0)).unwrap();
    let text = [b'x'; 60];
    let record = |first: usize| [first, 4, 4].map(|bytes| Value::Bytes(&text[..bytes]));
    insert(&mut file, &record(4));
    // The first minipage is full, so that its boundaries move, and those of the others.
    let (_, events) = insert(&mut file, &record(60));
    let moves: Vec<(u64, u64)> = events
        .windows(2)
        .filter(|pair| {
            let [load, store] = pair else { unreachable!() };
            load.kind == Kind::Load
                && (store.kind, store.site, store.size) == (Kind::Store, load.site, load.size)
                && store.address > load.address
        })
        .map(|pair| (pair[0].address, pair[1].address))
        .collect();
    // Values of two strings, and ends of three; the first one's values stay.
    assert_eq!(moves.len(), 5, "{moves:?}");
    assert!(moves.windows(2).all(|two| two[0].0 > two[1].0), "{moves:?}");
}
