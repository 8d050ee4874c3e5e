//! Output of Pin's example tool pinatrace.

use crate::import::about::{About, Unit};
use crate::import::emitter::Emitter;
use crate::import::error::Fault;
use crate::import::numbers::{hexadecimal, words};
use crate::import::text::LineFormat;

pub(super) static ABOUT: About = About {
    name: "pinatrace",
    title: "Pin: pinatrace.out",
    grammar: "`0xINSTRUCTION: R|W 0xADDRESS`",
    unit: Unit::Lines,
    takes: &[],
    lost: &[
        "sizes (each access is one byte)",
        "instructions without an access",
        "dependences",
        "branch outcomes",
        "threads",
        "time",
    ],
};

pub(super) struct Pinatrace;

impl LineFormat for Pinatrace {
    const ABOUT: &'static About = &ABOUT;

    #[inline]
    fn line(&mut self, line: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
        if line.starts_with(b"#") {
            events.skip();
            return Ok(());
        }
        let mut words = words(line);
        let (Some(instruction), Some(operation), Some(address), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(Fault::new("not three words"));
        };
        let Some(instruction) = instruction.strip_suffix(b":") else {
            return Err(Fault::new("no colon after the instruction's address"));
        };
        events.at(Some(hexadecimal(instruction)?));
        let address = hexadecimal(address)?;
        match operation {
            b"R" => events.load(address, 1),
            b"W" => events.store(address, 1),
            _ => return Err(Fault::new("the operation is neither R nor W")),
        }
        Ok(())
    }
}
