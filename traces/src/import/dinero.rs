//! Text traces of Dinero IV, its format `D`.

use crate::import::about::{About, Choice, Unit};
use crate::import::emitter::Emitter;
use crate::import::error::{Fault, shown};
use crate::import::numbers::{hexadecimal, words};
use crate::import::text::LineFormat;

pub(super) static ABOUT: About = About {
    name: "dinero",
    title: "Dinero IV: -informat D",
    grammar: "`TYPE ADDRESS SIZE`, type r, w, i, m, c or v, address and size hexadecimal",
    unit: Unit::Lines,
    takes: &[Choice::Fetch],
    lost: &["dependences", "branch outcomes", "time"],
};

pub(super) struct Dinero;

impl LineFormat for Dinero {
    const ABOUT: &'static About = &ABOUT;

    #[inline]
    fn line(&mut self, line: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
        let mut words = words(line);
        let (Some(kind), Some(address), Some(size)) = (words.next(), words.next(), words.next())
        else {
            return Err(Fault::new("fewer than three words"));
        };
        reference(kind, hexadecimal(address)?, hexadecimal(size)?, events)
    }
}

/// Tells `events` of a reference whose type is the letter `kind`.
#[inline]
pub(super) fn reference(
    kind: &[u8],
    address: u64,
    size: u64,
    events: &mut Emitter<'_>,
) -> Result<(), Fault> {
    if size == 0 && !matches!(kind, b"c" | b"v") {
        return Err(Fault::new("an access of 0 bytes"));
    }
    match kind {
        // Type m, miscellaneous, is a read that no prefetcher sees.
        b"r" | b"m" => events.load(address, size),
        b"w" => events.store(address, size),
        b"i" => events.instruction(Some((address, size))),
        // Copy back and invalidate are commands to a cache.
        b"c" | b"v" => events.skip(),
        kind => {
            return Err(Fault::new(format!("unknown type `{}`", shown(kind))));
        }
    }
    Ok(())
}
