//! The record that a load has read and inserts: the program's own, its values one behind the other.

use crate::page::{Schema, Source, Value, copy_words, store_words};
use crate::tracer::{Dep, Trace};

/// The place of such a record, which each overwrites in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parsed {
    site: u16,
    address: u64,
    /// Bytes of the values that are there.
    bytes: usize,
}

impl Parsed {
    /// No record yet.
    pub(super) fn new(address: u64, site: u16) -> Self {
        Self {
            site,
            address,
            bytes: 0,
        }
    }

    /// Stores a record's values, once their characters have been read.
    pub(super) fn store<T: Trace>(
        &mut self,
        trace: &mut T,
        schema: &Schema,
        record: &[Value<'_>],
        read: Dep,
    ) {
        self.bytes = 0;
        for (attribute, &value) in schema.attributes().iter().zip(record) {
            let bytes = attribute.kind.bytes_of(value);
            if bytes == 0 {
                continue;
            }
            let words = match value {
                Value::Bytes(_) => copy_words(bytes),
                _ => store_words(attribute.kind),
            };
            let address = self.address + self.bytes as u64;
            trace.store(self.site, address, bytes as u16, words, read);
            self.bytes += bytes;
        }
    }

    /// Where its values are copied from.
    pub(super) fn source(&self) -> Source {
        Source::memory(self.site, self.address, self.bytes)
    }
}
