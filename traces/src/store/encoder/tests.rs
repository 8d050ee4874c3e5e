//! Outputs that fail, and files that are sealed but wrong: neither can be made through the public writer.

use super::Encoder;
use crate::event::{Event, Kind};
use crate::layout::Layout;
use crate::store::format::{self, CONTENTS_KEY, Contents, SCHEMA_VERSION};
use crate::store::seal::{self, SEAL_KEY};
use crate::store::{Reader, StoreError, TraceInfo, check};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::TypePtr;
use serde_json::Value;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn info() -> TraceInfo {
    let layout = Layout {
        segments: Vec::new(),
        sites: vec!["probe".to_owned(), "compare".to_owned()],
        phases: vec!["build".to_owned(), "search".to_owned()],
        calls: vec!["next-record".to_owned()],
    };
    TraceInfo::new(Value::Null, layout)
}

fn loads(count: u64) -> Vec<Event> {
    (0..count)
        .map(|number| Event::new(Kind::Load, number * 64))
        .collect()
}

fn encoder() -> Encoder<Vec<u8>> {
    Encoder::new(Vec::new(), PathBuf::from("memory"), info()).unwrap()
}

fn save(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forged.parquet");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// Takes a number of bytes, then has no space left.
struct FullAfter(usize);

impl Write for FullAfter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        if taken == 0 {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(taken)
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn record_onto(output: impl Write) -> Result<u64, StoreError> {
    let mut encoder = Encoder::new(output, PathBuf::from("out/t.parquet"), info())?;
    encoder.push(0, &loads(100))?;
    encoder.end_group(0)?;
    encoder.push(0, &loads(50))?;
    Ok(encoder.finish()?.1.file_bytes)
}

#[test]
fn a_full_disk_is_reported_wherever_it_fills_up() {
    let size = record_onto(FullAfter(usize::MAX)).unwrap();
    for space in 0..size {
        let error = record_onto(FullAfter(space as usize)).unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with("out/t.parquet: "), "{message}");
        assert!(
            message.ends_with("; free some space or choose another disk"),
            "{message}"
        );
    }
    assert_eq!(record_onto(FullAfter(size as usize)).unwrap(), size);
}

#[cfg(target_os = "linux")]
#[test]
fn the_systems_own_full_disk_error_is_passed_on() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let error = record_onto(full).unwrap_err();
    let StoreError::Io { source, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(source.kind(), io::ErrorKind::StorageFull);
}

/// A trace of two row groups of 5000 and 3000 loads, in which row 2001 of the second has been changed.
fn forge_value(change: impl Fn(&mut crate::store::columns::Columns, usize)) -> StoreError {
    let mut encoder = encoder();
    encoder.push(0, &loads(5000)).unwrap();
    encoder.end_group(0).unwrap();
    encoder.push(0, &loads(3000)).unwrap();
    change(&mut encoder.pending[0].columns, 2001);
    let (bytes, _) = encoder.finish().unwrap();
    let (_folder, path) = save(&bytes);
    let error = Reader::open(&path)
        .unwrap()
        .for_each_batch::<StoreError>(|_| Ok(()))
        .unwrap_err();
    assert_eq!(check(&path).unwrap_err().to_string(), error.to_string());
    error
}

#[track_caller]
fn assert_cause(expected: &str, change: impl Fn(&mut crate::store::columns::Columns, usize)) {
    let error = forge_value(change);
    let message = error.to_string();
    let StoreError::Value {
        row_group,
        row,
        event,
        cause,
        path,
    } = error
    else {
        panic!("{message}")
    };
    assert_eq!(
        (row_group, row, event, cause.as_str()),
        (1, 2001, 7001, expected)
    );
    assert!(
        message.starts_with(&path) && message.contains("row group 1, row 2001"),
        "{message}"
    );
}

#[test]
fn every_value_that_no_event_has_is_refused_with_its_place() {
    assert_cause("unknown kind 23; the kinds are 0 to 22", |columns, row| {
        columns.kind[row] = 23
    });
    assert_cause("unknown kind -1; the kinds are 0 to 22", |columns, row| {
        columns.kind[row] = -1
    });
    assert_cause("unknown kind 256; the kinds are 0 to 22", |columns, row| {
        columns.kind[row] = 256
    });
    assert_cause("size = 65536; it is 0 to 65535", |columns, row| {
        columns.size[row] = 65536
    });
    assert_cause("words = -1; it is 0 to 65535", |columns, row| {
        columns.words[row] = -1
    });
    assert_cause("instructions = 70000; it is 0 to 65535", |columns, row| {
        columns.instructions[row] = 70000
    });
    assert_cause("chain = 256; it is 0 to 255", |columns, row| {
        columns.chain[row] = 256
    });
    assert_cause("site = 65536; it is 0 to 65535", |columns, row| {
        columns.site[row] = 65536
    });
    assert_cause(
        "words = 0; a load or store takes at least one word access",
        |columns, row| {
            columns.words[row] = 0;
        },
    );
    assert_cause("site 2, but the layout names 2 sites", |columns, row| {
        columns.site[row] = 2
    });
    assert_cause(
        "dep = 7002 points before the start of the trace; it is at most 7001 here",
        |columns, row| {
            columns.dep[row] = 7002;
        },
    );
    assert_cause(
        "mark of phase 2, but the last phase is 1",
        |columns, row| {
            columns.kind[row] = Kind::Mark as i32;
            columns.address[row] = 2;
        },
    );
    assert_cause("call 1, but the last call is 0", |columns, row| {
        columns.kind[row] = Kind::Call as i32;
        columns.address[row] = 1;
    });
    assert_cause(
        "branch outcome 2; it is 1 for taken, 0 for not",
        |columns, row| {
            columns.kind[row] = Kind::Branch as i32;
            columns.address[row] = 2;
        },
    );
    assert_cause("latency class 3; the classes are 0 to 2", |columns, row| {
        columns.kind[row] = Kind::Op as i32;
        columns.size[row] = 3;
    });
}

#[test]
fn the_limits_themselves_are_allowed() {
    let mut encoder = encoder();
    let events = [
        Event {
            site: 1,
            words: 1,
            ..Event::new(Kind::Load, u64::MAX)
        },
        Event {
            dep: 1,
            chain: 255,
            words: u16::MAX,
            ..Event::new(Kind::Store, 0)
        },
        Event {
            dep: 2,
            words: 0,
            ..Event::new(Kind::Mark, 1)
        },
        Event {
            size: 2,
            words: 0,
            ..Event::new(Kind::Op, u64::MAX)
        },
        Event {
            size: u16::MAX,
            instructions: u16::MAX,
            ..Event::new(Kind::Branch, 1)
        },
    ];
    encoder.push(0, &events).unwrap();
    let (bytes, _) = encoder.finish().unwrap();
    let (_folder, path) = save(&bytes);
    assert_eq!(Reader::open(path).unwrap().head(10).unwrap(), events);
}

/// A sealed file whose contents have been changed before they were written.
fn forge_contents(change: impl Fn(&mut Contents)) -> StoreError {
    let mut encoder = encoder();
    encoder.push(0, &loads(10)).unwrap();
    encoder.end_group(0).unwrap();
    change(&mut encoder.contents);
    let (bytes, _) = encoder.finish().unwrap();
    check(save(&bytes).1).unwrap_err()
}

#[test]
fn contents_that_contradict_the_file_are_refused() {
    type Change = fn(&mut Contents);
    let changes: [(&str, Change); 7] = [
        ("hold 10 events, but 9 are announced", |contents| {
            contents.events = 9
        }),
        (
            "stand for 10 instructions, not the 11 announced",
            |contents| contents.instructions = 11,
        ),
        ("row group 0: its checksum differs", |contents| {
            contents.row_groups[0].crc32 ^= 1
        }),
        ("row group 0 is not where, or not as long as", |contents| {
            contents.row_groups[0].events = 11
        }),
        ("but the footer begins at", |contents| {
            contents.row_groups[0].bytes += 1
        }),
        ("1 row groups, but 0 are listed", |contents| {
            contents.row_groups.clear()
        }),
        ("the layout names no phase", |contents| {
            contents.info.layout.phases.clear()
        }),
    ];
    for (expected, change) in changes {
        let message = forge_contents(change).to_string();
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("the file is damaged"), "{message}");
    }
}

#[test]
fn a_row_group_is_of_a_thread_that_there_is() {
    for (threads, cause) in [
        (1, "row group 0 is of thread 1, but there are 1 threads"),
        (0, "0 threads; there are 1 to 256"),
        (257, "257 threads; there are 1 to 256"),
    ] {
        let two = TraceInfo {
            threads: 2,
            ..info()
        };
        let mut encoder = Encoder::new(Vec::new(), PathBuf::from("memory"), two).unwrap();
        encoder.push(1, &loads(10)).unwrap();
        encoder.contents.info.threads = threads;
        let (bytes, _) = encoder.finish().unwrap();
        let (_folder, path) = save(&bytes);
        let message = refusal(&path);
        assert!(message.contains(cause), "{message}");
    }
}

/// An empty Parquet file with a valid seal over whatever else is asked for.
fn forge_file(
    schema: TypePtr,
    contents: Option<&str>,
    version: u64,
) -> (tempfile::TempDir, PathBuf) {
    let properties = Arc::new(WriterProperties::builder().build());
    let mut parquet = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    if let Some(contents) = contents {
        parquet
            .append_key_value_metadata(KeyValue::new(CONTENTS_KEY.to_owned(), contents.to_owned()));
    }
    parquet.append_key_value_metadata(KeyValue::new(SEAL_KEY.to_owned(), seal::blank(version)));
    parquet.finish().unwrap();
    let mut bytes = std::mem::take(parquet.inner_mut());
    let footer = format::PARQUET_MAGIC.len();
    assert!(seal::close(&mut bytes[footer..]));
    save(&bytes)
}

fn refusal(path: &Path) -> String {
    Reader::open(path).unwrap_err().to_string()
}

#[test]
fn other_columns_versions_and_metadata_are_refused() {
    let ours = || format::schema().unwrap();
    let nullable = parse_message_type(&format::SCHEMA.replacen("required", "optional", 1)).unwrap();
    let (_folder, path) = forge_file(Arc::new(nullable), None, SCHEMA_VERSION);
    assert!(refusal(&path).contains("column `kind` is not the `kind` of a trace"));

    let short =
        parse_message_type("message m { required int32 kind (INTEGER(8, false)); }").unwrap();
    let (_folder, path) = forge_file(Arc::new(short), None, SCHEMA_VERSION);
    assert!(refusal(&path).contains("1 columns instead of 8"));

    let (_folder, path) = forge_file(ours(), None, SCHEMA_VERSION);
    assert!(refusal(&path).contains("no metadata entry `memwalk.contents`"));

    let (_folder, path) = forge_file(ours(), Some("{\"events\":"), SCHEMA_VERSION);
    assert!(refusal(&path).contains("metadata entry `memwalk.contents`: EOF"));

    let (_folder, path) = forge_file(ours(), None, SCHEMA_VERSION + 1);
    let message = refusal(&path);
    assert!(
        message.contains("schema version 8, but this memwalk reads version 7; update memwalk"),
        "{message}"
    );
}
