//! Each format by a small sample, with the events worked out by hand.

use super::*;

/// Every sample, with the options it needs and the events it stands for.
pub(super) fn golden() -> Vec<(&'static str, Options, Vec<Event>)> {
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
    let through = |event: Event, dep| Event { dep, ..event };
    let recording = vec![
        load(0x10000, 8, 0),
        through(load(0x20008, 8, 0), 1),
        store(HALF, 4, 0),
        through(event(Kind::Exchange, 0x20010, 4, 0), 3),
        // 40 bytes are read, with two instructions.
        through(load(0x20ff0, 32, 0), 4),
        // Begins 4096 bytes or more behind the pointer, but the range went through it.
        through(load(0x21010, 8, 0), 5),
        store(0x50000, 5, 0),
        Event::new(Kind::Mark, 1),
        through(load(0x20018, 4, 0), 8),
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
        ("recording.bin", options("recording"), recording),
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
            "recording" => vec![
                0x401003, 0x401007, 0x40100b, 0x40100f, 0x401013, 0x401013, 0x401017, 0x40101b,
            ],
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
fn instructions_that_are_not_listed_may_be_assumed() {
    let assumed = |format: &str, all| Options {
        instructions_per_access: Some(all),
        ..options(format)
    };
    let addresses = b"16\n32\n48\n64\n";
    let (events, report) = import_bytes(addresses, assumed("csv", 2.5)).unwrap();
    let plain: Vec<u16> = events.iter().map(|event| event.instructions).collect();
    assert_eq!(plain, [1, 2, 1, 2]);
    assert_eq!(report.instructions_per_access, Some(2.5));
    let many = "16\n".repeat(100);
    for (accesses, all, instructions) in [(10, 7.8, 78), (100, 1.1, 110), (100, 2.01, 201)] {
        let addresses = &many.as_bytes()[..3 * accesses];
        let (events, _) = import_bytes(addresses, assumed("csv", all)).unwrap();
        let plain: u64 = events
            .iter()
            .map(|event| u64::from(event.instructions))
            .sum();
        assert_eq!(accesses as u64 + plain, instructions);
    }
    let (events, _) = import_bytes(addresses, assumed("csv", 1.0)).unwrap();
    assert_eq!(events, import_bytes(addresses, options("csv")).unwrap().0);
    for (all, expected) in [
        (
            0.9,
            "--instructions-per-access 0.9: each access is an instruction itself, so this is from 1 to 1000",
        ),
        (f64::NAN, "from 1 to 1000"),
        (1e9, "from 1 to 1000"),
    ] {
        let refused = import_bytes(addresses, assumed("csv", all)).unwrap_err();
        assert!(refused.to_string().contains(expected), "{refused}");
    }
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

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_column() {
    for format in ["csv", "auto"] {
        for text in ["address\n10\n", "10\n", "\"address\"\n10\n"] {
            let bytes = ["\u{feff}", text].concat();
            let (events, report) = import_bytes(bytes.as_bytes(), options(format)).unwrap();
            assert_eq!(
                (events, report.format),
                (vec![load(10, 1, 0)], "csv"),
                "{text}"
            );
        }
    }
}
