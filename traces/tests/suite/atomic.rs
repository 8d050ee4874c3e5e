//! A trace appears under its name whole, or not at all.

use crate::common;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use traces::EventSink;
use traces::store::{Writer, check};

/// Names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn record(path: &Path, searches: u64) {
    let mut writer = Writer::create(path, &common::info()).unwrap();
    writer.consume(&common::events(searches)).unwrap();
    writer.finish().unwrap();
}

#[test]
fn a_dropped_writer_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(folder.path().join("t.parquet"), &common::info()).unwrap();
    writer.consume(&common::events(10)).unwrap();
    assert_eq!(
        names(folder.path()).len(),
        1,
        "the temporary file is in the same folder"
    );
    drop(writer);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_finished_trace_replaces_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    record(&path, 10);
    let mut writer = Writer::create(&path, &common::info()).unwrap();
    writer.consume(&common::events(20)).unwrap();
    assert_eq!(
        check(&path).unwrap().summary.events,
        common::events(10).len() as u64
    );
    writer.finish().unwrap();
    assert_eq!(
        check(&path).unwrap().summary.events,
        common::events(20).len() as u64
    );
    assert_eq!(names(folder.path()), ["t.parquet"]);
}

#[test]
fn only_regular_files_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path(), Path::new("/dev/null"), Path::new("/")] {
        let message = Writer::create(path, &common::info())
            .unwrap_err()
            .to_string();
        assert!(
            message.starts_with(&path.display().to_string()),
            "{message}"
        );
    }
    assert!(names(folder.path()).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_is_named_with_the_cause() {
    // Nobody, root included, can create a file in /sys.
    for (path, remedy) in [
        ("/sys/t.parquet", "another folder"),
        ("/no/such/t.parquet", "check the path"),
    ] {
        let message = Writer::create(path, &common::info())
            .unwrap_err()
            .to_string();
        assert!(
            message.starts_with(path) && message.ends_with(remedy),
            "{message}"
        );
        assert!(
            !message.contains(".tmp"),
            "names the temporary file: {message}"
        );
    }
}

const FOLDER: &str = "MEMWALK_TEST_KILLED_WRITER_FOLDER";

/// The process that the next test kills; does nothing by itself.
#[test]
fn killed_writer() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let mut writer = Writer::create(Path::new(&folder).join("t.parquet"), &common::info()).unwrap();
    let events = common::events(1000);
    loop {
        writer.consume(&events).unwrap();
    }
}

#[test]
fn a_killed_writer_leaves_the_name_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    for before in [None, Some(10)] {
        if let Some(searches) = before {
            record(&path, searches);
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "atomic::killed_writer"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let unfinished = |name: &String| {
            let written =
                fs::metadata(folder.path().join(name)).map_or(0, |metadata| metadata.len());
            name.ends_with(".tmp") && written > 100_000
        };
        let patience = Instant::now() + Duration::from_secs(60);
        while !names(folder.path()).iter().any(unfinished) {
            assert!(Instant::now() < patience, "the writer writes nothing");
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        match before {
            None => assert!(!path.exists()),
            Some(searches) => assert_eq!(
                check(&path).unwrap().summary.events,
                common::events(searches).len() as u64
            ),
        }
        for name in names(folder.path())
            .iter()
            .filter(|name| name.ends_with(".tmp"))
        {
            fs::remove_file(folder.path().join(name)).unwrap();
        }
    }
}
