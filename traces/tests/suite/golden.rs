//! Files written by earlier versions stay readable. The sample was written by version 0.1.0 and is never written again.

use crate::common;
use std::path::Path;
use traces::EventSink;
use traces::store::{Reader, Writer, check};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/search-v1.parquet");

#[test]
fn the_first_versions_sample_is_read_to_the_last_bit() {
    let expected = common::events(200);
    let reader = Reader::open(SAMPLE).unwrap();
    assert_eq!(reader.info(), &common::info());
    assert_eq!(reader.head(usize::MAX).unwrap(), expected);
    let report = check(SAMPLE).unwrap();
    assert_eq!(report.summary.events, expected.len() as u64);
    assert!(
        report.summary.file_bytes <= 10 << 10,
        "{} bytes",
        report.summary.file_bytes
    );
}

/// `cargo test -p memwalk-traces --test suite golden:: -- --ignored` writes the sample of a new schema version.
#[test]
#[ignore = "writes a sample; an existing one is kept"]
fn write_the_sample() {
    assert!(
        !Path::new(SAMPLE).exists(),
        "{SAMPLE} exists and stays as it is"
    );
    let mut writer = Writer::create(SAMPLE, &common::info()).unwrap();
    writer.consume(&common::events(200)).unwrap();
    writer.finish().unwrap();
}
