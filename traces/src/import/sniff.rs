//! Tells a format from the first bytes of a file.

use crate::gem5;
use crate::import::emitter::{Emitter, Instructions, Names};
use crate::import::error::{ImportError, shown};
use crate::import::format::Format;
use crate::import::input::Input;
use crate::import::records::number;
use crate::import::regions::Regions;
use crate::import::{
    Options, champsim, csv, decode, dinero_binary, drmemtrace, npy, parquet, recording,
};
use crate::sink::Counter;
use std::io::Cursor;

/// The formats that differ in their lines.
const TEXT: [Format; 9] = [
    Format::Lackey,
    Format::Din,
    Format::Dinero,
    Format::Dramsim,
    Format::Ramulator,
    Format::RamulatorCpu,
    Format::Ramulator2,
    Format::Pinatrace,
    Format::Csv,
];

/// The one format that `input` can be of; its name decides if its contents do not.
pub(super) fn recognize(input: &Input, options: &Options) -> Result<Format, ImportError> {
    let candidates = candidates(input, options);
    let unrecognized = |cause: String| ImportError::Unrecognized {
        file: input.name().to_owned(),
        cause,
    };
    match candidates[..] {
        [format] => Ok(format),
        [] => {
            let (head, _) = input.head();
            let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let begin = shown(line);
            Err(unrecognized(format!(
                "it looks like no format known here; it begins `{begin}`"
            )))
        }
        _ => {
            let name = input.name().to_ascii_lowercase();
            let mut named = candidates
                .iter()
                .filter(|format| name.contains(format.about().name));
            match (named.next(), named.next()) {
                (Some(format), None) => Ok(*format),
                _ => Err(unrecognized(format!("it could be {}", list(&candidates)))),
            }
        }
    }
}

/// What the file looks like, for a message about one that is not of `format`; empty if nothing else.
pub(super) fn hint(input: &Input, format: Format) -> String {
    let candidates = candidates(input, &Options::default());
    if candidates.is_empty() || candidates.contains(&format) {
        return String::new();
    }
    format!("; the file looks like {}", list(&candidates))
}

fn list(formats: &[Format]) -> String {
    let names: Vec<&str> = formats.iter().map(|format| format.about().name).collect();
    names.join(" or ")
}

/// Every format that takes what stands at the beginning.
fn candidates(input: &Input, options: &Options) -> Vec<Format> {
    let (head, complete) = input.head();
    let binary =
        |byte: &u8| *byte >= 0x7f || (*byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r'));
    if csv::without_mark(head).iter().any(binary) {
        return binary_format(head).into_iter().collect();
    }
    if options.pattern.is_some() {
        return vec![Format::Regex];
    }
    let lines = match head.iter().rposition(|byte| *byte == b'\n') {
        Some(last) if !complete => &head[..last],
        _ => head,
    };
    TEXT.into_iter()
        .filter(|format| takes(*format, lines, options))
        .collect()
}

fn binary_format(head: &[u8]) -> Option<Format> {
    if head.starts_with(recording::MAGIC) {
        Some(Format::Recording)
    } else if head.starts_with(npy::MAGIC) {
        Some(Format::Npy)
    } else if head.starts_with(&gem5::MAGIC) {
        Some(Format::Gem5Packet)
    } else if head.starts_with(parquet::MAGIC) {
        Some(Format::Parquet)
    } else if head.len() >= drmemtrace::BYTES
        && number::<2>(head, 0) == drmemtrace::HEADER
        && number::<8>(head, 4) <= u64::from(u8::MAX)
    {
        Some(Format::Drmemtrace)
    } else if head.len() >= champsim::BYTES
        && head
            .chunks_exact(champsim::BYTES)
            .all(|record| record[8] <= 1 && record[9] <= 1 && number::<8>(record, 0) != 0)
    {
        Some(Format::ChampSim)
    } else if head.len() >= dinero_binary::BYTES
        && head
            .chunks_exact(dinero_binary::BYTES)
            .all(|record| record[6] <= 5 && record[7] == 0)
    {
        Some(Format::DineroBinary)
    } else {
        None
    }
}

/// Whether all of `lines` are of the text format.
fn takes(format: Format, lines: &[u8], options: &Options) -> bool {
    // Ramulator takes a bare address for a read; so does CSV, which also knows decimal ones.
    if format == Format::Ramulator && !lines.iter().any(|byte| matches!(byte, b'R' | b'W')) {
        return false;
    }
    let Ok(mut input) = Input::new("", Box::new(Cursor::new(lines.to_vec()))) else {
        return false;
    };
    let mut ignored = Counter::default();
    let names = Names::of(Regions::new(""));
    let mut events = Emitter::new(&mut ignored, Instructions::Drop, names);
    let read = decode(format, options, &mut input, &mut events);
    read.is_ok()
        && events
            .finish()
            .is_ok_and(|end| end.tally.accesses + end.tally.left_out > 0)
}
