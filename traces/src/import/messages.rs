//! What a program tells memwalk while it runs: names of regions and phases, and what to record.
//!
//! Valgrind's client request `VALGRIND_PRINTF` puts a line of the program's into Valgrind's output, in order:
//! `**PID** memwalk phase probe`.

use crate::import::emitter::Emitter;
use crate::import::error::{Fault, shown};
use crate::import::numbers::number;
use crate::sink::SinkError;

const GRAMMAR: &str = "`memwalk segment NAME ADDRESS BYTES`, `memwalk area NAME ADDRESS BYTES`, `memwalk phase NAME`, `memwalk barrier`, `memwalk on`, `memwalk off`, or one of these of phases, on and off with `all` before it";

/// The words behind `**PID** memwalk`, if the line has that.
pub(super) fn of_program(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_prefix(b"**")?;
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let message = line[digits..].strip_prefix(b"** ")?.trim_ascii();
    let rest = message.strip_prefix(b"memwalk")?;
    (rest.is_empty() || rest.starts_with(b" ")).then(|| rest.trim_ascii())
}

/// Does what the program asks for. A name that cannot be given is passed over, with a warning: a long recording may be behind it.
pub(super) fn take(message: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
    let (what, rest) = split(message);
    let named = match (what, rest) {
        (b"segment", rest) => {
            let (name, address, size) = memory(rest)?;
            text(name).and_then(|name| name_segment(name, address, size, events))
        }
        (b"area", rest) => {
            let (name, address, size) = memory(rest)?;
            text(name).and_then(|name| events.regions().name_area(name, address, size))
        }
        (b"phase", name) => open_phase(name, events),
        _ => return switch(message, events),
    };
    if let Err(fault) = named {
        let (asked, cause) = (shown(message), fault.into_cause());
        events.warn(format!("`{asked}` is passed over: {cause}"));
    }
    Ok(())
}

/// Does what the program asks for beside names.
fn switch(message: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
    match split(message) {
        // Valgrind has all threads in one stream.
        (b"all", rest) if matches!(split(rest).0, b"phase" | b"on" | b"off") => take(rest, events),
        (b"barrier", b"") => {
            events.barrier();
            Ok(())
        }
        (b"on", b"") => match events.switch_on() {
            Err(SinkError::Unsupported(cause)) => Err(Fault::new(cause)),
            switched => switched.map_err(|error| Fault::new(error.to_string())),
        },
        (b"off", b"") => {
            events.switch_off();
            Ok(())
        }
        _ => {
            let asked = shown(message);
            Err(Fault::new(format!(
                "memwalk is asked for `{asked}`, but knows {GRAMMAR}"
            )))
        }
    }
}

/// Name, address and size in bytes. The name may hold blanks: the others are the last two words.
fn memory(words: &[u8]) -> Result<(&[u8], u64, u64), Fault> {
    let (words, size) = split_last(words);
    let (name, address) = split_last(words);
    if name.is_empty() {
        return Err(Fault::new(
            "a segment has a name, an address and a size in bytes",
        ));
    }
    Ok((name, number(address)?, number(size)?))
}

fn open_phase(name: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
    let phase = events.regions().phase(text(name)?)?;
    events.open_phase(phase);
    Ok(())
}

fn name_segment(
    name: &str,
    address: u64,
    size: u64,
    events: &mut Emitter<'_>,
) -> Result<(), Fault> {
    if let Some(taken) = events.regions().name_segment(name, address, size)? {
        events.warn(format!(
            "segment `{name}` at {address:#x} overlaps `{taken}`, which keeps its bytes: an address has one name"
        ));
    }
    Ok(())
}

/// A name that the program gave. Whoever cut it after so many bytes may have done so within a letter, which is left out.
fn text(name: &[u8]) -> Result<&str, Fault> {
    let name = std::str::from_utf8(name).or_else(|error| match error.error_len() {
        None => Ok(std::str::from_utf8(&name[..error.valid_up_to()]).unwrap_or_default()),
        Some(_) => Err(Fault::new("the name is not UTF-8")),
    })?;
    match name.chars().find(|letter| letter.is_control()) {
        None => Ok(name),
        Some(letter) => Err(Fault::new(format!(
            "the name holds the control character {letter:?}"
        ))),
    }
}

/// The first word, and what follows it.
fn split(words: &[u8]) -> (&[u8], &[u8]) {
    let end = words.iter().position(|byte| *byte == b' ');
    let (first, rest) = words.split_at(end.unwrap_or(words.len()));
    (first, rest.trim_ascii())
}

/// What comes before the last word, and that.
fn split_last(words: &[u8]) -> (&[u8], &[u8]) {
    let end = words.iter().rposition(|byte| *byte == b' ');
    let (before, last) = words.split_at(end.map_or(0, |end| end + 1));
    (before.trim_ascii(), last)
}
