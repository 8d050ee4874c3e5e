//! Values that are missing: every layout passes over them, and in minipages they take a bit.

use proptest::prelude::*;
use serde_json::json;
use traces::{Counter, Event, Kind};
use workloads::page::{
    Attribute, Columns, Dsm, DsmLoader, Geometry, Loaded, Nsm, PageFile, PageSites, Pax,
    PaxOptions, Schema, Type, Value,
};
use workloads::query::{
    ChangedDsm, IndexNodes, LogBuffer, Predicate, Reconstruction, Scan, ScanOrder, Stored,
    StoredColumns, StoredDsm, delete, update,
};
use workloads::tracer::{Dep, Tracer, Untraced};
use workloads::{Library, Workload};

const GEOMETRY: Geometry = Geometry {
    page_bytes: 256,
    header_bytes: 32,
};

type Tuple = (i64, Option<i64>);

fn schema() -> Schema {
    Schema::new(vec![
        Attribute::new("key", Type::Int32),
        Attribute::new("number", Type::Int64).nullable(),
    ])
}

fn values(tuple: &Tuple) -> [Value<'static>; 2] {
    [Value::Int(tuple.0), tuple.1.map_or(Value::Null, Value::Int)]
}

fn tuple(row: &[Loaded<Value>]) -> Tuple {
    let number = row[1].value;
    (
        row[0].value.int(),
        number.is_present().then(|| number.int()),
    )
}

fn scanned<'f>(relation: impl Scan<'f>, predicates: &[Predicate]) -> Vec<Tuple> {
    let mut found = Vec::new();
    relation.scan(&mut Untraced, predicates, &[0, 1], |_, row| {
        found.push(tuple(row));
    });
    found
}

fn filled<F: PageFile>(mut file: F, tuples: &[Tuple]) -> F {
    for tuple in tuples {
        file.insert(&mut Untraced, &values(tuple));
    }
    file
}

fn nsm(tuples: &[Tuple]) -> Nsm {
    filled(
        Nsm::new(schema(), GEOMETRY, PageSites::from(0)).unwrap(),
        tuples,
    )
}

fn pax(tuples: &[Tuple]) -> Pax {
    let options = PaxOptions {
        deletions: true,
        ..PaxOptions::default()
    };
    let empty = Pax::new(schema(), GEOMETRY, options, PageSites::from(0));
    filled(empty.unwrap(), tuples)
}

fn decomposed(tuples: &[Tuple]) -> Dsm {
    let mut loader = DsmLoader::new(schema(), GEOMETRY, 0).unwrap();
    for tuple in tuples {
        loader.add(&mut Untraced, &values(tuple));
    }
    loader.finish(0)
}

fn columns(tuples: &[Tuple]) -> Columns {
    let mut relation = Columns::new(schema(), GEOMETRY, 0).unwrap();
    for tuple in tuples {
        relation.add(&mut Untraced, &values(tuple));
    }
    relation
}

fn counted<R>(change: impl FnOnce(&mut Tracer<'_>) -> R) -> R {
    let mut counter = Counter::default();
    let mut tracer = Tracer::new(&mut counter);
    let result = change(&mut tracer);
    tracer.finish().unwrap();
    result
}

/// What is left when `change` was made to the file.
fn changed<F: ScanOrder>(
    mut file: F,
    change: impl FnOnce(&mut F, &mut Tracer<'_>) -> u64,
) -> (u64, Vec<Tuple>) {
    let changed = counted(|trace| change(&mut file, trace));
    let stored = Stored {
        file: &file,
        first_page: 0,
    };
    (changed, scanned(stored, &[]))
}

fn changed_dsm(
    mut relation: Dsm,
    change: impl FnOnce(ChangedDsm<'_>, &mut Tracer<'_>) -> u64,
) -> (u64, Vec<Tuple>) {
    let changed = counted(|trace| {
        let relation = ChangedDsm {
            relation: &mut relation,
            first_page: 0,
            list: 0,
            index_nodes: IndexNodes::default(),
        };
        change(relation, trace)
    });
    let stored = StoredDsm {
        relation: &relation,
        first_page: 0,
        list: 0,
        index_nodes: IndexNodes::default(),
    };
    (changed, scanned(stored, &[]))
}

fn tuples() -> impl Strategy<Value = Vec<Tuple>> {
    let number = prop::option::weighted(0.6, -9_i64..9);
    prop::collection::vec((-9_i64..9, number), 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No test holds of a null; a sum with one is one.
    #[test]
    fn nulls_pass_no_test(tuples in tuples(), low in -9..9_i64, span in 0..9_i64, which in 0..4_usize) {
        let tests = [
            vec![Predicate::within(1, low, low + span)],
            vec![Predicate::within(0, low, low + span), Predicate::within(1, -5, 9)],
            vec![Predicate::below(0, 1)],
            vec![Predicate::within(0, low, low + span)],
        ];
        let predicates = &tests[which][..];
        let inside = |number: i64| (low..=low + span).contains(&number);
        let passes = |&(key, number): &Tuple| match which {
            0 => number.is_some_and(inside),
            1 => inside(key) && number.is_some_and(|number| number >= -5),
            2 => number.is_some_and(|number| key < number),
            _ => inside(key),
        };
        let expected: Vec<Tuple> = tuples.iter().copied().filter(passes).collect();
        let (nsm_file, pax_file) = (nsm(&tuples), pax(&tuples));
        prop_assert_eq!(&scanned(Stored { file: &nsm_file, first_page: 0 }, predicates), &expected);
        prop_assert_eq!(&scanned(Stored { file: &pax_file, first_page: 0 }, predicates), &expected);
        let dsm = decomposed(&tuples);
        prop_assert_eq!(&scanned(StoredDsm { relation: &dsm, first_page: 0, list: 0, index_nodes: IndexNodes::default() }, predicates), &expected);
        let relation = columns(&tuples);
        for reconstruction in [Reconstruction::Merge, Reconstruction::Position] {
            let stored = StoredColumns { relation: &relation, first_page: 0, reconstruction };
            prop_assert_eq!(&scanned(stored, predicates), &expected);
        }

        let log = &mut LogBuffer::new(0);
        let sum = |tuple: &Tuple| if passes(tuple) { (tuple.0, tuple.1.map(|number| number + 3)) } else { *tuple };
        let updated = (expected.len() as u64, tuples.iter().map(sum).collect());
        prop_assert_eq!(&changed(nsm(&tuples), |file, trace| update(file, 0, trace, predicates, &[1], 3, log)), &updated);
        prop_assert_eq!(&changed(pax(&tuples), |file, trace| update(file, 0, trace, predicates, &[1], 3, log)), &updated);
        prop_assert_eq!(&changed_dsm(dsm.clone(), |dsm, trace| dsm.update(trace, predicates, &[1], 3, log)), &updated);

        let left = tuples.iter().copied().filter(|tuple| !passes(tuple)).collect();
        let deleted = (expected.len() as u64, left);
        prop_assert_eq!(&changed(nsm(&tuples), |file, trace| delete(file, 0, trace, predicates, log)), &deleted);
        prop_assert_eq!(&changed(pax(&tuples), |file, trace| delete(file, 0, trace, predicates, log)), &deleted);
        prop_assert_eq!(&changed_dsm(dsm, |dsm, trace| dsm.delete(trace, predicates, log)), &deleted);
    }
}

/// Loads of reading the number of these records of one page, one after the other: address from the first value's on, and bytes. Every
/// third record has a value.
fn loads(records: &[u32]) -> Vec<(i64, u16)> {
    let tuples: Vec<Tuple> = (0..20)
        .map(|number| (number, (number % 3 == 0).then_some(number)))
        .collect();
    let file = pax(&tuples);
    assert_eq!(file.pages(), 1);
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    let page = file.open(&mut tracer, 0, Dep::NONE);
    let mut column = file.column(&mut tracer, page, 1);
    for &slot in records {
        let record = file.record(&mut tracer, page, slot).unwrap();
        let found = file.int(&mut tracer, page, &mut column, record);
        assert_eq!(
            found.map(|found| found.value),
            tuples[slot as usize].1,
            "{slot}"
        );
    }
    tracer.finish().unwrap();
    let loads = events.iter().filter(|event| event.kind == Kind::Load);
    // The header's counts, and the minipage's entry.
    let loads: Vec<&Event> = loads.skip(2).collect();
    let values = loads.iter().filter(|event| event.size == 8);
    let first = values.map(|event| event.address).min().unwrap();
    let of = |event: &&Event| (event.address as i64 - first as i64, event.size);
    loads.iter().map(of).collect()
}

/// A scan tests a bit of each record, and values follow each other.
#[test]
fn a_scan_goes_on_from_value_to_value() {
    let all: Vec<u32> = (0..20).collect();
    let loads = loads(&all);
    let (values, bits): (Vec<_>, Vec<_>) = loads.into_iter().partition(|(_, bytes)| *bytes == 8);
    let places: Vec<(i64, u16)> = (0..7).map(|value| (8 * value, 8)).collect();
    assert_eq!(values, places);
    assert!(bits.iter().all(|(_, bytes)| *bytes == 1));
    // Bits downwards from the end: those of records 0 to 7, 8 to 15, 16 to 19.
    let lower = |number: usize| bits[0].0 - (number / 8) as i64;
    let expected: Vec<i64> = (0..20).map(lower).collect();
    assert_eq!(
        bits.iter().map(|(place, _)| *place).collect::<Vec<_>>(),
        expected
    );
}

/// A record that is looked for alone has the bits before its own counted; one behind the record read last, those between.
#[test]
fn bits_are_counted_from_the_record_read_last() {
    // Records 0 to 15 are two bytes of bits, and record 15 has five values before its own.
    let found = loads(&[0, 15, 18, 18, 3]);
    let sizes: Vec<u16> = found.iter().map(|(_, bytes)| *bytes).collect();
    assert_eq!(sizes, [1, 8, 2, 8, 1, 8, 1, 8, 1, 8]);
    let values = found.iter().filter(|(_, bytes)| *bytes == 8);
    assert_eq!(
        values.map(|(place, _)| *place).collect::<Vec<_>>(),
        [0, 40, 48, 48, 8]
    );
}

/// Pages of eight attributes that may all be missing are filled to the last byte, and layouts agree on what is in them.
#[test]
fn layouts_agree_on_sparse_relations() {
    let found = |layout: &str, operation: &str, nulls: f64| {
        let workload = json!({"kernel": "table", "layout": layout, "operation": operation, "records": 20_000, "attributes": 8,
            "nullable": [1, 2, 3, 4, 5, 6, 7, 8], "nulls": nulls, "first_predicate": 2, "first_projected": 7, "selectivity": 0.5});
        let workload: Workload = serde_json::from_value(workload).unwrap();
        let prepared = Library::new().prepare(&workload).unwrap();
        let metrics = prepared.run(&mut Counter::default()).unwrap().metrics;
        (metrics["returned"], metrics["checksum"])
    };
    for operation in ["scan", "update", "delete"] {
        for nulls in [0.0, 0.1, 0.5, 0.9] {
            let (nsm, pax) = (
                found("nsm", operation, nulls),
                found("pax", operation, nulls),
            );
            assert!(
                nsm == pax && nsm.0 > 0,
                "{operation} {nulls}: {nsm:?} {pax:?}"
            );
        }
    }
}
