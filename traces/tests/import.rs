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
                load(0x1f_fefffe78, 8, 1).at(0x1ffefffe78),
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

trait At {
    fn at(self, address: u64) -> Self;
}

impl At for Event {
    fn at(self, address: u64) -> Self {
        Self { address, ..self }
    }
}

#[test]
fn samples_give_the_events_worked_out_by_hand() {
    for (name, options, expected) in golden() {
        let (events, report) = import_sample(name, options);
        assert_eq!(events, expected, "{name}");
        assert!(!report.lost.is_empty() && report.count > 0, "{name}");
    }
}
