//! Updates of strings: what moves in a page, what leaves it, and that every record is changed once.

use proptest::prelude::*;
use traces::{Counter, Event, Kind};
use workloads::page::{
    Attribute, DsmLoader, Geometry, Loaded, Nsm, PageFile, PageSites, Pax, PaxOptions, RecordId,
    Schema, Type, Value,
};
use workloads::query::{
    Assigned, ChangedDsm, IndexNodes, LogBuffer, Predicate, Scan, ScanOrder, Stored, StoredDsm,
    assign,
};
use workloads::tracer::{Tracer, Untraced};

const GEOMETRY: Geometry = Geometry {
    page_bytes: 256,
    header_bytes: 32,
};
const LONGEST: u16 = 40;

/// A number of its own, a key, and a string that may be missing.
type Tuple = (i64, i64, Option<String>);

fn schema(nullable: bool) -> Schema {
    let string = Attribute::new("string", Type::Variable(LONGEST));
    Schema::new(vec![
        Attribute::new("number", Type::Int32),
        Attribute::new("key", Type::Int64),
        if nullable { string.nullable() } else { string },
    ])
}

fn nsm(schema: Schema) -> Nsm {
    Nsm::new(schema, GEOMETRY, PageSites::from(0)).unwrap()
}

fn pax(schema: Schema) -> Pax {
    let options = PaxOptions {
        deletions: true,
        ..PaxOptions::default()
    };
    Pax::new(schema, GEOMETRY, options, PageSites::from(0)).unwrap()
}

fn values((number, key, string): &Tuple) -> [Value<'_>; 3] {
    let string = string.as_ref().map(String::as_bytes);
    [
        Value::Int(*number),
        Value::Int(*key),
        string.map_or(Value::Null, Value::Bytes),
    ]
}

fn fill<F: PageFile>(file: &mut F, tuples: &[Tuple]) {
    for tuple in tuples {
        file.insert(&mut Untraced, &values(tuple));
    }
}

fn tuple(row: &[Loaded<Value>]) -> Tuple {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let string = row[2].value;
    let string = string.is_present().then(|| text(string.bytes()));
    (row[0].value.int(), row[1].value.int(), string)
}

/// What an update of the strings finds, and all tuples after it, by their numbers.
fn updated<F: ScanOrder>(
    mut file: F,
    tuples: &[Tuple],
    predicates: &[Predicate],
    strings: &[String],
) -> (Assigned, Vec<Tuple>) {
    fill(&mut file, tuples);
    let mut next = strings.iter().map(String::as_bytes);
    let mut counter = Counter::default();
    let mut tracer = Tracer::new(&mut counter);
    let log = &mut LogBuffer::new(0);
    let next = || next.next().expect("a string for each record");
    let found = assign(&mut file, 0, &mut tracer, predicates, &[2], next, log);
    tracer.finish().unwrap();
    let stored = Stored {
        file: &file,
        first_page: 0,
    };
    (found, sorted(stored))
}

/// As [`updated`], of a decomposed relation.
fn updated_decomposed(
    nullable: bool,
    tuples: &[Tuple],
    predicates: &[Predicate],
    strings: &[String],
) -> (Assigned, Vec<Tuple>) {
    let mut loader = DsmLoader::new(schema(nullable), GEOMETRY, 0).unwrap();
    for tuple in tuples {
        loader.add(&mut Untraced, &values(tuple));
    }
    let mut relation = loader.finish(0);
    let index_nodes = IndexNodes::default();
    let mut next = strings.iter().map(String::as_bytes);
    let changed = ChangedDsm {
        relation: &mut relation,
        first_page: 0,
        list: 0,
        index_nodes,
    };
    let log = &mut LogBuffer::new(0);
    let next = || next.next().expect("a string for each record");
    let found = changed.assign(&mut Untraced, predicates, &[2], next, log);
    let stored = StoredDsm {
        relation: &relation,
        first_page: 0,
        list: 0,
        index_nodes,
    };
    (found, sorted(stored))
}

/// All tuples, by their numbers.
fn sorted<'f>(relation: impl Scan<'f>) -> Vec<Tuple> {
    let mut all = Vec::new();
    relation.scan(&mut Untraced, &[], &[0, 1, 2], |_, row| {
        all.push(tuple(row));
    });
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// The records that pass get the strings in their order, each one of them; others stay as they are.
    #[test]
    fn an_update_of_strings_is_a_loop(
        lines in prop::collection::vec((-5..5_i64, prop::option::weighted(0.8, "[a-c]{0,40}")), 0..120),
        strings in prop::collection::vec("[d-f]{0,40}", 120),
        (low, nullable) in (-5..5_i64, any::<bool>()),
    ) {
        let tuple = |(number, (key, string)): (usize, &(i64, Option<String>))| {
            let string = if nullable { string.clone() } else { Some(string.clone().unwrap_or_default()) };
            (number as i64, *key, string)
        };
        let tuples: Vec<Tuple> = lines.iter().enumerate().map(tuple).collect();
        let predicates = [Predicate::within(1, low, 9)];
        let mut expected = tuples.clone();
        let selected = expected.iter_mut().filter(|tuple| tuple.1 >= low);
        let mut count = 0;
        for (tuple, string) in selected.zip(&strings) {
            tuple.2 = Some(string.clone());
            count += 1;
        }
        for (found, all) in [
            updated(nsm(schema(nullable)), &tuples, &predicates, &strings),
            updated(pax(schema(nullable)), &tuples, &predicates, &strings),
            updated_decomposed(nullable, &tuples, &predicates, &strings),
        ] {
            prop_assert_eq!(found.records, count);
            prop_assert!(found.moved <= count);
            prop_assert_eq!(&all, &expected);
        }
    }
}

/// Kind, site and bytes of each load and store of changing the string of one of three records.
fn events<F: PageFile>(mut file: F, slot: u32, string: &[u8]) -> Vec<(Kind, String, u16)> {
    let tuples = [5, 7, 9].map(|bytes| (bytes, 0, Some("x".repeat(bytes as usize))));
    fill(&mut file, &tuples);
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    let id = RecordId { page: 0, slot };
    let same = file.update(&mut tracer, id, 2, Value::Bytes(string));
    assert_eq!(same, id);
    tracer.finish().unwrap();
    let names = PageSites::names("", file.schema());
    events
        .iter()
        .filter(|event| [Kind::Load, Kind::Store].contains(&event.kind))
        .map(|event| {
            let site = names[usize::from(event.site)].clone();
            (event.kind, site, event.size)
        })
        .collect()
}

fn expect(found: &[(Kind, String, u16)], expected: &[(Kind, &str, u16)]) {
    let found: Vec<_> = found
        .iter()
        .map(|(kind, site, bytes)| (*kind, site.as_str(), *bytes))
        .collect();
    assert_eq!(found, expected);
}

/// Records of 12 + 4 + 8 + 2 bytes and 5, 7 and 9 of string: 32, 36 and 36. One that grows is written behind the others, one that
/// does not is rewritten.
#[test]
fn a_slotted_record_that_grows_moves_behind_the_others() {
    let (load, store) = (Kind::Load, Kind::Store);
    let found = [
        (load, "page header", 2),
        (load, "slot", 4),
        (load, "whole record", 32),
    ];
    let rewritten = events(nsm(schema(false)), 0, b"abcdef");
    let expected = [&found[..], &[(store, "whole record", 32)]].concat();
    expect(&rewritten, &expected);
    // Fields of the header; then a tag, the rest of 40 bytes, the slot and the header.
    let grown = events(nsm(schema(false)), 0, b"abcdefghijklm");
    let expected = [
        &found[..],
        &[
            (load, "page header", 8),
            (store, "tag", 12),
            (store, "whole record", 28),
            (store, "slot", 4),
            (store, "page header", 8),
        ],
    ]
    .concat();
    expect(&grown, &expected);
}

/// A string that grows or shrinks moves those behind it in its minipage, 7 and 9 bytes, and the three ends.
#[test]
fn a_string_moves_strings_of_its_minipage_only() {
    let (load, store) = (Kind::Load, Kind::Store);
    let found = [(load, "page header", 4), (load, "page header", 4)];
    let [first, behind] = [4, 8].map(|bytes| [(load, "end offset", bytes)]);
    let moved = [
        (load, "attribute string", 16),
        (store, "attribute string", 16),
        (load, "end offset", 12),
        (store, "end offset", 12),
    ];
    let shrunk = events(pax(schema(false)), 0, b"ab");
    expect(
        &shrunk,
        &[
            &found[..],
            &first,
            &moved,
            &[(store, "attribute string", 2)],
        ]
        .concat(),
    );
    // The last end says whether there is room; the minipage's place is looked up again, and where the string ends.
    let grown = events(pax(schema(false)), 0, b"abcdef");
    let room = [(load, "end offset", 4), (load, "page header", 4)];
    let expected = [
        &found[..],
        &first,
        &room,
        &first,
        &moved,
        &[(store, "attribute string", 6)],
    ]
    .concat();
    expect(&grown, &expected);
    // Nothing lies behind the last one: its end is all that moves.
    let last = events(pax(schema(false)), 2, b"abcdefghij");
    let expected = [
        &found[..],
        &behind,
        &room,
        &behind,
        &[
            (load, "end offset", 4),
            (store, "end offset", 4),
            (store, "attribute string", 10),
        ],
    ]
    .concat();
    expect(&last, &expected);
}
