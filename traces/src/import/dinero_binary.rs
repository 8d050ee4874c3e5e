//! Binary traces of Dinero IV, its format `b`: 32-bit addresses in records of 8 bytes.

use crate::import::about::{About, Choice, Unit};
use crate::import::dinero;
use crate::import::emitter::Emitter;
use crate::import::error::Fault;
use crate::import::records::{RecordFormat, number};

pub(super) static ABOUT: About = About {
    name: "dinero-binary",
    title: "Dinero IV: -informat b",
    grammar: "records of 8 bytes: u32 address, u16 size, u8 type 0 to 5, one unused",
    unit: Unit::Records,
    takes: &[Choice::Fetch],
    lost: &[
        "dependences",
        "branch outcomes",
        "time",
        "the upper half of 64-bit addresses",
    ],
};

pub(super) const BYTES: usize = 8;

/// The letters of the text format, by the number of the binary one.
const LETTERS: [&[u8]; 6] = [b"r", b"w", b"i", b"m", b"c", b"v"];

pub(super) struct DineroBinary;

impl RecordFormat<BYTES> for DineroBinary {
    const ABOUT: &'static About = &ABOUT;

    #[inline]
    fn record(&mut self, record: &[u8; BYTES], events: &mut Emitter<'_>) -> Result<(), Fault> {
        let kind = record[6];
        let Some(letter) = LETTERS.get(usize::from(kind)) else {
            return Err(Fault::new(format!("unknown type {kind}")));
        };
        dinero::reference(
            letter,
            number::<4>(record, 0),
            number::<2>(record, 4),
            events,
        )
    }
}
