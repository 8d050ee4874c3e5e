//! What a program says of itself through Valgrind stands in the stream where it said it.

use super::*;

fn lackey(text: &str) -> (Vec<Event>, Report) {
    let text = format!("{text}==1== Exit code: 0\n");
    import_bytes(text.as_bytes(), options("lackey")).unwrap()
}

#[test]
fn segments_and_phases_get_their_names() {
    let (events, report) = lackey(concat!(
        "I  10,2\nI  12,2\n L 1000,4\n",
        "**7** memwalk phase build\n",
        "I  14,2\n S 2000,4\n",
        "**7** memwalk segment hash table 0x1000 4096\n",
        "I  16,2\n**7** memwalk phase probe\n",
        "I  18,2\n L 3000,8\n**7** memwalk phase build\nI  1a,2\n L 3000,8\n",
    ));
    let mark = |phase, instructions| Event {
        instructions,
        ..Event::new(Kind::Mark, phase)
    };
    let expected = [
        load(0x1000, 4, 1),
        mark(1, 0),
        store(0x2000, 4, 0),
        mark(2, 1),
        load(0x3000, 8, 0),
        mark(1, 0),
        load(0x3000, 8, 0),
    ];
    assert_eq!(without_sites(&events), expected);
    assert_eq!(report.layout.phases, ["imported", "build", "probe"]);
    let [segment] = &report.layout.segments[..] else {
        panic!("{:?}", report.layout.segments);
    };
    let named = (segment.name.as_str(), segment.base, segment.size_bytes);
    assert_eq!(named, ("hash table", 0x1000, 4096));
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
}

/// Valgrind has all threads in one stream, so that what is said to one is said to all.
#[test]
fn what_is_said_to_all_threads_is_said() {
    let said = |all: &str| {
        let (events, report) = lackey(&format!(
            "I  10,2\n L 1000,4\n**7** memwalk {all}phase probe\nI  12,2\n L 2000,4\n**7** memwalk {all}off\nI  14,2\n L 3000,4\n\
             **7** memwalk {all}on\nI  16,2\n L 4000,4\n",
        ));
        (events, report.layout.phases)
    };
    assert_eq!(said("all "), said(""));
    assert_eq!(said("all ").1, ["imported", "probe"]);
}

#[test]
fn what_is_switched_off_is_left_out() {
    let (events, report) = lackey(concat!(
        "I  10,2\n L 1000,4\nI  12,2\n**7** memwalk off\n",
        "I  14,2\n L 2000,4\n**7** memwalk phase probe\nI  16,2\n S 2000,4\n",
        "**7** memwalk on\nI  18,2\n L 3000,4\n",
    ));
    let expected = [
        load(0x1000, 4, 0),
        carrier(1),
        event(Kind::Mark, 1, 4, 0),
        load(0x3000, 4, 0),
    ];
    assert_eq!(without_sites(&events), expected);
    assert_eq!((report.tally.accesses, report.tally.left_out), (2, 2));
    assert_eq!(report.tally.listed_instructions, 3);
}

#[test]
fn a_trace_first_switched_on_begins_there() {
    let (events, report) = lackey(concat!(
        "I  10,2\n L 1000,4\n**7** memwalk phase probe\nI  12,2\n",
        "**7** memwalk on\nI  18,2\n L 3000,4\n**7** memwalk off\nI  1a,2\n L 3000,4\n",
    ));
    assert_eq!(
        without_sites(&events),
        [event(Kind::Mark, 1, 4, 0), load(0x3000, 4, 0)]
    );
    assert_eq!((report.tally.accesses, report.tally.left_out), (1, 2));
    assert_eq!(report.layout.sites, ["(unknown)", "0x18"]);
}

#[test]
fn names_that_overlap_are_told() {
    let (_, report) = lackey(concat!(
        " L 1000,4\n**7** memwalk segment a 4096 64\n",
        "**7** memwalk segment b 4128 64\n",
    ));
    let [warning] = &report.warnings[..] else {
        panic!("{:?}", report.warnings);
    };
    assert!(warning.contains("`b` at 0x1020 overlaps `a`"), "{warning}");
    let bases: Vec<_> = report.layout.segments.iter().map(|one| one.base).collect();
    assert_eq!(bases, [4096, 4160]);
}

#[test]
fn mistakes_are_shown_with_their_line() {
    for (message, expected) in [
        ("segment a 10", "t:2: a segment has a name"),
        ("segment a x 10", "`x` is not a 64-bit decimal number"),
        ("stop", "asked for `stop`, but knows `memwalk segment"),
        ("on now", "asked for `on now`"),
        ("all barrier", "asked for `all barrier`"),
    ] {
        let text = format!(" L 10,4\n**7** memwalk {message}\n");
        let refused = refusal(text.as_bytes(), "lackey");
        assert!(refused.contains(expected), "{refused}");
    }
    // The program's other messages are its own affair.
    let (_, report) = lackey(" L 10,4\n**7** memwalks are pleasant\n**7** hello\n");
    assert_eq!(report.tally.skipped, 3);
}

#[test]
fn a_name_that_is_cut_within_a_letter_ends_before_it() {
    let name = "ß".repeat(200);
    let mut text = b" L 10,4\n**7** memwalk phase ".to_vec();
    text.extend(&name.as_bytes()[..255]);
    text.extend(b"\n L 10,4\n==1== Exit code: 0\n");
    let (_, report) = import_bytes(&text, options("lackey")).unwrap();
    assert_eq!(report.layout.phases, ["imported", &"ß".repeat(127)]);
    assert_eq!(report.warnings, [""; 0]);
}

#[test]
fn names_that_cannot_be_given_are_passed_over() {
    for (message, expected) in [
        ("segment a 0x10 0", "a segment of 0 bytes"),
        ("segment (none) 0x10 4", "`(none)` is what results call"),
        ("phase", "the name is missing"),
    ] {
        let (events, report) = lackey(&format!(" L 10,4\n**7** memwalk {message}\n"));
        assert_eq!(events.len(), 1);
        let [warning] = &report.warnings[..] else {
            panic!("{:?}", report.warnings);
        };
        let begin = format!("`{message}` is passed over: ");
        assert!(
            warning.starts_with(&begin) && warning.contains(expected),
            "{warning}"
        );
    }
    let phases: String = (0..5000)
        .map(|phase| format!("**7** memwalk phase {phase}\n L 10,4\n"))
        .collect();
    let (_, report) = lackey(&phases);
    assert_eq!(report.tally.accesses, 5000);
    assert!(
        report.warnings[0].contains("more than 4096 phases"),
        "{:?}",
        report.warnings
    );
}
