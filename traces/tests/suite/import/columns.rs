//! Columns of addresses: which one, where they begin, and what is none.

use super::*;
use parquet::data_type::Int64Type;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

fn column(name: &str) -> Options {
    Options {
        column: Some(name.to_owned()),
        ..options("csv")
    }
}

fn addresses(bytes: &[u8], options: Options) -> Vec<u64> {
    let (events, _) = import_bytes(bytes, options).unwrap();
    events.iter().map(|event| event.address).collect()
}

#[test]
fn a_bad_address_in_the_first_line_is_no_header() {
    for first in ["-16", "1.5", "7f001000", "deadbeef", "$10", "0xg"] {
        let message = refusal(format!("{first}\n32\n48\n").as_bytes(), "csv");
        let expected = format!("t:1: `{first}` is no address and no header");
        assert!(message.starts_with(&expected), "{message}");
    }
    for first in ["address", "_", "Adresse", "größe", "add", "virtual address"] {
        let (events, report) =
            import_bytes(format!("{first}\n32\n").as_bytes(), options("csv")).unwrap();
        assert_eq!((events.len(), report.tally.skipped), (1, 1), "{first}");
    }
    assert_eq!(addresses(b"time,$\n1,32\n", column("$")), [32]);
}

#[test]
fn a_number_tells_the_place_of_a_column_without_a_name() {
    assert_eq!(addresses(b"2,1\n16,2\n", column("1")), [2, 16]);
    assert_eq!(addresses(b"2,1\n16,2\n", column("2")), [1, 2]);
}

/// A Parquet file with one column of 64 bits.
fn file_of(kind: &str, values: &[i64]) -> Vec<u8> {
    let schema = format!("message m {{ required int64 address{kind}; }}");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column
        .typed::<Int64Type>()
        .write_batch(values, None, None)
        .unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn numbers_that_stand_for_something_else_are_no_addresses() {
    for kind in [
        "",
        " (INTEGER(64,true))",
        " (INTEGER(64,false))",
        " (UINT_64)",
    ] {
        assert_eq!(
            addresses(&file_of(kind, &[64, 128]), options("parquet")),
            [64, 128]
        );
    }
    for (kind, expected) in [
        (" (DECIMAL(9,2))", "holds decimal numbers"),
        (" (TIMESTAMP(MICROS,true))", "holds times"),
        (" (TIMESTAMP(NANOS,false))", "holds times"),
    ] {
        let message = refusal(&file_of(kind, &[64]), "parquet");
        assert!(message.contains(expected), "{message}");
        assert!(message.starts_with("t: column `address`"), "{message}");
    }
    let message = refusal(&file_of("", &[1, -1]), "parquet");
    assert!(message.starts_with("t: row 1: "), "{message}");
}
