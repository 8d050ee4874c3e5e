//! Request traces of Ramulator 1 in DRAM mode.

use crate::import::about::{About, Unit};
use crate::import::emitter::Emitter;
use crate::import::error::Fault;
use crate::import::numbers::{hexadecimal, words};
use crate::import::text::LineFormat;

pub(super) static ABOUT: About = About {
    name: "ramulator",
    title: "Ramulator 1, DRAM mode",
    grammar: "`ADDRESS R|W`, address hexadecimal",
    unit: Unit::Lines,
    takes: &[],
    lost: &[
        "sizes (each request is one byte)",
        "instructions",
        "dependences",
        "branch outcomes",
        "time",
    ],
};

pub(super) struct Ramulator;

impl LineFormat for Ramulator {
    const ABOUT: &'static About = &ABOUT;

    #[inline]
    fn line(&mut self, line: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
        let mut words = words(line);
        let address = hexadecimal(words.next().unwrap_or_default())?;
        match (words.next(), words.next()) {
            (None | Some(b"R"), None) => events.load(address, 1),
            (Some(b"W"), None) => events.store(address, 1),
            _ => {
                return Err(Fault::new(
                    "after the address stands something else than R or W",
                ));
            }
        }
        Ok(())
    }
}
