//! Traces of Valgrind's tool Lackey with `--trace-mem=yes`: a line per instruction, followed by a line per access.
//! What the program itself prints into it names regions and phases (`messages.rs`).

use crate::import::about::{About, Choice, Unit};
use crate::import::emitter::Emitter;
use crate::import::error::Fault;
use crate::import::messages;
use crate::import::numbers::{decimal, hexadecimal};
use crate::import::text::LineFormat;

pub(super) static ABOUT: About = About {
    name: "lackey",
    title: "Valgrind: --tool=lackey --trace-mem=yes",
    grammar: "`I  ADDRESS,SIZE`, ` L ADDRESS,SIZE`, ` S ...` or ` M ...`, address hexadecimal, size decimal",
    unit: Unit::Lines,
    takes: &[Choice::Fetch],
    lost: &[
        "dependences",
        "branch outcomes",
        "software prefetches",
        "threads",
        "time",
    ],
};

#[derive(Default)]
pub(super) struct Lackey {
    /// The last line was Valgrind's own and not part of the trace.
    closed: bool,
}

impl LineFormat for Lackey {
    const ABOUT: &'static About = &ABOUT;

    #[inline]
    fn line(&mut self, line: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
        let (kind, reference) = match line {
            [b'I', b' ', b' ', rest @ ..] => (b'I', rest),
            [b' ', kind @ (b'L' | b'S' | b'M'), b' ', rest @ ..] => (*kind, rest),
            _ => return self.other(line, events),
        };
        self.closed = false;
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

    fn doubt(&self) -> Option<String> {
        (!self.closed).then(|| {
            "none of Valgrind's closing lines (`==PID== ...`) stand behind the last access: the trace may end in the \
             middle of the run (or was made with --basic-counts=no, which prints none)"
                .to_owned()
        })
    }
}

impl Lackey {
    /// The program's messages to memwalk; all others, and `--trace-superblocks=yes`, stand for nothing.
    #[cold]
    fn other(&mut self, line: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
        if let Some(message) = messages::of_program(line) {
            return messages::take(message, events);
        }
        let message = matches!(line, [a @ (b'=' | b'-' | b'*'), b, ..] if a == b);
        if message || line.starts_with(b"SB ") {
            self.closed |= line.starts_with(b"==");
            events.skip();
            return Ok(());
        }
        Err(Fault::new(
            "not a line of Lackey's (if the program wrote it, keep it apart with --log-fd=9 or --log-file)",
        ))
    }
}
