//! Imports: each format by a small sample, what stands in the way, what programs say of themselves, and any bytes at all.

mod any_bytes;
mod columns;
mod messages;
mod packed;
mod recordings;
mod records;
mod refusals;
mod samples;

use std::io::Cursor;
use std::path::PathBuf;
use traces::gem5::{MessageWriter, Packet, PacketHeader, command};
use traces::import::{Choice, Format, Import, ImportError, Instructions, Options, Report, Threads};
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

fn without_sites(events: &[Event]) -> Vec<Event> {
    let events = events.iter();
    events.map(|event| Event { site: 0, ..*event }).collect()
}
