//! What stands in the way of an import, and what would be right.

use super::*;

#[test]
fn bad_lines_are_shown_with_what_would_be_right() {
    let cases: [(&str, &[u8], &[&str]); 14] = [
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
        // As it stands there, but for what a terminal would obey.
        ("pinatrace", b"0x10 'R' \"\\\n", &["`0x10 'R' \"\\`"]),
        ("pinatrace", b"0x10 \x1b[2J\n", &["`0x10 \\u{1b}[2J`"]),
        ("csv", b"a,b\n1,2\n", &["Give --column one of `a`, `b`"]),
        (
            "csv",
            b"address\n10\nten\n",
            &["t:3: `ten` is not a 64-bit decimal number; "],
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

/// A file that is of a format but for one line near its beginning.
#[test]
fn the_line_is_told_that_is_not_of_the_format_of_those_before() {
    for (bytes, expected) in [
        (
            &b"addr,kind\n0x1000,R\nfoo,R\n"[..],
            "t:3: `foo` is not a 64-bit decimal number: `foo,R`; csv is fields parted by commas, of which one is an address, decimal or \
             0x...; the lines before it are",
        ),
        (b" L 1000,4\n S 20zz,8\n", "t:2: `20zz` is not a 64-bit"),
        (
            b"2 400000\n0 1000\n0 x\n",
            "t:3: the lines before it could be din or ramulator-cpu; choose one with --format",
        ),
    ] {
        let message = refusal(bytes, "auto");
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_column_is_looked_for_in_text_of_no_other_format() {
    let named = |column: &str| Options {
        column: Some(column.to_owned()),
        ..options("auto")
    };
    let bytes = b"addr,kind\n0x1000,R\n";
    let message = import_bytes(bytes, named("address"))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("t:1: no column `address` among `addr`, `kind`"),
        "{message}"
    );
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

/// A trace that may end in the middle is imported with a warning.
#[test]
fn doubtful_ends_are_told() {
    let cases: [(&str, &[u8], &[&str]); 7] = [
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
        // As DRAMSim3 wants it.
        ("dramsim", b"0x40 READ 1\n0x80 WRITE 2", &[]),
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

#[test]
fn options_that_a_format_has_no_use_for_are_refused() {
    let given = |choice, format: &str| match choice {
        Choice::Column => Options {
            column: Some("1".to_owned()),
            ..options(format)
        },
        Choice::Pattern => Options {
            pattern: Some("(?P<address>[0-9]+)".to_owned()),
            ..options(format)
        },
        Choice::Fetch => Options {
            instructions: Instructions::Fetch,
            ..options(format)
        },
        Choice::PerAccess => Options {
            instructions_per_access: Some(2.0),
            ..options(format)
        },
        Choice::Program => Options {
            blocks: Some(Vec::new()),
            ..options(format)
        },
    };
    for (choice, format, expected) in [
        (
            Choice::Column,
            "din",
            "--column: has no effect on a trace of the format din: it is for csv, parquet; leave it out",
        ),
        (
            Choice::Pattern,
            "csv",
            "--pattern: has no effect on a trace of the format csv: it is for regex; leave it out",
        ),
        (
            Choice::Program,
            "csv",
            "--program: has no effect on a trace of the format csv: it is for recording; leave it out",
        ),
        (
            Choice::Fetch,
            "ramulator-cpu",
            "--instructions fetch: has no effect on a trace of the format ramulator-cpu: it is for lackey, din,",
        ),
        (
            Choice::PerAccess,
            "lackey",
            "--instructions-per-access: has no effect on a trace of the format lackey: it is for gem5-packet,",
        ),
    ] {
        let refused = import_bytes(b"0 10\n", given(choice, format)).unwrap_err();
        assert!(refused.to_string().starts_with(expected), "{refused}");
    }
    // The format that the file looks like has a use for as much as if it was named.
    let refused = import_bytes(b"0x10: R 0x20\n", given(Choice::Column, "auto")).unwrap_err();
    assert!(
        refused.to_string().contains("the format pinatrace"),
        "{refused}"
    );
}

fn segment(name: &str, base: u64, size_bytes: u64) -> Segment {
    Segment {
        name: name.to_owned(),
        base,
        size_bytes,
    }
}

#[test]
fn segments_that_cannot_be_are_refused_by_name() {
    for (segments, expected) in [
        (
            vec![segment("a", 0x100, 64), segment("b", 0x120, 64)],
            "--segment b: its 64 bytes at 0x120 overlap those of --segment a; ",
        ),
        (
            vec![segment("a", 0, 0)],
            "--segment a: a segment of 0 bytes",
        ),
        (
            vec![segment("(elsewhere)", 0, 1)],
            "--segment (elsewhere): `(elsewhere)` is what results call",
        ),
        (
            vec![segment("(none)", 0, 1)],
            "--segment (none): `(none)` is what results call",
        ),
        (
            vec![segment("a", u64::MAX - 1, 9)],
            "--segment a: the segment ends beyond the 64-bit address space",
        ),
    ] {
        let options = Options {
            segments,
            ..options("din")
        };
        let refused = import_bytes(b"0 10\n", options).unwrap_err().to_string();
        assert!(refused.starts_with(expected), "{refused}");
    }
}

#[test]
fn columns_of_one_name_are_not_told_apart_by_it() {
    let column = |name: &str| Options {
        column: Some(name.to_owned()),
        ..options("csv")
    };
    let twice = b"address,time,address\n1,2,3\n";
    for options in [options("csv"), column("address"), column("ADDRESS")] {
        let refused = import_bytes(twice, options).unwrap_err().to_string();
        assert!(refused.contains("2 columns are called `"), "{refused}");
        assert!(refused.contains("the number of one"), "{refused}");
    }
    for (bytes, name, expected) in [
        (&twice[..], "3", 3),
        (twice, "time", 2),
        (b"Address,address\n1,2\n", "address", 2),
        (b"7,7\n", "2", 7),
    ] {
        let (events, _) = import_bytes(bytes, column(name)).unwrap();
        assert_eq!(events[0].address, expected, "{name}");
    }
}

/// A Parquet file with another codec in its footer.
#[test]
fn a_codec_that_is_not_read_is_named() {
    let mut bytes = std::fs::read(sample("parquet.parquet")).unwrap();
    let path = b"address\x15";
    let found = bytes.windows(path.len()).position(|window| window == path);
    // What follows the path is the codec, twice its number.
    bytes[found.unwrap() + path.len()] = 2 * 3;
    let message = refusal(&bytes, "parquet");
    assert!(
        message
            .contains("compressed with LZO, which is not read; write the file again with snappy"),
        "{message}"
    );
}
