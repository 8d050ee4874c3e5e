//! Canonical traces of DynamoRIO's drmemtrace: packed records of 12 bytes (u16 type, u16 size, u64 address).

use crate::event::Kind;
use crate::import::about::{About, Choice, Unit};
use crate::import::emitter::Emitter;
use crate::import::error::Fault;
use crate::import::records::{RecordFormat, number};

pub(super) static ABOUT: About = About {
    name: "drmemtrace",
    title: "DynamoRIO: drmemtrace, uncompressed or .gz, one thread",
    grammar: "records of 12 bytes (u16 type, u16 size, u64 address), of type HEADER (25) first and FOOTER (26) last",
    unit: Unit::Records,
    takes: &[Choice::Fetch],
    lost: &[
        "dependences",
        "threads",
        "time",
        "instruction encodings",
        "flushes of single lines",
    ],
};

pub(super) const BYTES: usize = 12;
pub(super) const HEADER: u64 = 25;
const FOOTER: u64 = 26;
/// Most instructions in a bundle: each has one byte of the address field for its length.
const BUNDLE: u64 = 8;

#[derive(Default)]
pub(super) struct Drmemtrace {
    begun: bool,
    ended: bool,
    /// A branch whose outcome is known is told after its accesses.
    branch: Option<bool>,
    /// Where the instruction after the last one stands: a bundle begins there.
    next_instruction: u64,
}

impl RecordFormat<BYTES> for Drmemtrace {
    const ABOUT: &'static About = &ABOUT;

    #[inline]
    fn record(&mut self, record: &[u8; BYTES], events: &mut Emitter<'_>) -> Result<(), Fault> {
        let (kind, size, address) = (
            number::<2>(record, 0),
            number::<2>(record, 2),
            number::<8>(record, 4),
        );
        if !self.begun && kind != HEADER {
            return Err(Fault::new(format!(
                "the first record has type {kind}, not HEADER (25)"
            )));
        }
        match kind {
            0 | 1 if size == 0 => return Err(Fault::new("an access of 0 bytes")),
            0 => events.load(address, size),
            1 => events.store(address, size),
            // Instruction prefetches (9, 35 to 40) ask for code.
            9 | 35..=40 => events.skip(),
            // Prefetches past the caches, or into one way of them.
            6 | 32..=34 | 42 | 44 | 46 => events.prefetch(Kind::PrefetchNta, address),
            2..=8 | 41 | 43 | 45 => events.prefetch(Kind::Prefetch, address),
            17 => self.bundle(size, record, events)?,
            10..=16 | 29..=31 | 48 | 49 => {
                self.resolve(events);
                // Repetitions of a string instruction (29) are not fetched again.
                events.instruction((kind != 29 && size > 0).then_some((address, size)));
                self.next_instruction = address.wrapping_add(size);
                self.branch = matches!(kind, 48 | 49).then_some(kind == 48);
            }
            // Flushes, threads, prefetches by hardware, markers, encodings.
            18..=24 | 27 | 28 | 47 => events.skip(),
            HEADER => self.begun = true,
            FOOTER => {
                self.resolve(events);
                self.ended = true;
            }
            kind => return Err(Fault::new(format!("unknown type {kind}"))),
        }
        Ok(())
    }

    fn end(&self) -> Result<(), Fault> {
        match self.ended {
            true => Ok(()),
            false => Err(Fault::new("it has no FOOTER record (type 26) at its end")),
        }
    }
}

impl Drmemtrace {
    /// Tells of a branch once its accesses are through.
    #[inline]
    fn resolve(&mut self, events: &mut Emitter<'_>) {
        if let Some(taken) = self.branch.take() {
            events.branch(taken);
        }
    }

    /// `count` instructions behind the last one; the address field holds their lengths.
    fn bundle(
        &mut self,
        count: u64,
        record: &[u8; BYTES],
        events: &mut Emitter<'_>,
    ) -> Result<(), Fault> {
        if count > BUNDLE {
            return Err(Fault::new(format!(
                "a bundle of {count} instructions; it holds at most {BUNDLE}"
            )));
        }
        self.resolve(events);
        for length in &record[4..4 + count as usize] {
            let length = u64::from(*length);
            events.instruction((length > 0).then_some((self.next_instruction, length)));
            self.next_instruction = self.next_instruction.wrapping_add(length);
        }
        Ok(())
    }
}
