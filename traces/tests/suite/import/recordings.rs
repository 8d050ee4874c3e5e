//! What memwalk's own recorder writes: dependences through pointers, messages, and what is wrong with a file.

use super::*;
use proptest::prelude::*;

const LOAD: u64 = 1;
const EXCHANGE: u64 = 3;
const LOADS: u64 = 4;
const MESSAGE: u64 = 6;
const END: u64 = 7;
const LATCH: u64 = 8;
const SHARE_LATCH: u64 = 9;
const UNLATCH: u64 = 10;
const BLOCK: u64 = 11;
const BEGIN: u64 = 12;
const AWAIT: u64 = 13;
const THREAD: u64 = 14;
const MEET: u64 = 15;

/// The beginning of a recording.
fn begun() -> Vec<u8> {
    let mut bytes = b"memwalk recording 1\n".to_vec();
    bytes.resize(24, 0);
    bytes
}

fn add(bytes: &mut Vec<u8>, address: u64, value: u64, place: u64) {
    for number in [address, value, place] {
        bytes.extend(number.to_le_bytes());
    }
}

/// A load of 8 bytes, which reads `value`.
fn add_load(bytes: &mut Vec<u8>, address: u64, value: u64) {
    add(bytes, address, value, LOAD << 56 | 8 << 48);
}

fn add_message(bytes: &mut Vec<u8>, text: &str) {
    add(bytes, 0, text.len() as u64, MESSAGE << 56);
    bytes.extend(text.as_bytes());
    bytes.resize(bytes.len().next_multiple_of(24), 0);
}

/// A basic block at a place in the code, which runs with the stack pointer at `stack`.
fn add_block(bytes: &mut Vec<u8>, place: u64, stack: u64, is_entry: bool) {
    add(bytes, stack, u64::from(is_entry), BLOCK << 56 | place);
}

fn ended(mut bytes: Vec<u8>, others: u64) -> Vec<u8> {
    let records = bytes.len() as u64 / 24;
    add(&mut bytes, records, others, END << 56);
    bytes
}

fn imported(bytes: &[u8]) -> (Vec<Event>, Report) {
    import_bytes(bytes, options("recording")).unwrap()
}

/// How far back the event stands that each one needs.
fn deps(events: &[Event]) -> Vec<u32> {
    events.iter().map(|event| event.dep).collect()
}

#[test]
fn a_walk_along_a_list_waits_for_each_node() {
    let mut bytes = begun();
    let node = |number: u64| 0x7f00_0000_0000 + number * 77 % 1000 * 4096;
    for number in 0..5000 {
        add_load(&mut bytes, node(number) + 8, 1 << 20);
        add_load(&mut bytes, node(number), node(number + 1));
    }
    let (events, report) = imported(&ended(bytes, 0));
    assert_eq!(events.len(), 10_000);
    assert_eq!(deps(&events[..6]), [0, 0, 1, 2, 1, 2]);
    assert_eq!(deps(&events[9_996..]), [1, 2, 1, 2], "from batch to batch");
    assert_eq!(report.warnings, [""; 0]);
    assert!(!report.lost.contains(&"dependences"));
}

#[test]
fn what_the_trace_leaves_out_brings_no_pointer() {
    let mut bytes = begun();
    add_load(&mut bytes, 0x10000, 0x20000);
    add_message(&mut bytes, "on");
    add_load(&mut bytes, 0x20008, 0x30000);
    add_message(&mut bytes, "off");
    add_load(&mut bytes, 0x10000, 0x30000);
    add_message(&mut bytes, "on");
    add_load(&mut bytes, 0x30000, 0);
    let (events, report) = imported(&ended(bytes, 0));
    assert_eq!(deps(&events), [0, 1]);
    assert_eq!(report.tally.left_out, 2);
}

#[test]
fn the_program_names_segments_and_phases() {
    let mut bytes = begun();
    let name = "a name that is longer than one record".to_owned();
    add_message(&mut bytes, &format!("segment {name} 0x1000 64"));
    add_message(&mut bytes, "phase probe");
    add_load(&mut bytes, 0x1008, 0);
    let (_, report) = imported(&ended(bytes, 0));
    assert_eq!(report.layout.segments[0].name, name);
    assert_eq!(report.layout.phases, ["imported", "probe"]);
}

#[test]
fn a_block_that_two_follow_ends_in_a_branch() {
    let mut bytes = begun();
    add_block(&mut bytes, 0x100, 900, true);
    for turn in 0..4 {
        add_block(&mut bytes, 0x110, 900, false);
        add_load(&mut bytes, 0x10000, 5);
        // What it calls is no block that follows it.
        add_block(&mut bytes, 0x200, 800, true);
        if turn == 3 {
            add_block(&mut bytes, 0x120, 900, false);
        }
    }
    add_load(&mut bytes, 0x10008, 5);
    let (events, report) = imported(&ended(bytes, 0));
    let branches: Vec<_> = events
        .iter()
        .filter(|event| event.kind == Kind::Branch)
        .collect();
    // The loop's end is the first time that its block has another behind it.
    assert_eq!(branches.len(), 1);
    assert_eq!((branches[0].address, branches[0].dep), (1, 1));
    assert_eq!(
        report.layout.sites[usize::from(branches[0].site)],
        "0x110",
        "it is told by the block that it ends"
    );
    assert_eq!((report.tally.branches, report.tally.accesses), (1, 5));
    assert!(!report.lost.contains(&"branch outcomes"));
    assert!(report.lost.contains(&"instructions without an access"));
}

#[test]
fn branches_are_among_the_instructions_that_are_counted() {
    let mut bytes = begun();
    add_block(&mut bytes, 0x100, 900, true);
    for turn in 0..1000 {
        add_block(&mut bytes, 0x110, 900, false);
        add_load(&mut bytes, 0x10000, 5);
        add_block(&mut bytes, 0x120 + turn % 2, 900, false);
    }
    let assumed = Options {
        instructions_per_access: Some(3.5),
        ..options("recording")
    };
    let (events, report) = import_bytes(&ended(bytes, 0), assumed).unwrap();
    assert!(report.tally.branches > 900);
    let instructions: u64 = events
        .iter()
        .map(|event| u64::from(event.instructions) + event.own_instructions())
        .sum();
    assert!(
        instructions.abs_diff(3500) <= 1,
        "{instructions} of 1000 accesses"
    );
}

#[test]
fn blocks_have_the_instructions_that_the_program_says() {
    let mut bytes = begun();
    add_block(&mut bytes, 0x100, 900, true);
    for turn in 0..1000 {
        add_block(&mut bytes, 0x110, 900, false);
        add_load(&mut bytes, 0x10000, 5);
        add_load(&mut bytes, 0x10008, 5);
        add_block(&mut bytes, 0x120 + turn % 2, 900, false);
    }
    let with = |blocks| Options {
        blocks: Some(blocks),
        ..options("recording")
    };
    let bytes = ended(bytes, 0);
    let (events, report) = import_bytes(&bytes, with(vec![(0x110, 10), (0x120, 2)])).unwrap();
    let instructions: u64 = events
        .iter()
        .map(|event| u64::from(event.instructions) + event.own_instructions())
        .sum();
    assert_eq!(report.tally.listed_instructions, 11_000);
    assert!(
        instructions.abs_diff(11_000) <= 3,
        "{instructions}: accesses and branches are among them"
    );
    assert_eq!(report.tally.unknown_blocks, 501);
    assert!(report.warnings[0].contains("501 times a basic block ran that is not in the program"));
    assert!(
        !report
            .lost
            .iter()
            .any(|lost| lost.starts_with("instructions"))
    );
    let refused = import_bytes(&bytes, with(vec![(0x999, 10)])).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("tells of no basic block that is in the program")
    );
}

#[test]
fn branches_are_left_out_with_what_is_around_them() {
    let mut bytes = begun();
    for message in ["off", "on"] {
        add_message(&mut bytes, message);
        add_block(&mut bytes, 0x100, 900, true);
        for turn in 0..10 {
            add_block(&mut bytes, 0x110, 900, false);
            add_load(&mut bytes, 0x10000, 5);
            add_block(&mut bytes, 0x120 + turn % 2, 900, false);
        }
    }
    let (_, report) = imported(&ended(bytes, 0));
    // What has followed a block is known from before.
    assert_eq!((report.tally.branches, report.tally.accesses), (10, 10));
}

#[test]
fn what_is_missing_is_told() {
    let mut bytes = begun();
    add_load(&mut bytes, 0x1008, 0);
    let (_, report) = imported(&bytes);
    assert!(
        report.warnings[0].contains("no record says that the program has ended"),
        "{:?}",
        report.warnings
    );
    let (_, report) = imported(&ended(bytes, 12));
    assert!(
        report.warnings[0].contains("12 accesses of other threads"),
        "{:?}",
        report.warnings
    );
}

#[test]
fn wrong_recordings_are_refused() {
    let with = |address, value, place: u64| {
        let mut bytes = begun();
        add(&mut bytes, address, value, place);
        bytes
    };
    let mut version = begun();
    version[18] = b'2';
    let mut message = begun();
    add_message(&mut message, "a fish");
    let mut behind = ended(begun(), 0);
    add_load(&mut behind, 0x1000, 0);
    let mut within = begun();
    add(&mut within, 0, 30, MESSAGE << 56);
    for (bytes, expected) in [
        (vec![0; 48], "the first record is not `memwalk recording`"),
        (version, "another version"),
        (with(0, 0, 99 << 56), "unknown kind 99"),
        (with(900, 0, BLOCK << 56), "a block without a place"),
        (with(0x1000, 0, LOAD << 56), "an access of 0 bytes"),
        (with(0x1000, 65_537, LOADS << 56), "a range of 65537 bytes"),
        (with(TOP - 3, 5, LOADS << 56), "a range of 5 bytes"),
        (with(0, 1025, MESSAGE << 56), "a message of 1025 bytes"),
        (
            with(9, 0, END << 56),
            "1 records stand before the end, which says 9",
        ),
        (message, "memwalk is asked for `a fish`"),
        (behind, "a record behind the end"),
        (within, "it ends within a message"),
        (begun()[..20].to_vec(), "20 bytes instead of 24"),
    ] {
        let message = refusal(&bytes, "recording");
        assert!(message.contains(expected), "{message}");
    }
}

/// A recording in a file, for imports of several.
fn file(folder: &tempfile::TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The events of each thread.
fn import_threads(paths: &[&PathBuf]) -> Result<(Vec<Vec<Event>>, Report), ImportError> {
    let paths: Vec<_> = paths.iter().map(|path| path.as_path()).collect();
    let threads = Threads::open(&paths, options("auto"))?;
    assert_eq!(threads.info().threads as usize, paths.len());
    let mut events = vec![Vec::new(); paths.len()];
    let report = threads.run(&mut |thread, more| {
        events[thread].extend_from_slice(more);
        Ok(())
    })?;
    Ok((events, report))
}

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

/// A lock is taken, as the recorder says it: `kind` is how.
fn add_taken(bytes: &mut Vec<u8>, kind: u64, lock: u64) {
    for (kind, size) in [(kind, 0), (EXCHANGE, 4)] {
        add(bytes, lock, 0, kind << 56 | size << 48 | 0x401);
    }
}

fn add_released(bytes: &mut Vec<u8>, lock: u64) {
    for (kind, size) in [(EXCHANGE, 4), (UNLATCH, 0)] {
        add(bytes, lock, 0, kind << 56 | size << 48 | 0x402);
    }
}

/// Kinds and addresses of a program's events, by thread.
fn threads_of(recordings: &[Vec<u8>]) -> (Vec<Vec<(Kind, u64)>>, Report) {
    let folder = tempfile::tempdir().unwrap();
    let files = recordings
        .iter()
        .enumerate()
        .map(|(thread, bytes)| file(&folder, &format!("t.{thread}"), &ended(bytes.clone(), 0)));
    let files: Vec<_> = files.collect();
    let (events, report) = import_threads(&files.iter().collect::<Vec<_>>()).unwrap();
    let told = |events: Vec<Event>| {
        let told = events.iter().map(|event| (event.kind, event.address));
        told.collect()
    };
    (events.into_iter().map(told).collect(), report)
}

/// The same without accesses, of a program whose second thread does nothing.
fn latches_of(thread: &[u8]) -> (Vec<(Kind, u64)>, Vec<String>) {
    let (mut threads, report) = threads_of(&[thread.to_vec(), begun()]);
    threads[0].retain(|(kind, _)| !kind.is_access());
    (threads.swap_remove(0), report.warnings)
}

const A: u64 = 0x11000;
const B: u64 = 0x12000;

#[test]
fn a_thread_holds_many_locks_and_not_any_number() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = begun();
    for lock in 0..1024 {
        add_taken(&mut bytes, LATCH, A + 64 * lock);
    }
    let other = file(&folder, "other", &ended(begun(), 0));
    let thread = file(&folder, "all", &ended(bytes.clone(), 0));
    import_threads(&[&thread, &other]).unwrap();
    add_taken(&mut bytes, LATCH, A - 64);
    let thread = file(&folder, "more", &ended(bytes, 0));
    let refused = import_threads(&[&thread, &other]).unwrap_err().to_string();
    assert!(
        refused.contains("takes the lock at 0x10fc0 and holds 1024 others"),
        "{refused}"
    );
}

#[test]
fn locks_are_latches_between_threads() {
    let mut bytes = begun();
    add_load(&mut bytes, 0x500, A - 8);
    add_taken(&mut bytes, LATCH, A);
    add_load(&mut bytes, 0x5000, 0);
    add_released(&mut bytes, A);
    add_taken(&mut bytes, SHARE_LATCH, B);
    add_released(&mut bytes, B);
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "t", &ended(bytes.clone(), 0));
    let other = file(&folder, "t.1", &ended(begun(), 0));
    let (events, report) = import_threads(&[&path, &other]).unwrap();
    let told: Vec<_> = events[0]
        .iter()
        .map(|event| (event.kind, event.address))
        .collect();
    assert_eq!(
        told,
        [
            (Kind::Load, 0x500),
            (Kind::Latch, A),
            (Kind::Exchange, A),
            (Kind::Load, 0x5000),
            (Kind::Exchange, A),
            (Kind::Unlatch, A),
            (Kind::ShareLatch, B),
            (Kind::Exchange, B),
            (Kind::Exchange, B),
            (Kind::Unlatch, B),
        ]
    );
    assert_eq!(
        deps(&events[0][..5]),
        [0, 1, 2, 0, 4],
        "the lock's place is known when the pointer to it is"
    );
    let sites = |event: &Event| report.layout.sites[usize::from(event.site)].clone();
    assert_eq!(sites(&events[0][1]), "0x401", "who waits is known");
    assert_eq!(report.tally.accesses, 6);
    // Nobody waits for a program of one thread.
    let (alone, _) = imported(&ended(bytes, 0));
    assert_eq!(alone.len(), 6);
    assert!(alone.iter().all(|event| event.kind.is_access()));
}

#[test]
fn a_lock_that_its_holder_takes_again_is_one_latch() {
    let mut bytes = begun();
    add_taken(&mut bytes, LATCH, A);
    add_taken(&mut bytes, LATCH, A);
    add_released(&mut bytes, A);
    add_load(&mut bytes, 0x5000, 0);
    add_released(&mut bytes, A);
    let (threads, _) = threads_of(&[bytes, begun()]);
    let kinds: Vec<_> = threads[0].iter().map(|&(kind, _)| kind).collect();
    let exchange = Kind::Exchange;
    assert_eq!(
        kinds,
        [
            Kind::Latch,
            exchange,
            exchange,
            exchange,
            Kind::Load,
            exchange,
            Kind::Unlatch
        ]
    );
}

#[test]
fn a_lock_that_was_never_taken_is_not_released() {
    let mut bytes = begun();
    add_released(&mut bytes, A);
    assert_eq!(latches_of(&bytes), (vec![], vec![]));
}

#[test]
fn a_lock_that_is_never_released_is_at_the_end() {
    let mut bytes = begun();
    add_taken(&mut bytes, LATCH, A);
    let (told, warnings) = latches_of(&bytes);
    assert_eq!(told, [(Kind::Latch, A), (Kind::Unlatch, A)]);
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}");
    };
    assert!(
        warning.starts_with("a thread holds 1 locks when its recording ends, that at 0x11000"),
        "{warning}"
    );
}

/// What is left out takes no latch; what is held when that is over does.
#[test]
fn latches_are_held_where_the_program_is_recorded() {
    let mut bytes = begun();
    add_message(&mut bytes, "on");
    add_taken(&mut bytes, LATCH, A);
    add_message(&mut bytes, "off");
    add_released(&mut bytes, A);
    add_taken(&mut bytes, LATCH, B);
    add_message(&mut bytes, "on");
    add_released(&mut bytes, B);
    add_message(&mut bytes, "off");
    add_taken(&mut bytes, LATCH, A);
    add_released(&mut bytes, A);
    let all = [
        (Kind::Latch, A),
        (Kind::Unlatch, A),
        (Kind::Latch, B),
        (Kind::Unlatch, B),
    ];
    assert_eq!(latches_of(&bytes), (all.to_vec(), vec![]));

    let mut late = begun();
    add_taken(&mut late, SHARE_LATCH, A);
    add_load(&mut late, 0x5000, 0);
    add_message(&mut late, "on");
    add_released(&mut late, A);
    let all = [(Kind::ShareLatch, A), (Kind::Unlatch, A)];
    assert_eq!(latches_of(&late), (all.to_vec(), vec![]));
}

/// Others may want it before they come to theirs.
#[test]
fn at_a_barrier_nothing_is_held() {
    let mut bytes = begun();
    add_taken(&mut bytes, SHARE_LATCH, A);
    add_message(&mut bytes, "barrier");
    add_released(&mut bytes, A);
    let mut other = begun();
    add_message(&mut other, "barrier");
    let (threads, _) = threads_of(&[bytes, other]);
    let (share, exchange) = ((Kind::ShareLatch, A), (Kind::Exchange, A));
    let unlatch = (Kind::Unlatch, A);
    let barrier = (Kind::Barrier, 0);
    assert_eq!(
        threads[0],
        [share, exchange, unlatch, barrier, share, exchange, unlatch]
    );
}

/// In two orders they would wait for each other for ever, if both had the first at the same time.
#[test]
fn of_locks_in_two_orders_one_is_given_up() {
    let nested = |outer, inner| {
        let mut bytes = begun();
        add_taken(&mut bytes, SHARE_LATCH, outer);
        add_taken(&mut bytes, LATCH, inner);
        add_released(&mut bytes, inner);
        add_released(&mut bytes, outer);
        bytes
    };
    let latches = |threads: &[Vec<(Kind, u64)>], thread: usize| {
        let all = threads[thread].iter().copied();
        all.filter(|(kind, _)| kind.is_of_latch())
            .collect::<Vec<_>>()
    };
    let plain = |outer, inner| {
        [
            (Kind::ShareLatch, outer),
            (Kind::Latch, inner),
            (Kind::Unlatch, inner),
            (Kind::Unlatch, outer),
        ]
    };
    let (threads, report) = threads_of(&[nested(A, B), nested(B, A)]);
    assert_eq!(latches(&threads, 0), plain(A, B));
    assert_eq!(
        latches(&threads, 1),
        [
            (Kind::ShareLatch, B),
            (Kind::Unlatch, B),
            (Kind::Latch, A),
            (Kind::ShareLatch, B),
            (Kind::Unlatch, A),
            (Kind::Unlatch, B),
        ]
    );
    let [warning] = &report.warnings[..] else {
        panic!("{:?}", report.warnings);
    };
    assert!(
        warning.starts_with("2 locks are taken in several orders, that at 0x11000 among them"),
        "{warning}"
    );
    // What is left out is no reason.
    let mut left_out = nested(A, B);
    add_message(&mut left_out, "on");
    let (threads, report) = threads_of(&[left_out, nested(B, A)]);
    assert_eq!(latches(&threads, 1), plain(B, A));
    assert_eq!(report.warnings, [""; 0]);
}

/// A record of a thread: what it is called, or that it begins another or waits for its end.
fn add_thread(bytes: &mut Vec<u8>, kind: u64, name: u64) {
    add(bytes, 0, name, kind << 56 | u64::from(kind != THREAD));
}

/// A recording that begins with what the thread is called.
fn begun_as(name: u64) -> Vec<u8> {
    let mut bytes = begun();
    add_thread(&mut bytes, THREAD, name);
    bytes
}

/// The latches of a thread's beginning and end.
fn life(thread: u64) -> (u64, u64) {
    (u64::MAX - 2 * thread, u64::MAX - 2 * thread - 1)
}

fn waits(latch: u64) -> [(Kind, u64); 2] {
    [(Kind::ShareLatch, latch), (Kind::Unlatch, latch)]
}

#[test]
fn a_thread_begins_when_another_begins_it_and_is_waited_for() {
    let mut first = begun_as(100);
    add_load(&mut first, 0x500, 0);
    add_thread(&mut first, BEGIN, 200);
    add_taken(&mut first, LATCH, A);
    add_thread(&mut first, AWAIT, 200);
    add_load(&mut first, 0x508, 0);
    let mut second = begun_as(200);
    add_load(&mut second, 0x600, 0);
    let (threads, report) = threads_of(&[first, second]);
    let (beginning, end) = life(1);
    let mut expected = vec![
        (Kind::Latch, beginning),
        (Kind::Barrier, 0),
        (Kind::Load, 0x500),
        (Kind::Unlatch, beginning),
        (Kind::Latch, A),
        (Kind::Exchange, A),
        // The other may want what this one holds.
        (Kind::Unlatch, A),
    ];
    expected.extend(waits(end));
    expected.extend([(Kind::Latch, A), (Kind::Load, 0x508), (Kind::Unlatch, A)]);
    assert_eq!(threads[0], expected);
    let mut expected = vec![(Kind::Latch, end), (Kind::Barrier, 0), (Kind::Mark, 1)];
    expected.extend(waits(beginning));
    expected.extend([(Kind::Mark, 0), (Kind::Load, 0x600), (Kind::Unlatch, end)]);
    assert_eq!(threads[1], expected);
    assert_eq!(report.layout.phases, ["imported", "not begun"]);
}

#[test]
fn threads_that_are_called_alike_are_begun_in_their_order() {
    let mut first = begun_as(100);
    for place in [0x500, 0x508] {
        add_thread(&mut first, BEGIN, 200);
        add_load(&mut first, place, 0);
        add_thread(&mut first, AWAIT, 200);
    }
    let (threads, _) = threads_of(&[first, begun_as(200), begun_as(200)]);
    let ((one, one_ends), (other, other_ends)) = (life(1), life(2));
    let mut expected = vec![(Kind::Latch, one), (Kind::Latch, other), (Kind::Barrier, 0)];
    expected.extend([(Kind::Unlatch, one), (Kind::Load, 0x500)]);
    expected.extend(waits(one_ends));
    expected.extend([(Kind::Unlatch, other), (Kind::Load, 0x508)]);
    expected.extend(waits(other_ends));
    assert_eq!(threads[0], expected);
}

#[test]
fn a_thread_that_is_left_out_begins_others_nevertheless() {
    let mut first = begun_as(100);
    add_message(&mut first, "off");
    add_thread(&mut first, BEGIN, 200);
    add_message(&mut first, "on");
    add_load(&mut first, 0x500, 0);
    // Of this one there is no recording.
    add_thread(&mut first, BEGIN, 300);
    add_thread(&mut first, AWAIT, 300);
    let (threads, _) = threads_of(&[first, begun_as(200)]);
    let (beginning, _) = life(1);
    let expected = [
        (Kind::Latch, beginning),
        (Kind::Barrier, 0),
        (Kind::Unlatch, beginning),
        (Kind::Load, 0x500),
    ];
    assert_eq!(threads[0], expected);
}

#[test]
fn all_have_begun_when_a_thread_waits_for_all() {
    let mut first = begun_as(100);
    add_message(&mut first, "barrier");
    add_thread(&mut first, BEGIN, 200);
    add_load(&mut first, 0x500, 0);
    let mut second = begun_as(200);
    add_message(&mut second, "barrier");
    let (threads, _) = threads_of(&[first, second]);
    let (beginning, _) = life(1);
    let expected = [
        (Kind::Latch, beginning),
        (Kind::Barrier, 0),
        (Kind::Unlatch, beginning),
        (Kind::Barrier, 0),
        (Kind::Load, 0x500),
    ];
    assert_eq!(threads[0], expected);
}

#[test]
fn who_is_said_to_begin_himself_or_never_to_begin_begins_at_once() {
    let mut first = begun_as(100);
    add_thread(&mut first, BEGIN, 100);
    add_load(&mut first, 0x500, 0);
    add_thread(&mut first, AWAIT, 100);
    let (threads, _) = threads_of(&[first, begun_as(200)]);
    assert_eq!(threads, [vec![(Kind::Load, 0x500)], vec![]]);
}

/// The latch of a thread at a barrier, the first of the program, for the next time.
fn meeting(thread: u64, round: u64) -> u64 {
    (1 << 63) + thread * 3 + round % 3
}

/// A thread that loads something, and comes to a barrier so often.
fn meets(times: u64) -> Vec<u8> {
    let mut bytes = begun();
    add_load(&mut bytes, 0x500, 0);
    for _ in 0..times {
        add(&mut bytes, A, 0, MEET << 56 | 0x403);
    }
    bytes
}

const LOADED: (Kind, u64) = (Kind::Load, 0x500);
const MET: (Kind, u64) = (Kind::Barrier, 0);

#[test]
fn threads_wait_for_those_that_come_to_their_barrier() {
    let (threads, report) = threads_of(&[meets(0), meets(2), meets(2)]);
    assert_eq!(report.warnings, [""; 0]);
    assert_eq!(threads[0], [MET, LOADED]);
    for (own, other) in [(1, 2), (2, 1)] {
        let mut expected = vec![(Kind::Latch, meeting(own, 0)), MET, LOADED];
        for round in 0..2 {
            expected.push((Kind::Latch, meeting(own, round + 1)));
            expected.push((Kind::Unlatch, meeting(own, round)));
            expected.extend(waits(meeting(other, round)));
        }
        expected.push((Kind::Unlatch, meeting(own, 2)));
        assert_eq!(threads[own as usize], expected);
    }
    let (threads, _) = threads_of(&[meets(2), meets(2)]);
    assert_eq!(threads, [[LOADED, MET, MET]; 2], "all threads");
    let (threads, report) = threads_of(&[meets(2), meets(1)]);
    assert_eq!(threads, [[LOADED]; 2]);
    assert!(
        report.warnings[0].contains("nobody waits at 1 barriers, that at 0x11000 among them"),
        "{:?}",
        report.warnings
    );
}

#[test]
fn who_never_says_barrier_is_not_waited_for() {
    let mut bytes = begun();
    add_message(&mut bytes, "barrier");
    let (threads, _) = threads_of(&[meets(0), bytes.clone(), bytes]);
    assert_eq!(threads[0], [MET, LOADED], "before all begin");
    let mut expected = vec![(Kind::Latch, meeting(1, 0)), MET];
    expected.extend([(Kind::Latch, meeting(1, 1)), (Kind::Unlatch, meeting(1, 0))]);
    expected.extend(waits(meeting(2, 0)));
    expected.push((Kind::Unlatch, meeting(1, 1)));
    assert_eq!(threads[1], expected);
}

#[test]
fn at_a_barrier_a_thread_holds_no_lock() {
    let mut first = begun();
    add_taken(&mut first, LATCH, A);
    add(&mut first, B, 0, MEET << 56);
    let mut other = begun();
    add(&mut other, B, 0, MEET << 56);
    let (threads, _) = threads_of(&[first, other]);
    let expected = [
        (Kind::Latch, A),
        (Kind::Exchange, A),
        (Kind::Unlatch, A),
        (Kind::Barrier, 0),
        (Kind::Latch, A),
        (Kind::Unlatch, A),
    ];
    assert_eq!(threads[0], expected);
}

/// What a thread of a random program does.
#[derive(Clone, Debug)]
enum Deed {
    Take(u64, u64),
    Release(u64),
    Say(&'static str),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let lock = || (1_u64..5).prop_map(|number| number << 12);
    let deed = prop_oneof![
        4 => (prop::sample::select(&[LATCH, SHARE_LATCH][..]), lock())
            .prop_map(|(kind, lock)| Deed::Take(kind, lock)),
        3 => lock().prop_map(Deed::Release),
        1 => prop::sample::select(&["on", "off", "barrier"][..]).prop_map(Deed::Say),
    ];
    prop::collection::vec(deed, 0..25)
}

/// Whether all threads come to their ends if each step is that of a thread which `choices` name, of those that can go on.
fn all_end(threads: &[Vec<(Kind, u64)>], choices: &[usize]) -> bool {
    let mut next = vec![0; threads.len()];
    // Who holds which latch, and whether alone.
    let mut held: Vec<(u64, usize, bool)> = Vec::new();
    let mut choices = choices.iter().cycle();
    loop {
        let at = |thread: usize| threads[thread].get(next[thread]).copied();
        let barriers = |thread: usize| matches!(at(thread), Some((Kind::Barrier, _)));
        let free = |thread: usize| match at(thread) {
            None => false,
            Some((Kind::Barrier, _)) => (0..threads.len()).all(barriers),
            Some((kind, lock)) if kind.wants_latch() => held.iter().all(|&(of, by, alone)| {
                of != lock || by == thread || !alone && kind == Kind::ShareLatch
            }),
            Some(_) => true,
        };
        let free: Vec<_> = (0..threads.len()).filter(|&thread| free(thread)).collect();
        if free.is_empty() {
            return (0..threads.len()).all(|thread| at(thread).is_none());
        }
        let thread = free[choices.next().unwrap() % free.len()];
        match at(thread) {
            Some((Kind::Barrier, _)) => next.iter_mut().for_each(|next| *next += 1),
            Some((kind, lock)) => {
                if kind.wants_latch() {
                    held.push((lock, thread, kind == Kind::Latch));
                } else if kind == Kind::Unlatch {
                    held.retain(|&(of, by, _)| (of, by) != (lock, thread));
                }
                next[thread] += 1;
            }
            None => unreachable!("it can go on"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn no_thread_waits_for_ever(
        program in prop::collection::vec(deeds(), 2..5),
        choices in prop::collection::vec(0_usize..12, 1..50),
    ) {
        let record = |deeds: &Vec<Deed>| {
            let mut bytes = begun();
            for deed in deeds {
                match *deed {
                    Deed::Take(kind, lock) => add_taken(&mut bytes, kind, lock),
                    Deed::Release(lock) => add_released(&mut bytes, lock),
                    Deed::Say(what) => add_message(&mut bytes, what),
                }
            }
            // A trace has an access.
            add_message(&mut bytes, "on");
            add_load(&mut bytes, 0x5000, 0);
            bytes
        };
        let (mut threads, _) = threads_of(&program.iter().map(record).collect::<Vec<_>>());
        // All come to as many barriers.
        let barrier = (Kind::Barrier, 0);
        let count = |events: &Vec<_>| events.iter().filter(|&&event| event == barrier).count();
        let most = threads.iter().map(count).max().unwrap_or(0);
        for events in &mut threads {
            events.extend(vec![barrier; most - count(events)]);
        }
        prop_assert!(all_end(&threads, &choices), "{threads:?}");
    }
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
    assert!(refused(&[&recording; 257]).contains("257 files: a program has up to 256 threads"));
}
