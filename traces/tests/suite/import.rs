//! Each format by a small sample, with the events worked out by hand; and what stands in the way of an import.

use std::io::Cursor;
use std::path::PathBuf;
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
        assert_eq!(events, expected, "{name}");
        assert!(!report.lost.is_empty(), "{name}");
    }
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
    assert_eq!(events, [load(0x100, 4, 0)]);
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
