//! Tells a format from the first bytes of a file.

use crate::gem5;
use crate::import::emitter::{Emitter, Instructions, Names};
use crate::import::error::{ImportError, shown};
use crate::import::format::Format;
use crate::import::input::Input;
use crate::import::records::number;
use crate::import::regions::Regions;
use crate::import::{
    Options, champsim, decode, dinero_binary, drmemtrace, npy, parquet, recording,
};
use crate::sink::Counter;
use std::io::Cursor;
use std::path::Path;

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
        [] if options.column.is_some() && text(input).is_some() => Ok(Format::Csv),
        [] => {
            nearly(input, options)?;
            let (head, _) = input.head();
            let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let begin = shown(line);
            Err(unrecognized(format!(
                "it looks like no format known here; it begins `{begin}`"
            )))
        }
        _ => match named(input, &candidates) {
            Some(format) => Ok(format),
            None => Err(unrecognized(format!("it could be {}", list(&candidates)))),
        },
    }
}

/// The one of several formats that the file's name has in it.
fn named(input: &Input, candidates: &[Format]) -> Option<Format> {
    let path = Path::new(input.name());
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let is_word = |format: &&Format| has_words(&name, format.about().name);
    let named: Vec<_> = candidates.iter().filter(is_word).collect();
    // `ramulator-cpu` has the word `ramulator`, too.
    let within = |one: &Format| {
        let others = named.iter().filter(|other| **other != one);
        let mut others = others.map(|other| other.about().name);
        others.any(|other| has_words(other, one.about().name))
    };
    let mut whole = named.iter().filter(|format| !within(format));
    match (whole.next(), whole.next()) {
        (Some(format), None) => Some(**format),
        _ => None,
    }
}

/// Whether the words of `wanted` stand in `name`, one behind the other.
fn has_words(name: &str, wanted: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(['.', '-', '_']);
        words.map(str::to_owned).collect()
    };
    let (name, wanted) = (words(name), words(wanted));
    name.windows(wanted.len()).any(|words| words == wanted)
}

/// Refuses text of no format for the line that is wrong, if those before it are of one: of that which takes most of them.
fn nearly(input: &Input, options: &Options) -> Result<(), ImportError> {
    let Some(lines) = text(input) else {
        return Ok(());
    };
    let mut farthest = 0;
    let mut found: Vec<(Format, ImportError)> = Vec::new();
    for format in TEXT {
        let reading = Reading::of(format, input.name(), lines, options);
        let Err(error) = reading.outcome else {
            continue;
        };
        if reading.accesses == 0 || reading.lines < farthest {
            continue;
        }
        if reading.lines > farthest {
            found.clear();
        }
        farthest = reading.lines;
        found.push((format, error));
    }
    let formats: Vec<Format> = found.iter().map(|(format, _)| *format).collect();
    let one = match formats[..] {
        [] => return Ok(()),
        [format] => Some(format),
        _ => named(input, &formats),
    };
    let place = found[0].1.place().to_owned();
    let error = one.and_then(|one| found.into_iter().find(|(format, _)| *format == one));
    Err(match error {
        Some((_, mut error)) => {
            if let ImportError::Malformed { hint, .. } = &mut error {
                "; the lines before it are".clone_into(hint);
            }
            error
        }
        None => ImportError::Unrecognized {
            file: place,
            cause: format!("the lines before it could be {}", list(&formats)),
        },
    })
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
    let lines = text(input);
    let binary = match lines {
        None => binary_format(input.head().0),
        Some(_) => None,
    };
    // A pattern is searched for in bytes, whatever letters they are.
    if options.pattern.is_some() && binary.is_none() {
        return vec![Format::Regex];
    }
    let Some(lines) = lines else {
        return binary.into_iter().collect();
    };
    let takes = |format| {
        let reading = Reading::of(format, "", lines, options);
        reading.outcome.is_ok() && reading.accesses > 0
    };
    TEXT.into_iter().filter(|format| takes(*format)).collect()
}

/// The whole lines at the beginning, if the file is text.
fn text(input: &Input) -> Option<&[u8]> {
    let (head, complete) = input.head();
    let is_control =
        |byte: &u8| *byte == 0x7f || (*byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r'));
    // The last letter may be cut where the bytes that are looked at end.
    let is_utf8 = str::from_utf8(head)
        .or_else(|error| match error.error_len() {
            None if !complete => Ok(""),
            _ => Err(error),
        })
        .is_ok();
    if !is_utf8 || head.iter().any(is_control) {
        return None;
    }
    Some(match head.iter().rposition(|byte| *byte == b'\n') {
        Some(last) if !complete => &head[..last],
        _ => head,
    })
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

/// What comes of reading lines as a text format.
struct Reading {
    /// Why a line is not of the format.
    outcome: Result<(), ImportError>,
    /// Lines read, with that one.
    lines: u64,
    /// Accesses in them.
    accesses: u64,
}

impl Reading {
    fn of(format: Format, file: &str, lines: &[u8], options: &Options) -> Self {
        let nothing = |outcome| Self {
            outcome,
            lines: 0,
            accesses: 0,
        };
        // Ramulator takes a bare address for a read; so does CSV, which also knows decimal ones.
        if format == Format::Ramulator && !lines.iter().any(|byte| matches!(byte, b'R' | b'W')) {
            return nothing(Ok(()));
        }
        let mut input = match Input::new(file, Box::new(Cursor::new(lines.to_vec()))) {
            Ok(input) => input,
            Err(error) => return nothing(Err(error)),
        };
        let mut ignored = Counter::default();
        let names = Names::of(Regions::new(""));
        let mut events = Emitter::new(&mut ignored, Instructions::Drop, names);
        let outcome = decode(format, options, &mut input, &mut events);
        let tally = events.finish().map(|end| end.tally);
        Self {
            outcome,
            lines: input.taken(),
            accesses: tally.map_or(0, |tally| tally.accesses + tally.left_out),
        }
    }
}
