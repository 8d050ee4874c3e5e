//! Whatever is done to a relation, every layout returns what a list of tuples returns.

use crate::common::{Owned, Tuple, borrowed, schema, tuple};
use proptest::collection::vec;
use proptest::prelude::*;
use traces::Counter;
use workloads::page::{
    Dsm, DsmLoader, FullMinipage, Geometry, Nsm, PageFile, PageSites, Pax, PaxOptions, RecordId,
    Schema,
};
use workloads::tracer::{Dep, Trace, Tracer, Untraced};

/// Small, so that a few records fill a page.
const PAGE: Geometry = Geometry {
    page_bytes: 512,
    header_bytes: 32,
};

/// One change; numbers choose among what is there, modulo their count.
#[derive(Clone, Debug)]
enum Step {
    Insert(Tuple),
    Update(usize, usize, Tuple),
    Delete(usize),
    Reorganize(u32),
}

fn step(schema: &Schema) -> impl Strategy<Value = Step> + use<> {
    prop_oneof![
        5 => tuple(schema).prop_map(Step::Insert),
        4 => (any::<usize>(), any::<usize>(), tuple(schema)).prop_map(|(record, attribute, tuple)| Step::Update(record, attribute, tuple)),
        2 => any::<usize>().prop_map(Step::Delete),
        1 => any::<u32>().prop_map(Step::Reorganize),
    ]
}

/// A schema and what is done to a relation of it.
fn history(steps: usize) -> impl Strategy<Value = (Schema, Vec<Step>)> {
    schema(false).prop_flat_map(move |schema| {
        let steps = vec(step(&schema), 0..steps);
        (Just(schema), steps)
    })
}

fn fetch<F: PageFile>(file: &F, id: RecordId) -> Tuple {
    let values = file
        .fetch(&mut Untraced, id, Dep::NONE)
        .expect("the record exists");
    values.into_iter().map(Owned::from).collect()
}

/// Everything that a scan of the pages finds.
fn scan<F: PageFile>(file: &F) -> Vec<RecordId> {
    let mut found = Vec::new();
    for page in 0..file.pages() {
        let open = file.open(&mut Untraced, page, Dep::NONE);
        for slot in 0..open.slots {
            if file.record(&mut Untraced, open, slot).is_some() {
                found.push(RecordId { page, slot });
            }
        }
    }
    found
}

fn follow<F: PageFile, T: Trace>(mut file: F, trace: &mut T, steps: &[Step]) {
    let mut tuples: Vec<(RecordId, Tuple)> = Vec::new();
    for step in steps {
        match step {
            Step::Insert(tuple) => {
                let id = file.insert(trace, &borrowed(tuple));
                tuples.push((id, tuple.clone()));
            }
            Step::Update(record, attribute, new) if !tuples.is_empty() => {
                let record = record % tuples.len();
                let (id, tuple) = &mut tuples[record];
                let attribute = attribute % tuple.len();
                tuple[attribute] = new[attribute].clone();
                *id = file.update(trace, *id, attribute, new[attribute].value());
            }
            Step::Delete(record) if !tuples.is_empty() => {
                let (id, _) = tuples.swap_remove(record % tuples.len());
                file.delete(trace, id);
            }
            Step::Reorganize(page) if file.pages() > 0 => {
                file.reorganize(trace, page % file.pages());
            }
            _ => {}
        }
        for (id, tuple) in &tuples {
            assert_eq!(&fetch(&file, *id), tuple, "{id:?} after {step:?}");
        }
    }
    assert_eq!(file.records(), tuples.len() as u64);
    let mut expected: Vec<RecordId> = tuples.iter().map(|(id, _)| *id).collect();
    expected.sort_unstable();
    assert_eq!(scan(&file), expected);
}

fn both<F: PageFile>(file: impl Fn(Schema) -> F, schema: Schema, steps: &[Step]) {
    follow(file(schema.clone()), &mut Untraced, steps);
    let mut counter = Counter::default();
    let mut tracer = Tracer::new(&mut counter);
    follow(file(schema), &mut tracer, steps);
    tracer.finish().unwrap();
}

fn follow_dsm<T: Trace>(mut relation: Dsm, trace: &mut T, steps: &[Step]) {
    let mut tuples: Vec<(u32, Tuple)> = Vec::new();
    for step in steps {
        match step {
            Step::Insert(tuple) => {
                let number = relation.insert(trace, &borrowed(tuple));
                tuples.push((number, tuple.clone()));
            }
            Step::Update(record, attribute, new) if !tuples.is_empty() => {
                let record = record % tuples.len();
                let (number, tuple) = &mut tuples[record];
                let attribute = attribute % tuple.len();
                tuple[attribute] = new[attribute].clone();
                relation.update(trace, *number, attribute, new[attribute].value());
            }
            Step::Delete(record) if !tuples.is_empty() => {
                let (number, _) = tuples.swap_remove(record % tuples.len());
                relation.delete(trace, number);
                assert_eq!(relation.fetch(trace, number), None);
            }
            Step::Reorganize(_) => relation.reorganize(trace),
            _ => {}
        }
        for (number, tuple) in &tuples {
            let values = relation
                .fetch(&mut Untraced, *number)
                .expect("the record exists");
            let values: Tuple = values.into_iter().map(Owned::from).collect();
            assert_eq!(&values, tuple, "record {number} after {step:?}");
        }
    }
    assert_eq!(relation.records(), tuples.len() as u64);
    for attribute in 0..relation.schema().degree() {
        assert_eq!(scan(relation.file(attribute)).len(), tuples.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn slotted_pages_are_lists_of_tuples((schema, steps) in history(80)) {
        both(|schema| Nsm::new(schema, PAGE, PageSites::from(0)).unwrap(), schema, &steps);
    }

    #[test]
    fn pax_pages_are_lists_of_tuples((schema, steps) in history(80), threshold in 0.0..0.2, borrow in any::<bool>()) {
        let full_minipage = if borrow { FullMinipage::Borrow } else { FullMinipage::Reorganize };
        let options = PaxOptions { threshold, deletions: true, full_minipage };
        both(|schema| Pax::new(schema, PAGE, options, PageSites::from(0)).unwrap(), schema, &steps);
    }

    #[test]
    fn sub_relations_are_lists_of_tuples((schema, steps) in history(80)) {
        let relation = || DsmLoader::new(schema.clone(), PAGE, 0).unwrap().finish(100);
        follow_dsm(relation(), &mut Untraced, &steps);
        let mut counter = Counter::default();
        let mut tracer = Tracer::new(&mut counter);
        follow_dsm(relation(), &mut tracer, &steps);
        tracer.finish().unwrap();
    }
}
