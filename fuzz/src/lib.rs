//! What the fuzz targets share: an import whose outcome does not matter, as long as there is one.

use std::io::Cursor;
use std::path::Path;
use traces::Counter;
use traces::import::{Choice, Format, Import, Instructions, Options, Threads};

/// Threads of a program, between which the bytes are divided, record by record.
const THREADS: usize = 3;

/// Imports `bytes` as `format` and drops the events.
pub fn import(format: &str, pattern: Option<&str>, bytes: &[u8]) {
    let known = Format::from_name(format);
    let fetches = known.is_some_and(|format| format.about().takes.contains(&Choice::Fetch));
    let options = Options {
        format: format.to_owned(),
        instructions: match fetches {
            true => Instructions::Fetch,
            false => Instructions::Count,
        },
        pattern: pattern.map(str::to_owned),
        ..Options::default()
    };
    let source = Box::new(Cursor::new(bytes.to_vec()));
    if let Ok(import) = Import::from_reader("fuzz", source, options) {
        let _ = import.run(&mut Counter::default());
    }
}

/// Imports `bytes` as threads of one program, whose files all begin with `first`, a record, and drops the events.
pub fn import_threads(format: &str, first: &[u8], bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let records: Vec<_> = bytes.chunks(first.len()).collect();
    let each = records.len().div_ceil(THREADS).max(1);
    let files = (0..THREADS).map(|thread| {
        let own = records.chunks(each).nth(thread).unwrap_or_default();
        let path = folder.path().join(thread.to_string());
        std::fs::write(&path, [first, &own.concat()].concat()).expect("room for a file");
        path
    });
    let files: Vec<_> = files.collect();
    let options = Options {
        format: format.to_owned(),
        blocks: Some(vec![(1, 1), (2, 100)]),
        ..Options::default()
    };
    let paths: Vec<&Path> = files.iter().map(|path| path.as_path()).collect();
    if let Ok(threads) = Threads::open(&paths, options) {
        let _ = threads.run(&mut |_, _| Ok(()));
    }
}
