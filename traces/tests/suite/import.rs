//! Each format by a small sample, with the events worked out by hand; and what stands in the way of an import.

use std::io::Cursor;
use std::path::PathBuf;
use traces::gem5::{MessageWriter, Packet, PacketHeader, command};
use traces::import::{Format, Import, ImportError, Instructions, Options, Report};
use traces::{Counter, Event, Kind, Segment};

const TOP: u64 = u64::MAX;
const HALF: u64 = 1 << 63;

fn sample(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "samples", "import", name]
        .iter()
        .collect()
}

fn options(format: &str) -> Options {
    Options {
        format: format.to_owned(),
        ..Options::default()
    }
}

fn run(import: Result<Import, ImportError>) -> Result<(Vec<Event>, Report), ImportError> {
    let mut events = Vec::new();
    let report = import?.run(&mut events)?;
    Ok((events, report))
}

fn import_sample(name: &str, options: Options) -> (Vec<Event>, Report) {
    run(Import::open(&sample(name), options)).unwrap()
}

fn import_bytes(bytes: &[u8], options: Options) -> Result<(Vec<Event>, Report), ImportError> {
    let source = Box::new(Cursor::new(bytes.to_vec()));
    run(Import::from_reader("t", source, options))
}

#[track_caller]
fn refusal(bytes: &[u8], format: &str) -> String {
    let message = import_bytes(bytes, options(format))
        .unwrap_err()
        .to_string();
    assert!(!message.contains('\n'), "more than one line: {message}");
    message
}

/// An event after so many plain instructions.
fn event(kind: Kind, address: u64, size: u16, instructions: u16) -> Event {
    Event {
        size,
        instructions,
        ..Event::new(kind, address)
    }
}

fn load(address: u64, size: u16, instructions: u16) -> Event {
    event(Kind::Load, address, size, instructions)
}

fn store(address: u64, size: u16, instructions: u16) -> Event {
    event(Kind::Store, address, size, instructions)
}

fn branch(taken: bool, instructions: u16) -> Event {
    event(Kind::Branch, u64::from(taken), 4, instructions)
}

/// What carries the instructions behind the last access, or more than fit.
fn carrier(instructions: u16) -> Event {
    event(Kind::Mark, 0, 4, instructions)
}

/// Every sample, with the options it needs and the events it stands for.
fn golden() -> Vec<(&'static str, Options, Vec<Event>)> {
    let bare = vec![load(4096, 1, 0), load(HALF, 1, 0), load(TOP, 1, 0)];
    let champsim = vec![
        load(0x1000, 1, 1),
        load(0x2000, 1, 0),
        store(HALF, 1, 0),
        // Two of the three accesses are one instruction too many; what follows pays for them.
        branch(true, 0),
        store(TOP, 1, 0),
        branch(false, 0),
    ];
    let regex = Options {
        pattern: Some(
            r"(?P<kind>READ|WRITE)\s+addr=(?P<hex_address>[0-9a-f]+) len=(?P<size>\d+)".to_owned(),
        ),
        ..options("regex")
    };
    vec![
        (
            "lackey.txt",
            options("lackey"),
            vec![
                load(0x1ffefffe78, 8, 1),
                load(0x04032440, 4, 0),
                store(0x04032440, 4, 0),
                store(HALF, 16, 0),
                load(0xffff_ffff_ffff_fffc, 4, 0),
            ],
        ),
        (
            "din.din",
            options("din"),
            vec![load(0x1ffe4, 4, 0), store(HALF, 4, 0), load(TOP - 3, 4, 0)],
        ),
        (
            "dinero.txt",
            options("dinero"),
            vec![
                load(0x1ffe7, 8, 0),
                store(HALF, 0x40, 0),
                load(TOP - 1, 2, 0),
            ],
        ),
        (
            "dinero-binary.bin",
            options("dinero-binary"),
            vec![load(0x1ffe7, 8, 0), store(0xffff_ffff, 4, 0)],
        ),
        (
            "champsim.champsimtrace",
            options("champsim"),
            champsim.clone(),
        ),
        (
            "champsim.champsimtrace.gz",
            options("champsim"),
            champsim.clone(),
        ),
        ("champsim.champsimtrace.xz", options("champsim"), champsim),
        (
            "dramsim.txt",
            options("dramsim"),
            vec![
                load(0x1000, 1, 0),
                store(HALF, 1, 0),
                store(TOP, 1, 0),
                load(0x2040, 1, 0),
            ],
        ),
        (
            "ramulator.txt",
            options("ramulator"),
            vec![load(0x1000, 1, 0), store(HALF, 1, 0), load(TOP, 1, 0)],
        ),
        (
            "ramulator-cpu.txt",
            options("ramulator-cpu"),
            vec![
                load(20_734_016, 1, 3),
                carrier(u16::MAX),
                load(HALF, 1, (70_000 - 65_535) as u16),
                store(TOP, 1, 0),
                store(4096, 1, 0),
            ],
        ),
        (
            "ramulator2.txt",
            options("ramulator2"),
            vec![load(4096, 1, 0), store(HALF, 1, 0), load(TOP, 1, 0)],
        ),
        (
            "drmemtrace.trace",
            options("drmemtrace"),
            vec![
                load(0x1000, 8, 1),
                branch(true, 0),
                load(HALF, 4, 0),
                store(HALF, 4, 0),
                event(Kind::Prefetch, 0x3000, 1, 0),
                branch(false, 0),
                store(TOP - 3, 4, 0),
            ],
        ),
        (
            "pinatrace.out",
            options("pinatrace"),
            vec![
                load(0x1000, 1, 0),
                load(HALF, 1, 0),
                store(HALF, 1, 0),
                store(TOP, 1, 0),
            ],
        ),
        (
            "gem5-packet.trc",
            options("gem5-packet"),
            vec![
                load(0x1000, 8, 0),
                store(HALF, u16::MAX, 0),
                event(Kind::Prefetch, 0x2000, 1, 0),
                load(TOP, 1, 0),
            ],
        ),
        ("npy.npy", options("npy"), bare.clone()),
        ("csv.csv", options("csv"), bare.clone()),
        ("parquet.parquet", options("parquet"), bare),
        (
            "regex.log",
            regex,
            vec![load(0x1000, 8, 0), store(HALF, 64, 0), load(TOP, 1, 0)],
        ),
    ]
}

#[test]
fn samples_give_the_events_worked_out_by_hand() {
    for (name, options, expected) in golden() {
        let (events, report) = import_sample(name, options);
        assert_eq!(without_sites(&events), expected, "{name}");
        assert!(!report.lost.is_empty(), "{name}");
    }
}

fn without_sites(events: &[Event]) -> Vec<Event> {
    let events = events.iter();
    events.map(|event| Event { site: 0, ..*event }).collect()
}

/// Who makes each access, where the format says so.
#[test]
fn instructions_are_the_sites_of_their_accesses() {
    for (name, options, _) in golden() {
        let (events, report) = import_sample(name, options);
        let sites: Vec<_> = events
            .iter()
            .filter(|event| event.kind != Kind::Mark)
            .map(|event| report.layout.sites[usize::from(event.site)].clone())
            .collect();
        let wanted: Vec<u64> = match report.format {
            "lackey" => vec![0x4001003, 0x4001007, 0x4001007, 0x400100e, 0x400100e],
            "din" => vec![0x400000, 0x400004, 0x400004],
            "dinero" => vec![0x400000; 3],
            "dinero-binary" => vec![0x400000; 2],
            "champsim" => vec![0x400003, 0x400003, 0x400003, 0x400007, 0x400030, 0x400040],
            "drmemtrace" => vec![
                0x401003, 0x401007, 0x401010, 0x401010, 0x401010, 0x401014, 0x401016,
            ],
            "pinatrace" => vec![0x401000, 0x401004, 0x401004, 0x401008],
            _ => Vec::new(),
        };
        let wanted: Vec<String> = match &wanted[..] {
            [] => vec!["(unknown)".to_owned(); sites.len()],
            known => known
                .iter()
                .map(|address| format!("{address:#x}"))
                .collect(),
        };
        assert_eq!(sites, wanted, "{name}");
        let told = report.lost.contains(&"instruction addresses");
        assert_eq!(report.tally.sites == 0, told, "{name}");
    }
}

#[test]
fn gem5_and_patterns_may_name_instructions() {
    let mut messages = MessageWriter::new(Vec::new()).unwrap();
    messages.write(&PacketHeader::default()).unwrap();
    let packet = Packet {
        cmd: command::READ_REQ,
        addr: 64,
        size: 8,
        pc: Some(0x401003),
        ..Packet::default()
    };
    messages.write(&packet).unwrap();
    let (_, report) = import_bytes(&messages.into_inner(), options("gem5-packet")).unwrap();
    assert_eq!(report.layout.sites, ["(unknown)", "0x401003"]);
    let pattern = Options {
        pattern: Some("(?P<pc>[0-9a-f]+): (?P<hex_address>[0-9a-f]+)".to_owned()),
        ..options("regex")
    };
    let (_, report) = import_bytes(b"401003: 40\n", pattern).unwrap();
    assert_eq!(report.layout.sites, ["(unknown)", "0x401003"]);
}

#[test]
fn every_format_has_a_sample() {
    for format in Format::ALL {
        let name = format.about().name;
        // gem5's sample is made here: `a_gem5_packet_trace_gives_its_requests`.
        let found = golden()
            .iter()
            .any(|(_, options, _)| options.format == name);
        assert!(found || name == "gem5-packet", "{name}");
    }
}

#[test]
fn samples_are_recognized_by_what_stands_in_them() {
    for (name, with_format, _) in golden() {
        let options = Options {
            format: "auto".to_owned(),
            ..with_format.clone()
        };
        let import = Import::open(&sample(name), options).unwrap();
        assert_eq!(import.format().about().name, with_format.format, "{name}");
    }
}

/// Lackey and drmemtrace list every instruction: the events stand for just as many, but for a surplus at the end.
#[test]
fn instructions_are_counted_once() {
    let mut counter = Counter::default();
    let lines = b"I  10,2\n M 100,4\nI  12,2\nI  14,2\n L 200,4\nI  16,2\nI  18,2\n";
    let source = Box::new(Cursor::new(lines.to_vec()));
    let import = Import::from_reader("t", source, options("lackey")).unwrap();
    let report = import.run(&mut counter).unwrap();
    assert_eq!(counter.instructions, 5);
    assert_eq!(report.tally.listed_instructions, 5);
    assert_eq!(report.tally.accesses, 3);
}

#[test]
fn fetches_stand_before_what_the_instruction_does() {
    let fetch = Options {
        instructions: Instructions::Fetch,
        ..options("lackey")
    };
    let lines = b"I  10,2\nI  12,3\n L 100,4\nI  15,1\n";
    let (events, _) = import_bytes(lines, fetch).unwrap();
    let events = without_sites(&events);
    let expected = [
        event(Kind::Fetch, 0x10, 2, 0),
        event(Kind::Fetch, 0x12, 3, 1),
        load(0x100, 4, 0),
        event(Kind::Fetch, 0x15, 1, 0),
        carrier(1),
    ];
    assert_eq!(events, expected);
    let drop = Options {
        instructions: Instructions::Drop,
        ..options("lackey")
    };
    let (events, _) = import_bytes(lines, drop).unwrap();
    assert_eq!(without_sites(&events), [load(0x100, 4, 0)]);
}

#[test]
fn what_does_not_fit_is_clipped_and_counted() {
    let (_, report) = import_sample("gem5-packet.trc", options("gem5-packet"));
    assert_eq!(report.tally.clipped, 2);
    let (events, report) = import_bytes(b" M ffffffffffffffff,8\n", options("lackey")).unwrap();
    assert_eq!(events, [load(TOP, 1, 0), store(TOP, 1, 0)]);
    assert_eq!(report.tally.clipped, 2);
}

#[test]
fn bad_lines_are_shown_with_what_would_be_right() {
    let cases: [(&str, &[u8], &[&str]); 12] = [
        (
            "lackey",
            b"I  10,2\n L 0x,8\n",
            &[
                "t:2: ",
                "not a hexadecimal number",
                "` L 0x,8`",
                "lackey is `I  ADDRESS,SIZE`",
            ],
        ),
        ("lackey", b"==1== x\nhello\n", &["t:2: ", "--log-fd=9"]),
        (
            "lackey",
            b" L 10,8\n L 1",
            &["t:2: ", "the file ends in the middle of this line"],
        ),
        ("din", b"0 10\n7 20\n", &["t:2: unknown label 7"]),
        ("dinero", b"r 10\n", &["t:1: fewer than three words"]),
        ("dramsim", b"10 W 5\n", &["spelt out: READ or WRITE"]),
        (
            "dramsim",
            b"0x10: R 0x20\n",
            &["the file looks like pinatrace"],
        ),
        (
            "ramulator2",
            b"0x10 R\n0x20 W\n",
            &[
                "`R` is not a 64-bit decimal number",
                "the file looks like ramulator",
            ],
        ),
        (
            "ramulator-cpu",
            b"4294967296 10\n",
            &["more than 4294967295 instructions"],
        ),
        ("pinatrace", b"0x10 R 0x20\n", &["no colon"]),
        ("csv", b"a,b\n1,2\n", &["Give --column one of `a`, `b`"]),
        (
            "csv",
            b"address\n10\nten\n",
            &["t:3: `ten` is not a 64-bit decimal number"],
        ),
    ];
    for (format, bytes, expected) in cases {
        let message = refusal(bytes, format);
        for part in expected {
            assert!(message.contains(part), "{format}: {message}");
        }
    }
}

#[test]
fn files_cut_short_are_noticed() {
    for (name, format, expected) in [
        (
            "champsim.champsimtrace",
            "champsim",
            "record 5 at byte 320: the trace is cut short: 63 bytes instead of 64",
        ),
        (
            "champsim.champsimtrace.gz",
            "champsim",
            "the gzip data is damaged or cut short",
        ),
        (
            "champsim.champsimtrace.xz",
            "champsim",
            "the xz data is damaged or cut short",
        ),
        (
            "dinero-binary.bin",
            "dinero-binary",
            "record 3 at byte 24: the trace is cut short",
        ),
        ("drmemtrace.trace", "drmemtrace", "11 bytes instead of 12"),
        (
            "npy.npy",
            "npy",
            "record 2 at byte 144: the trace is cut short",
        ),
        (
            "parquet.parquet",
            "parquet",
            "the Parquet file is damaged or cut short",
        ),
    ] {
        let bytes = std::fs::read(sample(name)).unwrap();
        let message = refusal(&bytes[..bytes.len() - 1], format);
        assert!(message.contains(expected), "{name}: {message}");
    }
    let bytes = std::fs::read(sample("drmemtrace.trace")).unwrap();
    let message = refusal(&bytes[..bytes.len() - 12], "drmemtrace");
    assert!(message.contains("it has no FOOTER record"), "{message}");
}

#[test]
fn files_that_say_nothing_are_refused() {
    for format in Format::ALL.map(|format| format.about().name) {
        assert_eq!(
            refusal(b"", format),
            "t: the file is empty; there is nothing to import"
        );
    }
    let message = refusal(b"==1== prog: command not found\n", "lackey");
    assert!(
        message.contains("t: no memory access among its 1 lines"),
        "{message}"
    );
}

#[test]
fn what_cannot_be_told_is_asked() {
    for (bytes, expected) in [
        (
            &b"2 400000\n0 1000\n"[..],
            "it could be din or ramulator-cpu",
        ),
        (
            b"once upon a time\n",
            "it looks like no format known here; it begins `once upon a time`",
        ),
        (b"\x00\x01\x02", "no format known here"),
        (b"BZh91AY", "use `bunzip2 -c FILE | memwalk trace import -`"),
    ] {
        let message = refusal(bytes, "auto");
        assert!(message.contains(expected), "{message}");
    }
    // The name decides.
    let source = Box::new(Cursor::new(b"2 400000\n0 1000\n".to_vec()));
    let import = Import::from_reader("gcc.din", source, options("auto")).unwrap();
    assert_eq!(import.format(), Format::Din);
    assert!(refusal(b"0 10\n", "dim").contains("no format `dim`; known here: auto, lackey, din"));
}

#[test]
fn patterns_are_checked() {
    for (pattern, expected) in [
        (None, "needs --pattern"),
        (Some("("), "--pattern `(`: "),
        (
            Some("(?P<adress>.*)"),
            "unknown group `adress`; the groups are address",
        ),
        (Some("(?P<size>.*)"), "name one group `address`"),
    ] {
        let options = Options {
            pattern: pattern.map(str::to_owned),
            ..options("regex")
        };
        let message = import_bytes(b"1\n", options).unwrap_err().to_string();
        assert!(
            message.contains(expected) && !message.contains('\n'),
            "{message}"
        );
    }
}

#[test]
fn segments_are_put_in_order() {
    let segment = |name: &str, base| Segment {
        name: name.to_owned(),
        base,
        size_bytes: 16,
    };
    let options = Options {
        segments: vec![segment("b", 32), segment("a", 16)],
        ..options("din")
    };
    let source = Box::new(Cursor::new(b"0 10\n".to_vec()));
    let info = Import::from_reader("t", source, options).unwrap().info();
    assert_eq!(info.layout.segments[0].name, "a");
    assert_eq!(info.layout.problem(), None);
}

/// What a program says of itself through Valgrind stands in the stream where it said it.
mod messages {
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
            ("segment a 0x10 0", "a segment of 0 bytes"),
            ("phase", "the name is missing"),
            ("stop", "asked for `stop`, but knows `memwalk segment"),
            ("on now", "asked for `on now`"),
        ] {
            let text = format!(" L 10,4\n**7** memwalk {message}\n");
            let refused = refusal(text.as_bytes(), "lackey");
            assert!(refused.contains(expected), "{refused}");
        }
        // The program's other messages are its own affair.
        let (_, report) = lackey(" L 10,4\n**7** memwalks are pleasant\n**7** hello\n");
        assert_eq!(report.tally.skipped, 3);
    }
}

/// A trace that may end in the middle is imported with a warning.
#[test]
fn doubtful_ends_are_told() {
    let cases: [(&str, &[u8], &[&str]); 6] = [
        ("lackey", b"==1== a\n L 10,8\n==1== Exit code: 0\n", &[]),
        (
            "lackey",
            b"==1== a\n L 10,8\n",
            &["t:2: none of Valgrind's closing lines"],
        ),
        (
            "lackey",
            b"==1== a\n L 10,8\n S 20,1",
            &[
                "t:3: its last line has no line end",
                "t:3: none of Valgrind's",
            ],
        ),
        ("din", b"0 1000\n0 2000\n", &[]),
        (
            "din",
            b"0 1000\n0 200",
            &["t:2: its last line has no line end"],
        ),
        ("csv", b"4096", &["t:1: its last line has no line end"]),
    ];
    for (format, bytes, expected) in cases {
        let (_, report) = import_bytes(bytes, options(format)).unwrap();
        assert_eq!(
            report.warnings.len(),
            expected.len(),
            "{:?}",
            report.warnings
        );
        for (warning, expected) in report.warnings.iter().zip(expected) {
            assert!(warning.contains(expected), "{warning}");
        }
    }
}

mod any_bytes {
    use super::*;
    use proptest::prelude::*;

    /// Imports and ignores the outcome: it may fail, and may not panic.
    fn import_anyhow(bytes: &[u8], format: &str) {
        let options = Options {
            pattern: Some("(?P<kind>.) (?P<address>[0-9]+)".to_owned()),
            instructions: Instructions::Fetch,
            ..options(format)
        };
        let _ = import_bytes(bytes, options);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            import_anyhow(&bytes, "auto");
            for format in Format::ALL {
                import_anyhow(&bytes, format.about().name);
            }
        }

        #[test]
        fn nor_do_samples_with_one_byte_changed(
            place in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            for (name, options, _) in golden() {
                let mut bytes = std::fs::read(sample(name)).unwrap();
                let place = place.index(bytes.len());
                bytes[place] = byte;
                import_anyhow(&bytes, &options.format);
                import_anyhow(&bytes, "auto");
            }
        }
    }
}
