//! Files that are no trace, or no longer one: each gets one clear message, none is read short.

use crate::common;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use traces::EventSink;
use traces::store::{Reader, StoreError, Writer, check};

fn recorded(searches: u64) -> (TempDir, PathBuf, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let mut writer = Writer::create(&path, &common::info()).unwrap();
    writer.consume(&common::events(searches)).unwrap();
    writer.finish().unwrap();
    let bytes = fs::read(&path).unwrap();
    (folder, path, bytes)
}

/// The message for `path`, one line that begins with it.
#[track_caller]
fn refusal(path: &Path) -> String {
    let message = check(path).unwrap_err().to_string();
    assert!(
        message.starts_with(&path.display().to_string()),
        "{message}"
    );
    assert!(
        !message.contains('\n') && message.contains("; "),
        "no remedy or more than one line: {message}"
    );
    message
}

#[test]
fn every_flipped_byte_is_noticed() {
    let (_folder, path, bytes) = recorded(20);
    for position in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[position] ^= flip;
            fs::write(&path, damaged).unwrap();
            refusal(&path);
        }
    }
}

#[test]
fn a_flip_in_a_row_group_names_it() {
    let (_folder, path, mut bytes) = recorded(20);
    bytes[100] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(refusal(&path).contains("row group 0: its checksum differs; the file is damaged"));
}

#[test]
fn every_truncation_is_noticed() {
    let (_folder, path, bytes) = recorded(20);
    for length in 1..bytes.len() {
        fs::write(&path, &bytes[..length]).unwrap();
        assert!(
            refusal(&path).contains("the trace is cut short"),
            "{length} bytes"
        );
    }
}

#[test]
fn appended_and_removed_bytes_are_noticed() {
    let (_folder, path, bytes) = recorded(20);
    fs::write(&path, [&bytes[..], b"more"].concat()).unwrap();
    assert!(refusal(&path).contains("cut short"));
    fs::write(&path, [&bytes[..], &bytes[..]].concat()).unwrap();
    assert!(refusal(&path).contains("but the footer begins at"));
    fs::write(&path, [&bytes[..50], &bytes[51..]].concat()).unwrap();
    assert!(refusal(&path).contains("but the footer begins at"));
}

#[test]
fn other_things_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thing");
    let cases: [(&[u8], &str); 4] = [
        (b"", "the file is empty; record the trace again"),
        (
            b"kind,address\nload,4096\n",
            "not a memwalk trace: it is no Parquet file",
        ),
        (b"x", "not a memwalk trace: it is no Parquet file"),
        (
            b"PAR1\xff\xff\xff\x7fPAR1",
            "footer: its length is beyond the start of the file",
        ),
    ];
    for (bytes, expected) in cases {
        fs::write(&path, bytes).unwrap();
        let message = refusal(&path);
        assert!(message.contains(expected), "{message}");
    }
    assert!(refusal(folder.path()).contains("not a memwalk trace: it is a directory"));
    assert!(refusal(&folder.path().join("missing")).contains("No such file"));
    assert!(refusal(&path.join("below")).contains("a part of the path is a file"));
    #[cfg(unix)]
    assert!(refusal(Path::new("/dev/zero")).contains("it is not a regular file"));
}

#[test]
fn a_foreign_parquet_file_is_told_apart() {
    use parquet::file::{properties::WriterProperties, writer::SerializedFileWriter};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("foreign.parquet");
    let schema =
        parquet::schema::parser::parse_message_type("message m { optional binary name; }").unwrap();
    let properties = WriterProperties::builder().build();
    let file = fs::File::create(&path).unwrap();
    SerializedFileWriter::new(file, schema.into(), properties.into())
        .unwrap()
        .close()
        .unwrap();
    assert!(refusal(&path).contains("it is a Parquet file without the seal of a trace"));
}

#[test]
fn a_file_that_changes_under_the_reader_is_noticed() {
    let (_folder, path, bytes) = recorded(20);
    let reader = Reader::open(&path).unwrap();
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(200)
        .unwrap();
    let error = reader.for_each_batch::<StoreError>(|_| Ok(())).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert!(bytes.len() > 200);
}
