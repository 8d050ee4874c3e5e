//! Formats of binary records of one size.

use crate::import::about::About;
use crate::import::emitter::Emitter;
use crate::import::error::{Fault, ImportError};
use crate::import::input::Input;

/// Reads one record of a format; all numbers are little-endian.
pub(super) trait RecordFormat<const BYTES: usize> {
    /// What the records are.
    const ABOUT: &'static About;

    /// Tells `events` what the record says.
    fn record(&mut self, record: &[u8; BYTES], events: &mut Emitter<'_>) -> Result<(), Fault>;

    /// Whether the trace may end here; if not, why.
    fn end(&self) -> Result<(), Fault> {
        Ok(())
    }

    /// Why the trace may end in the middle, though it may end here.
    fn doubt(&self) -> Option<String> {
        None
    }
}

/// Reads all records.
pub(super) fn decode<const BYTES: usize, F: RecordFormat<BYTES>>(
    format: &mut F,
    input: &mut Input,
    events: &mut Emitter<'_>,
) -> Result<(), ImportError> {
    loop {
        let bytes = input.next_bytes(BYTES)?;
        let Ok(record) = bytes.try_into() else {
            let found = bytes.len();
            let ended = match found {
                0 => format.end(),
                _ => Err(Fault::new(format!("{found} bytes instead of {BYTES}"))),
            };
            ended.map_err(|fault| fault.truncated(input.record_place()))?;
            if let Some(doubt) = format.doubt() {
                events.warn(format!("{}: {doubt}", input.record_place()));
            }
            return Ok(());
        };
        if let Err(fault) = format.record(record, events) {
            let text = record.map(|byte| format!("{byte:02x}")).concat();
            let place = input.record_place();
            return Err(ImportError::malformed(
                place,
                text.as_bytes(),
                fault,
                F::ABOUT,
            ));
        }
        events.flush_if_full()?;
    }
}

/// The little-endian number of `BYTES` bytes at `offset`.
#[inline]
pub(super) fn number<const BYTES: usize>(record: &[u8], offset: usize) -> u64 {
    let mut number = [0; 8];
    number[..BYTES].copy_from_slice(&record[offset..offset + BYTES]);
    u64::from_le_bytes(number)
}
