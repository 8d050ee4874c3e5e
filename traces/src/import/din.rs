//! Traces of Dinero III, which Dinero IV calls format `d`.

use crate::import::about::{About, Choice, Unit};
use crate::import::emitter::Emitter;
use crate::import::error::Fault;
use crate::import::numbers::{hexadecimal, words};
use crate::import::text::LineFormat;

pub(super) static ABOUT: About = About {
    name: "din",
    title: "Dinero III; Dinero IV: -informat d",
    grammar: "`LABEL ADDRESS`, label 0 read, 1 write, 2 instruction, 3 to 5 others, address hexadecimal",
    unit: Unit::Lines,
    takes: &[Choice::Fetch],
    lost: &[
        "sizes (each access is an aligned word of 4 bytes)",
        "dependences",
        "branch outcomes",
        "time",
    ],
};

/// Dinero reads words of this many bytes, whatever the address.
const WORD: u64 = 4;

pub(super) struct Din;

impl LineFormat for Din {
    const ABOUT: &'static About = &ABOUT;

    #[inline]
    fn line(&mut self, line: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
        let mut words = words(line);
        let (Some(label), Some(address)) = (words.next(), words.next()) else {
            return Err(Fault::new("fewer than two words"));
        };
        let address = hexadecimal(address)? & !(WORD - 1);
        match hexadecimal(label)? {
            // Label 3 is a read that no prefetcher sees.
            0 | 3 => events.load(address, WORD),
            1 => events.store(address, WORD),
            2 => events.instruction(Some((address, WORD))),
            // Copy back and invalidate are commands to a cache.
            4 | 5 => events.skip(),
            label => return Err(Fault::new(format!("unknown label {label:x}"))),
        }
        Ok(())
    }
}
