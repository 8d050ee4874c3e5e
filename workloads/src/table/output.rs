//! What scans and queries return to their caller.

use crate::page::{Loaded, Value, copy_words};
use crate::query::{Call, Site};
use crate::tracer::Trace;

/// A buffer of records that is filled again and again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    address: u64,
    filled: u64,
}

/// Bytes of the buffer.
pub(super) const OUTPUT_BYTES: u64 = 8192;

/// Bytes that a number takes in it, and that those of a string are rounded up to.
const VALUE_BYTES: u64 = 8;

impl Output {
    pub(super) fn new(address: u64) -> Self {
        Self { address, filled: 0 }
    }

    /// Copies a record into the buffer.
    pub(super) fn add<T: Trace>(&mut self, trace: &mut T, row: &[Loaded<Value>]) {
        trace.call(Call::OutputRecord as u16);
        for value in row {
            let (bytes, words) = match value.value {
                // What is longer than the buffer is fetched piece by piece.
                Value::Bytes(string) => {
                    let bytes = (string.len() as u64).min(OUTPUT_BYTES);
                    (bytes, copy_words(string.len()))
                }
                _ => (VALUE_BYTES, 1),
            };
            if self.filled + bytes > OUTPUT_BYTES {
                self.filled = 0;
            }
            let (site, address) = (Site::Output, self.address + self.filled);
            trace.store(site, address, bytes as u16, words, value.token.after(0));
            self.filled += bytes.next_multiple_of(VALUE_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracer::{Token, Tracer};
    use traces::{Event, Kind};

    #[test]
    fn output_stays_in_its_buffer() {
        let mut events: Vec<Event> = Vec::new();
        let mut tracer = Tracer::new(&mut events);
        let mut output = Output::new(100);
        let row = [Loaded {
            value: Value::Int(1),
            token: Token::NONE,
        }; 7];
        (0..1000).for_each(|_| output.add(&mut tracer, &row));
        tracer.finish().unwrap();
        let stores: Vec<_> = events
            .iter()
            .filter(|event| event.kind == Kind::Store)
            .collect();
        assert_eq!(stores.len(), 7000);
        let inside = |event: &&Event| (100..100 + OUTPUT_BYTES).contains(&event.address);
        assert!(stores.iter().all(inside));
    }
}
