//! One-dimensional NumPy arrays of 64-bit addresses.
//!
//! A file begins with `\x93NUMPY`, a version, the length of the header and the header, a Python dictionary in text;
//! the numbers follow. Layout: NumPy Enhancement Proposal 1.

use crate::import::about::{About, Unit};
use crate::import::csv;
use crate::import::emitter::Emitter;
use crate::import::error::{Fault, ImportError};
use crate::import::input::Input;
use crate::import::records::{self, RecordFormat, number};

pub(super) static ABOUT: About = About {
    name: "npy",
    title: "NumPy array of addresses",
    grammar: "a one-dimensional .npy array of type uint64",
    unit: Unit::Records,
    takes: &[],
    lost: csv::LOST,
};

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";
/// Magic, version and length of the header.
const PREAMBLE_BYTES: usize = 10;

struct Npy {
    promised: u64,
    read: u64,
}

impl RecordFormat<8> for Npy {
    const ABOUT: &'static About = &ABOUT;

    #[inline]
    fn record(&mut self, record: &[u8; 8], events: &mut Emitter<'_>) -> Result<(), Fault> {
        if self.read == self.promised {
            return Err(Fault::new(format!(
                "more than the {} numbers of the shape",
                self.promised
            )));
        }
        self.read += 1;
        events.load(number::<8>(record, 0), 1);
        Ok(())
    }

    fn end(&self) -> Result<(), Fault> {
        match self.read == self.promised {
            true => Ok(()),
            false => Err(Fault::new(format!(
                "{} numbers, but the shape says {}",
                self.read, self.promised
            ))),
        }
    }
}

/// Reads the header and all numbers.
pub(super) fn decode(input: &mut Input, events: &mut Emitter<'_>) -> Result<(), ImportError> {
    let preamble = input.next_bytes(PREAMBLE_BYTES)?;
    let whole = preamble.len() == PREAMBLE_BYTES && preamble.starts_with(MAGIC);
    // Version 1 has a length of 16 bits; later versions are for headers that long arrays of numbers do not have.
    let version_1 = preamble.get(6) == Some(&1);
    let bytes = preamble.to_vec();
    let refused = |input: &Input, text: &[u8], cause: String| {
        let place = format!("{}: header", input.name());
        ImportError::malformed(place, text, Fault::new(cause), &ABOUT)
    };
    if !whole || !version_1 {
        let cause = "not the beginning of a .npy file of version 1";
        return Err(refused(input, &bytes, cause.to_owned()));
    }
    let header = input.next_bytes(number::<2>(&bytes, 8) as usize)?.to_vec();
    let promised = count(&header).map_err(|cause| refused(input, &header, cause))?;
    input.recount(0);
    records::decode(&mut Npy { promised, read: 0 }, input, events)
}

/// How many numbers the header promises; fails if they are no uint64 in one dimension.
fn count(header: &[u8]) -> Result<u64, String> {
    let header = String::from_utf8_lossy(header);
    let value = |key: &str| {
        let (_, rest) = header.split_once(key)?;
        Some(rest.trim_start_matches([':', ' ']))
    };
    let kind = value("'descr'").unwrap_or_default();
    if !kind.starts_with("'<u8'") {
        return Err("the numbers are no little-endian uint64; use array.astype('<u8')".to_owned());
    }
    value("'shape'")
        .and_then(|shape| shape.strip_prefix('(')?.split_once(",)")?.0.parse().ok())
        .ok_or_else(|| "the array has not one dimension; use array.ravel()".to_owned())
}
