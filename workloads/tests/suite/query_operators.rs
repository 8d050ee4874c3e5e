//! Joins and scans, whatever the data, the layout and the heap, give what loops over lists of tuples give.

use proptest::prelude::*;
use traces::Counter;
use workloads::page::{
    Attribute, Columns, Dsm, DsmLoader, Geometry, Loaded, Nsm, PageFile, PageSites, Pax,
    PaxOptions, Schema, Type, Value,
};
use workloads::query::{
    ChangedDsm, HashJoin, IndexNodes, JoinPlaces, LogBuffer, OutputSpace, Predicate,
    Reconstruction, Scan, ScanOrder, Side, Stored, StoredColumns, StoredDsm, delete, update,
};
use workloads::tracer::{Token, Tracer, Untraced};

const GEOMETRY: Geometry = Geometry {
    page_bytes: 512,
    header_bytes: 32,
};

/// A key, a number and a short string.
type Tuple = (i32, i64, String);

fn schema() -> Schema {
    Schema::new(vec![
        Attribute::new("key", Type::Int32),
        Attribute::new("number", Type::Int64),
        Attribute::new("string", Type::Fixed(6)),
    ])
}

/// As [`schema`], with a string of variable length, so that pages of its column hold different numbers of records.
fn variable() -> Schema {
    let mut attributes = schema().attributes().to_vec();
    attributes[2] = Attribute::new("string", Type::Variable(6));
    Schema::new(attributes)
}

fn nsm() -> Nsm {
    Nsm::new(schema(), GEOMETRY, PageSites::from(0)).unwrap()
}

fn pax() -> Pax {
    Pax::new(
        schema(),
        GEOMETRY,
        PaxOptions::default(),
        PageSites::from(0),
    )
    .unwrap()
}

fn values((key, number, string): &Tuple) -> [Value<'_>; 3] {
    [
        Value::Int(i64::from(*key)),
        Value::Int(*number),
        Value::Bytes(string.as_bytes()),
    ]
}

fn tuple(row: &[Loaded<Value>]) -> Tuple {
    let text = String::from_utf8(row[2].value.bytes().to_vec()).unwrap();
    let key = row[0].value.int() as i32;
    (key, row[1].value.int(), text.trim_end().to_owned())
}

/// Predicates of a range of keys, and more; and what they say of a tuple.
fn tests(low: i64, span: i64, width: usize) -> (Vec<Predicate>, impl Fn(&Tuple) -> bool) {
    let all = [
        Predicate::below(0, 1),
        Predicate::within(0, low, low + span),
        Predicate::one_of(2, &["a", "b", ""]),
    ];
    let passes = move |(key, number, string): &Tuple| {
        let key = i64::from(*key);
        [
            key < *number,
            (low..=low + span).contains(&key),
            ["a", "b", ""].contains(&string.as_str()),
        ][..width]
            .iter()
            .all(|&holds| holds)
    };
    (all[..width].to_vec(), passes)
}

fn row(tuple: &Tuple) -> Vec<Loaded<Value<'_>>> {
    let loaded = |value| Loaded {
        value,
        token: Token::NONE,
    };
    values(tuple).map(loaded).to_vec()
}

fn tuples(keys: i32) -> impl Strategy<Value = Vec<Tuple>> {
    prop::collection::vec((-keys..keys, -9_i64..9, "[a-c]{0,6}"), 0..300)
}

/// Pairs that a join finds, sorted.
fn joined<F: ScanOrder>(
    build: &[Tuple],
    probe: &[Tuple],
    heap_bytes: u64,
    create: impl Fn() -> F,
) -> (Vec<(Tuple, Tuple)>, u64) {
    let places = JoinPlaces {
        directories: 1 << 30,
        directory_bytes: 1 << 20,
        heap: 1 << 20,
        heap_bytes,
    };
    let space = OutputSpace::new(0);
    let mut join = HashJoin::new(&schema(), places, space, |_: Side, _: usize| create());
    let mut pairs = Vec::new();
    let mut take = |_: &mut Untraced, left: &[Loaded<Value>], right: &[Loaded<Value>]| {
        pairs.push((tuple(left), tuple(right)));
    };
    for tuple in build {
        join.build(&mut Untraced, &row(tuple));
    }
    for tuple in probe {
        join.probe(&mut Untraced, &row(tuple), &mut take);
    }
    let written = join.finish(&mut Untraced, &mut take);
    pairs.sort();
    (pairs, written)
}

fn scanned<'f>(relation: impl Scan<'f>, predicates: &[Predicate]) -> Vec<Tuple> {
    let mut found = Vec::new();
    relation.scan(&mut Untraced, predicates, &[0, 1, 2], |_, row| {
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

fn decomposed(tuples: &[Tuple]) -> Dsm {
    let mut loader = DsmLoader::new(schema(), GEOMETRY, 0).unwrap();
    for tuple in tuples {
        loader.add(&mut Untraced, &values(tuple));
    }
    loader.finish(0)
}

fn columns(schema: Schema, tuples: &[Tuple]) -> Columns {
    let mut relation = Columns::new(schema, GEOMETRY, 0).unwrap();
    for tuple in tuples {
        relation.add(&mut Untraced, &values(tuple));
    }
    relation
}

/// What `change` returns, which has its events counted.
fn counted<R>(change: impl FnOnce(&mut Tracer<'_>) -> R) -> R {
    let mut counter = Counter::default();
    let mut tracer = Tracer::new(&mut counter);
    let result = change(&mut tracer);
    tracer.finish().unwrap();
    result
}

fn all_of<F: ScanOrder>(file: &F) -> Vec<Tuple> {
    let first_page = 0;
    scanned(Stored { file, first_page }, &[])
}

fn to_be_changed(relation: &mut Dsm) -> ChangedDsm<'_> {
    ChangedDsm {
        relation,
        first_page: 0,
        list: 0,
        index_nodes: IndexNodes::default(),
    }
}

/// Deletes what passes, and adds other tuples.
fn deleted_and_filled<F: ScanOrder>(
    mut file: F,
    predicates: &[Predicate],
    more: &[Tuple],
) -> (u64, Vec<Tuple>, Vec<Tuple>) {
    let log = &mut LogBuffer::new(0);
    let deleted = counted(|trace| delete(&mut file, 0, trace, predicates, log));
    let left = all_of(&file);
    let mut all = all_of(&filled(file, more));
    all.sort();
    (deleted, left, all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A heap of one chunk fits one partition, and that one in pieces if all keys are equal.
    #[test]
    fn a_join_is_two_loops(
        (build, probe) in (1..200_i32).prop_flat_map(|keys| (tuples(keys), tuples(keys))),
        chunks in 1..40_u64,
    ) {
        let mut pairs: Vec<_> = build
            .iter()
            .flat_map(|left| probe.iter().map(move |right| (left.clone(), right.clone())))
            .filter(|(left, right)| left.0 == right.0)
            .collect();
        pairs.sort();
        let heap = chunks * 8192;
        prop_assert_eq!(&joined(&build, &probe, heap, nsm).0, &pairs);
        prop_assert_eq!(&joined(&build, &probe, heap, pax).0, &pairs);
    }

    /// Every layout gives the tuples that pass, in their order.
    #[test]
    fn a_scan_is_a_filter(tuples in tuples(20), low in -20..20_i64, span in 0..20_i64, width in 0..=3_usize) {
        let (predicates, passes) = tests(low, span, width);
        let predicates = &predicates[..];
        let expected: Vec<Tuple> = tuples.iter().filter(|&tuple| passes(tuple)).cloned().collect();
        let (nsm, pax, dsm) = (filled(nsm(), &tuples), filled(pax(), &tuples), decomposed(&tuples));
        prop_assert_eq!(&scanned(Stored { file: &nsm, first_page: 0 }, predicates), &expected);
        prop_assert_eq!(&scanned(Stored { file: &pax, first_page: 0 }, predicates), &expected);
        let dsm = StoredDsm { relation: &dsm, first_page: 0, list: 0, index_nodes: IndexNodes::default() };
        prop_assert_eq!(&scanned(dsm, predicates), &expected);
        for schema in [schema(), variable()] {
            let relation = columns(schema, &tuples);
            for reconstruction in [Reconstruction::Merge, Reconstruction::Position] {
                let stored = StoredColumns { relation: &relation, first_page: 0, reconstruction };
                prop_assert_eq!(&scanned(stored, predicates), &expected);
            }
        }
    }

    /// Numbers of what passes, and no others, are those before and a summand.
    #[test]
    fn an_update_changes_what_passes(
        tuples in tuples(20),
        (low, span, width) in (-20..20_i64, 0..20_i64, 0..=3_usize),
        summand in -3..3_i64,
    ) {
        let (predicates, passes) = tests(low, span, width);
        let summand_of = |tuple: &Tuple| if passes(tuple) { summand } else { 0 };
        let expected: Vec<Tuple> = tuples
            .iter()
            .map(|tuple| (tuple.0, tuple.1 + summand_of(tuple), tuple.2.clone()))
            .collect();
        let log = &mut LogBuffer::new(0);
        let (mut nsm, mut pax) = (filled(nsm(), &tuples), filled(pax(), &tuples));
        let mut dsm = decomposed(&tuples);
        let found = [
            counted(|trace| update(&mut nsm, 0, trace, &predicates, &[1], summand, log)),
            counted(|trace| update(&mut pax, 0, trace, &predicates, &[1], summand, log)),
            counted(|trace| to_be_changed(&mut dsm).update(trace, &predicates, &[1], summand, log)),
        ];
        let changed = tuples.iter().filter(|&tuple| passes(tuple)).count() as u64;
        prop_assert_eq!(found, [changed; 3]);
        prop_assert_eq!(&all_of(&nsm), &expected);
        prop_assert_eq!(&all_of(&pax), &expected);
        let dsm = StoredDsm { relation: &dsm, first_page: 0, list: 0, index_nodes: IndexNodes::default() };
        prop_assert_eq!(&scanned(dsm, &[]), &expected);
    }

    /// What passes is gone, the rest stays in its order, and what is added then has a place.
    #[test]
    fn a_deletion_leaves_what_does_not_pass(
        tuples in tuples(20),
        more in tuples(20),
        (low, span, width) in (-20..20_i64, 0..20_i64, 0..=3_usize),
    ) {
        let (predicates, passes) = tests(low, span, width);
        let expected: Vec<Tuple> = tuples.iter().filter(|&tuple| !passes(tuple)).cloned().collect();
        let deleted = (tuples.len() - expected.len()) as u64;
        let mut all: Vec<Tuple> = expected.iter().chain(&more).cloned().collect();
        all.sort();
        let expected = (deleted, expected, all);
        for schema in [schema(), variable()] {
            let file = filled(Nsm::new(schema.clone(), GEOMETRY, PageSites::from(0)).unwrap(), &tuples);
            prop_assert_eq!(&deleted_and_filled(file, &predicates, &more), &expected);
            let options = PaxOptions { deletions: true, ..PaxOptions::default() };
            let file = filled(Pax::new(schema, GEOMETRY, options, PageSites::from(0)).unwrap(), &tuples);
            prop_assert_eq!(&deleted_and_filled(file, &predicates, &more), &expected);
        }
        let mut relation = decomposed(&tuples);
        let log = &mut LogBuffer::new(0);
        let found = counted(|trace| to_be_changed(&mut relation).delete(trace, &predicates, log));
        let (deleted, expected, _) = expected;
        prop_assert_eq!(found, deleted);
        prop_assert_eq!(relation.records(), expected.len() as u64);
        let left = StoredDsm { relation: &relation, first_page: 0, list: 0, index_nodes: IndexNodes::default() };
        prop_assert_eq!(&scanned(left, &[]), &expected);
    }
}

/// More entries of one key than the heap holds: the partition is loaded and probed in pieces.
#[test]
fn a_partition_larger_than_the_heap_is_joined_in_pieces() {
    let tuples: Vec<Tuple> = (0..1500).map(|number| (7, number, String::new())).collect();
    let probe = vec![(7, 1, "x".to_owned()), (8, 1, "y".to_owned())];
    for (found, written) in [
        joined(&tuples, &probe, 8192, nsm),
        joined(&tuples, &probe, 8192, pax),
    ] {
        assert_eq!(found.len(), 1500);
        assert!(written > 0);
    }
}
