//! Traces of Ramulator 2's LoadStoreTrace.

use crate::import::about::{About, Unit};
use crate::import::emitter::Emitter;
use crate::import::error::Fault;
use crate::import::numbers::{number, words};
use crate::import::text::LineFormat;

pub(super) static ABOUT: About = About {
    name: "ramulator2",
    title: "Ramulator 2, LoadStoreTrace",
    grammar: "`LD|ST ADDRESS`, address decimal or 0x...",
    unit: Unit::Lines,
    takes: &[],
    lost: &[
        "sizes (each access is one byte)",
        "instructions",
        "dependences",
        "branch outcomes",
        "time",
    ],
};

pub(super) struct Ramulator2;

impl LineFormat for Ramulator2 {
    const ABOUT: &'static About = &ABOUT;

    #[inline]
    fn line(&mut self, line: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
        let mut words = words(line);
        let (Some(operation), Some(address), None) = (words.next(), words.next(), words.next())
        else {
            return Err(Fault::new("not two words"));
        };
        let address = number(address)?;
        match operation {
            b"LD" => events.load(address, 1),
            b"ST" => events.store(address, 1),
            _ => return Err(Fault::new("the operation is neither LD nor ST")),
        }
        Ok(())
    }
}
