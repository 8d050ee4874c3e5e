//! Dependences through pointers, branches, instructions, messages, and what is wrong with a file.

use super::*;

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
fn a_copy_goes_vector_by_vector() {
    let mut bytes = begun();
    add(&mut bytes, 0x1000, 0x2000, COPY << 56 | 80 << 48 | 0x405);
    let (events, report) = imported(&ended(bytes, 0));
    let copied = events
        .iter()
        .map(|event| (event.kind, event.address, event.size));
    let expected = [
        (Kind::Load, 0x1000, 32),
        (Kind::Store, 0x2000, 32),
        (Kind::Load, 0x1020, 32),
        (Kind::Store, 0x2020, 32),
        (Kind::Load, 0x1040, 16),
        (Kind::Store, 0x2040, 16),
    ];
    assert_eq!(copied.collect::<Vec<_>>(), expected);
    assert_eq!(report.warnings, [""; 0]);
}

#[test]
fn recordings_of_the_first_version_are_read() {
    let mut bytes = begun();
    bytes[18] = b'1';
    add_load(&mut bytes, 0x1000, 0);
    let (events, report) = imported(&ended(bytes, 0));
    assert_eq!((events.len(), report.warnings), (1, Vec::new()));
}

#[test]
fn a_wrong_message_is_shown_as_it_stands() {
    let mut bytes = begun();
    add_message(&mut bytes, "stop the recording of this program");
    let refused = refusal(&bytes, "recording");
    assert!(
        refused.contains("`stop the recording of this program`"),
        "{refused}"
    );
}

#[test]
fn signal_handlers_that_interrupt_the_recorder_are_told() {
    let mut bytes = begun();
    add_load(&mut bytes, 0x1000, 0);
    let records = bytes.len() as u64 / 24;
    add(&mut bytes, records, 0, END << 56 | 3);
    let (_, report) = imported(&bytes);
    assert!(
        report.warnings[0].starts_with("3 accesses of signal handlers"),
        "{:?}",
        report.warnings
    );
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
        report.warnings[0].contains("12 accesses of threads that are not recorded"),
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
    version[18] = b'3';
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
