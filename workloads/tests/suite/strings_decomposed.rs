//! Updates of strings in a decomposed relation: a value that outgrows its page moves within its attribute's file, and the index leads to it.

use proptest::prelude::*;
use traces::{Counter, Event, Kind};
use workloads::page::{
    Attribute, Dsm, DsmLoader, Geometry, PageFile, RecordId, Schema, Type, Value, dsm,
};
use workloads::query::{
    Assigned, Call, ChangedDsm, IndexNodes, IndexPages, LogBuffer, Predicate, Scan, Site, StoredDsm,
};
use workloads::tracer::{Dep, Tracer, Untraced};

const GEOMETRY: Geometry = Geometry {
    page_bytes: 256,
    header_bytes: 32,
};
const LONGEST: u16 = 60;
/// Places of the attributes.
const KEY: usize = 0;
const STRING: usize = 1;

/// A key, and a string that may be missing.
type Tuple = (i64, Option<String>);

fn schema(nullable: bool) -> Schema {
    let string = Attribute::new("string", Type::Variable(LONGEST));
    Schema::new(vec![
        Attribute::new("key", Type::Int64),
        if nullable { string.nullable() } else { string },
    ])
}

fn decomposed(tuples: &[Tuple], nullable: bool) -> Dsm {
    let sites = Site::NAMES.len() as u16;
    let mut loader = DsmLoader::new(schema(nullable), GEOMETRY, sites).unwrap();
    for (key, string) in tuples {
        let string = string.as_ref().map(String::as_bytes);
        let values = [Value::Int(*key), string.map_or(Value::Null, Value::Bytes)];
        loader.add(&mut Untraced, &values);
    }
    loader.finish(0)
}

fn tuple(values: &[Value]) -> Tuple {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let string = values[STRING];
    let string = string.is_present().then(|| text(string.bytes()));
    (values[KEY].int(), string)
}

/// Indexes in storage, with so many frames for each.
fn stored(frames: u32) -> IndexNodes {
    IndexNodes {
        pages: IndexPages::Stored,
        frames,
    }
}

fn to_be_changed(relation: &mut Dsm, index_nodes: IndexNodes) -> ChangedDsm<'_> {
    ChangedDsm {
        relation,
        first_page: 0,
        list: 0,
        index_nodes,
    }
}

/// What a scan finds, in the order of the records.
fn scanned(relation: &Dsm, predicates: &[Predicate]) -> Vec<Tuple> {
    let stored = StoredDsm {
        relation,
        first_page: 0,
        list: 0,
        index_nodes: IndexNodes::default(),
    };
    let mut found = Vec::new();
    stored.scan(&mut Untraced, predicates, &[KEY, STRING], |_, row| {
        found.push(tuple(&[row[KEY].value, row[STRING].value]));
    });
    found
}

/// Where the index has the string of a record: there is the record's number.
fn place(relation: &Dsm, number: u32) -> RecordId {
    let (id, _) = relation
        .record_index(STRING)
        .find(&mut Untraced, number)
        .unwrap();
    let values = relation.file(STRING).fetch(&mut Untraced, id, Dep::NONE);
    assert_eq!(values.unwrap()[dsm::NUMBER].int(), i64::from(number));
    id
}

/// A change of the records whose keys are at least this.
#[derive(Clone, Debug)]
enum Step {
    Assign(i64, Vec<String>),
    Delete(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (-5..5_i64, prop::collection::vec("[d-f]{0,60}", 120)).prop_map(|(low, strings)| Step::Assign(low, strings)),
        1 => (3..6_i64).prop_map(Step::Delete),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Updates in a row, with deletions between them: a list of records, in the order of their numbers.
    #[test]
    fn updates_of_decomposed_strings_are_loops(
        lines in prop::collection::vec((-5..5_i64, prop::option::weighted(0.8, "[a-c]{0,40}")), 0..120),
        steps in prop::collection::vec(step(), 1..4),
        nullable in any::<bool>(),
        frames in prop::option::of(prop::sample::select(vec![0, 2, 3, 100])),
    ) {
        let index_nodes = frames.map_or(IndexNodes::default(), stored);
        let given = |(key, string): &Tuple| (*key, if nullable { string.clone() } else { Some(string.clone().unwrap_or_default()) });
        let tuples: Vec<Tuple> = lines.iter().map(given).collect();
        let mut relation = decomposed(&tuples, nullable);
        let mut expected: Vec<(u32, Tuple)> = (0..).zip(tuples).collect();
        let log = &mut LogBuffer::new(0);
        for step in &steps {
            let mut counter = Counter::default();
            let mut tracer = Tracer::new(&mut counter);
            let changed = to_be_changed(&mut relation, index_nodes);
            let (found, count) = match step {
                Step::Assign(low, strings) => {
                    let mut next = strings.iter().map(String::as_bytes);
                    let next = || next.next().expect("a string for each record");
                    let predicates = [Predicate::within(KEY, *low, 9)];
                    let Assigned { records, moved } = changed.assign(&mut tracer, &predicates, &[STRING], next, log);
                    prop_assert!(moved <= records);
                    let selected = expected.iter_mut().filter(|(_, tuple)| tuple.0 >= *low);
                    let assigned = selected.zip(strings).map(|((_, tuple), string)| tuple.1 = Some(string.clone()));
                    (records, assigned.count())
                }
                Step::Delete(low) => {
                    let predicates = [Predicate::within(KEY, *low, 9)];
                    let before = expected.len();
                    expected.retain(|(_, tuple)| tuple.0 < *low);
                    (changed.delete(&mut tracer, &predicates, log), before - expected.len())
                }
            };
            tracer.finish().unwrap();
            prop_assert_eq!(found, count as u64);
            let all: Vec<Tuple> = expected.iter().map(|(_, tuple)| tuple.clone()).collect();
            prop_assert_eq!(&scanned(&relation, &[]), &all);
            let zero = [Predicate::within(KEY, 0, 0)];
            let some: Vec<Tuple> = all.into_iter().filter(|tuple| tuple.0 == 0).collect();
            prop_assert_eq!(&scanned(&relation, &zero), &some);
            for (number, expected) in &expected {
                let found = relation.fetch(&mut Untraced, *number).expect("the record is there");
                prop_assert_eq!(&tuple(&found), expected);
                place(&relation, *number);
            }
            prop_assert_eq!(relation.file(STRING).records(), expected.len() as u64);
        }
    }
}

/// Twelve records whose strings have 22 bytes; `selected` of them, from the first on, have the key 7 and get strings of so many bytes.
///
/// A key takes 12 + 4 + 8 bytes and a slot, so pages 0 and 1 in storage have the keys. A string takes 12 + 4 + 2 + 22 bytes and a slot, 44
/// of 224: pages 2, 3 and 4 have five, five and two of them.
fn grown(selected: usize, bytes: usize, index_nodes: IndexNodes) -> (Dsm, Assigned, Vec<Event>) {
    let tuple = |number: usize| (if number < selected { 7 } else { 0 }, Some("x".repeat(22)));
    let tuples: Vec<Tuple> = (0..12).map(tuple).collect();
    let mut relation = decomposed(&tuples, false);
    let pages = [KEY, STRING].map(|attribute| relation.file(attribute).pages());
    assert_eq!(pages, [2, 3]);
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    let string = "y".repeat(bytes);
    let changed = to_be_changed(&mut relation, index_nodes);
    let (predicates, log) = ([Predicate::within(KEY, 7, 7)], &mut LogBuffer::new(0));
    let next = || string.as_bytes();
    let assigned = changed.assign(&mut tracer, &predicates, &[STRING], next, log);
    tracer.finish().unwrap();
    let found = scanned(&relation, &predicates);
    assert_eq!(found, vec![(7, Some(string)); selected]);
    (relation, assigned, events)
}

/// Pages in storage that were read, and that were written.
fn pages(events: &[Event]) -> (Vec<u64>, Vec<u64>) {
    let of = |kind| {
        let pages = events.iter().filter(|event| event.kind == kind);
        pages.map(|event| event.address).collect()
    };
    (of(Kind::PageRead), of(Kind::PageWrite))
}

/// In place if it has the bytes, behind the others if the page has them, else on another page of the file, at last on a new one.
#[test]
fn a_value_stays_in_its_file() {
    let id = |page, slot| RecordId { page, slot };
    let in_memory = IndexNodes::default();
    for (bytes, where_to, moved, reads, writes) in [
        // 40 bytes are enough.
        (5, id(0, 0), 0, vec![0, 1, 2], vec![2]),
        (22, id(0, 0), 0, vec![0, 1, 2], vec![2]),
        // 44 are what it has with the four bytes that were free.
        (26, id(0, 0), 0, vec![0, 1, 2], vec![2]),
        // The third page of the file has room for 48.
        (27, id(2, 2), 1, vec![0, 1, 2, 4], vec![2, 4]),
    ] {
        let (relation, assigned, events) = grown(1, bytes, in_memory);
        assert_eq!(place(&relation, 0), where_to, "{bytes}");
        assert_eq!(assigned, Assigned { records: 1, moved });
        assert_eq!(pages(&events), (reads, writes), "{bytes}");
    }
    // Of 80 bytes each, the first string goes to the last page, the second has the bytes that the first one left, and the third needs a
    // new page, which is not read.
    for (index_nodes, reads, writes) in [
        (in_memory, vec![0, 1, 2, 4], vec![4, 2, 5]),
        // Both indexes have a page, 5 and 6, and the new page comes behind them.
        (stored(0), vec![0, 1, 6, 2, 4], vec![4, 2, 6, 7]),
    ] {
        let (relation, assigned, events) = grown(3, 60, index_nodes);
        let places = [0, 1, 2, 3].map(|number| place(&relation, number));
        assert_eq!(places, [id(2, 2), id(0, 1), id(3, 0), id(0, 3)]);
        assert_eq!((assigned.records, assigned.moved), (3, 2));
        assert_eq!(pages(&events), (reads, writes));
    }
}

/// What happens to a value that moves, event by event, but for loads in the index.
#[test]
fn a_value_that_moves_takes_its_entry_along() {
    let (_, _, events) = grown(1, 40, IndexNodes::default());
    let mut names: Vec<String> = Site::NAMES.iter().map(ToString::to_string).collect();
    names.extend(Dsm::site_names("", &schema(false)));
    let name = |event: &Event| {
        let site = || &names[usize::from(event.site)];
        match event.kind {
            Kind::Load if !site().starts_with("index: ") => {
                Some(format!("load {} {}", site(), event.size))
            }
            Kind::Store => Some(format!("store {} {}", site(), event.size)),
            Kind::Call => Some(Call::NAMES[event.address as usize].to_owned()),
            Kind::PageRead => Some(format!("read {}", event.address)),
            Kind::PageWrite => Some(format!("write {}", event.address)),
            _ => None,
        }
    };
    let steps: Vec<String> = events.iter().filter_map(name).collect();
    let locked = steps.iter().position(|step| step == "lock-record");
    let string = ["load end offset 2", "load attribute string 22"];
    let expected = [
        // The index has one node.
        &["lock-record", "fix-page", "read 2", "fix-page"][..],
        &["load page header 2", "load slot 4", "update-attribute"],
        &string,
        // The record is copied to be rewritten, and the header says that there is no room.
        &["load whole record 40", "load page header 8"],
        // It is logged: number and string beside 48 bytes.
        &["delete-record", "load record number of string 4"],
        &string,
        &["log-record", "store log record 74"],
        &["store slot 4", "load page header 8", "store page header 8"],
        // 60 bytes on the last page, 12 of them a tag.
        &["read 4", "fix-page", "insert-record", "load page header 8"],
        &["store tag 12", "store whole record 48"],
        &["store slot 4", "store page header 8"],
        &["log-record", "store log record 92"],
        &[
            "store index: store tupleID or child pointer 4",
            "write 2",
            "write 4",
        ],
    ];
    assert_eq!(steps[locked.unwrap()..], expected.concat());
}
