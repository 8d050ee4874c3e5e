//! Read-mostly stores return the rows they were filled with, whatever is abstracted.

use crate::common::{Tuple, borrowed, schema, tuple};
use proptest::collection::vec;
use proptest::prelude::*;
use traces::Counter;
use workloads::page::abstraction::Levels;
use workloads::page::{
    Geometry, PageSites, RowStore, Schema, Store, SuperColumn, SuperRow, Type, Value,
};
use workloads::tracer::{Tracer, Untraced};

const PAGE: Geometry = Geometry {
    page_bytes: 256,
    header_bytes: 32,
};

/// The register's content for a value: what a scan hands over.
fn word(kind: Type, value: Value) -> u64 {
    match value {
        Value::Int(value) => value as u64,
        Value::Float(value) => value.to_bits(),
        Value::Bytes(bytes) => {
            let mut word = [0; 8];
            let length = bytes.len().min(8);
            word[..length].copy_from_slice(&bytes[..length]);
            u64::from_le_bytes(word)
        }
        Value::Null => panic!("{kind:?} has no null here"),
    }
}

fn returns_its_rows<S: Store>(mut store: S, levels: &Levels, rows: &[Tuple], columns: &[usize]) {
    let rows: Vec<Vec<Value>> = rows.iter().map(borrowed).collect();
    let mut before: Option<&[Value]> = None;
    for row in &rows {
        store.append(levels.first_new(before, row), row);
        before = Some(row);
    }
    let attributes = store.schema().attributes();
    let expected: Vec<Vec<u64>> = rows
        .iter()
        .map(|row| {
            columns
                .iter()
                .map(|&column| word(attributes[column].kind, row[column]))
                .collect()
        })
        .collect();
    let mut found = Vec::new();
    store.scan(&mut Untraced, columns, |_, row| found.push(row.to_vec()));
    assert_eq!(found, expected);
    let (mut counter, mut count) = (Counter::default(), 0);
    let mut tracer = Tracer::new(&mut counter);
    store.scan(&mut tracer, columns, |_, _| count += 1);
    tracer.finish().unwrap();
    assert_eq!(count, rows.len());
}

/// A schema, its levels, rows of few distinct values, and columns to scan.
fn case() -> impl Strategy<Value = (Schema, Vec<usize>, Vec<Tuple>, Vec<usize>)> {
    schema(true).prop_flat_map(|schema| {
        let degree = schema.degree();
        let few = vec(tuple(&schema), 1..4);
        let rows = few.prop_flat_map(|few| {
            let columns = few[0].len();
            vec(vec(0..few.len(), columns), 0..60).prop_map(move |choices| {
                let mut rows: Vec<_> = choices
                    .into_iter()
                    .map(|row| {
                        (
                            row.clone(),
                            row.iter()
                                .enumerate()
                                .map(|(column, &choice)| few[choice][column].clone())
                                .collect::<Tuple>(),
                        )
                    })
                    .collect();
                rows.sort_by(|left, right| left.0.cmp(&right.0));
                rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>()
            })
        });
        let levels = vec(1..=degree, 1..4).prop_map(move |mut counts| {
            // Levels of these many attributes, cut off and filled up to the degree.
            let mut left = degree;
            counts.retain_mut(|count| {
                *count = (*count).min(left);
                left -= *count;
                *count > 0
            });
            *counts.last_mut().unwrap() += left;
            counts
        });
        let columns = vec(0..degree, 1..4);
        (Just(schema), levels, rows, columns)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn stores_return_their_rows((schema, levels, rows, columns) in case(), prefetch_bytes in 0..4096_u64) {
        let levels = Levels::new(&levels);
        let sites = PageSites::from(0);
        let of = || (schema.clone(), levels.clone());
        let (row_schema, row_levels) = of();
        returns_its_rows(RowStore::new(row_schema, row_levels, PAGE, sites).unwrap(), &levels, &rows, &columns);
        let (row_schema, row_levels) = of();
        returns_its_rows(SuperRow::new(row_schema, row_levels, PAGE, sites).unwrap(), &levels, &rows, &columns);
        let (row_schema, row_levels) = of();
        let store = SuperColumn::new(row_schema, row_levels, PAGE, prefetch_bytes, sites).unwrap();
        returns_its_rows(store, &levels, &rows, &columns);
    }
}
