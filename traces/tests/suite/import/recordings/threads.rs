//! Recordings of several threads.

use super::*;

#[test]
fn threads_have_their_events_and_share_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = begun();
    add_message(&mut first, "segment table 0x10000 64");
    add_load(&mut first, 0x10000, 0x20000);
    add_message(&mut first, "phase both");
    add_message(&mut first, "barrier");
    add_load(&mut first, 0x20000, 0);
    let mut second = begun();
    add_load(&mut second, 0x50000, 0);
    add_message(&mut second, "on");
    add_message(&mut second, "phase both");
    add_load(&mut second, 0x10008, 0x60000);
    add_message(&mut second, "barrier");
    add_load(&mut second, 0x10010, 0x70000);
    add_load(&mut second, 0x70000, 0);
    let first = file(&folder, "t", &ended(first, 0));
    let second = file(&folder, "t.1", &ended(second, 0));
    let (events, report) = import_threads(&[&first, &second]).unwrap();
    let kinds = |thread: usize| {
        events[thread]
            .iter()
            .map(|event| event.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        kinds(0),
        [Kind::Load, Kind::Mark, Kind::Barrier, Kind::Load]
    );
    assert_eq!(
        kinds(1),
        [
            Kind::Mark,
            Kind::Load,
            Kind::Barrier,
            Kind::Load,
            Kind::Load
        ]
    );
    assert_eq!(
        deps(&events[0]),
        [0; 4],
        "what was before the barrier has come"
    );
    assert_eq!(deps(&events[1]), [0, 0, 0, 0, 1]);
    assert_eq!(events[0][1].address, events[1][0].address, "one phase");
    assert_eq!(report.layout.segments.len(), 1);
    assert_eq!(report.layout.phases, ["imported", "both"]);
    assert_eq!((report.tally.accesses, report.tally.left_out), (5, 1));
    assert!(!report.lost.contains(&"threads"));
}

#[test]
fn a_program_of_one_thread_waits_for_nobody() {
    let mut bytes = begun();
    add_load(&mut bytes, 0x10000, 0x20000);
    add_message(&mut bytes, "barrier");
    add_load(&mut bytes, 0x20000, 0);
    let (events, _) = imported(&ended(bytes, 0));
    assert_eq!(deps(&events), [0, 1]);
}

#[test]
fn files_that_are_no_threads_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = begun();
    add_load(&mut bytes, 0x1000, 0);
    let recording = file(&folder, "t", &ended(bytes, 0));
    let other = sample("din.din");
    let refused = |paths: &[&PathBuf]| import_threads(paths).unwrap_err().to_string();
    assert!(refused(&[&recording, &other]).contains("the first record is not `memwalk recording`"));
    assert!(
        refused(&[&recording, &PathBuf::from("-")])
            .contains("-: not a file; several threads need one for each")
    );
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&recording, &link).unwrap();
    for twice in [&recording, &link] {
        assert!(refused(&[&recording, twice]).contains(": given twice; each thread has a file"));
    }
    assert!(refused(&[&recording; 257]).contains("257 files: a program has up to 256 threads"));
}
