//! Traces of Valgrind's tool Lackey with `--trace-mem=yes`: a line per instruction, followed by a line per access.

use crate::import::about::{About, Unit};
use crate::import::emitter::Emitter;
use crate::import::error::Fault;
use crate::import::numbers::{decimal, hexadecimal};
use crate::import::text::LineFormat;

pub(super) static ABOUT: About = About {
    name: "lackey",
    title: "Valgrind: --tool=lackey --trace-mem=yes",
    grammar: "`I  ADDRESS,SIZE`, ` L ADDRESS,SIZE`, ` S ...` or ` M ...`, address hexadecimal, size decimal",
    unit: Unit::Lines,
    lost: &[
        "dependences",
        "branch outcomes",
        "software prefetches",
        "threads",
        "time",
    ],
};

pub(super) struct Lackey;

impl LineFormat for Lackey {
    const ABOUT: &'static About = &ABOUT;

    #[inline]
    fn line(&mut self, line: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
        let (kind, reference) = match line {
            [b'I', b' ', b' ', rest @ ..] => (b'I', rest),
            [b' ', kind @ (b'L' | b'S' | b'M'), b' ', rest @ ..] => (*kind, rest),
            _ => return other(line, events),
        };
        let comma = reference.iter().position(|byte| *byte == b',');
        let Some(comma) = comma else {
            return Err(Fault::new("no comma between address and size"));
        };
        let address = hexadecimal(&reference[..comma])?;
        let size = decimal(&reference[comma + 1..])?;
        if size == 0 {
            return Err(Fault::new("an access of 0 bytes"));
        }
        match kind {
            b'I' => events.instruction(Some((address, size))),
            b'L' => events.load(address, size),
            b'S' => events.store(address, size),
            _ => events.modify(address, size),
        }
        Ok(())
    }
}

/// Valgrind's own messages and `--trace-superblocks=yes` stand for nothing.
#[cold]
fn other(line: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
    let message = matches!(line, [a @ (b'=' | b'-' | b'*'), b, ..] if a == b);
    if message || line.starts_with(b"SB ") {
        events.skip();
        return Ok(());
    }
    Err(Fault::new(
        "not a line of Lackey's (if the program wrote it, keep it apart with --log-fd=9 or --log-file)",
    ))
}
