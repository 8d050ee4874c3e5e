//! Entries of hash tables: where the attributes of a sub-record are in them.

use crate::page::{Schema, Type};

/// Bytes of a link: the number of an entry, 0 for none.
pub(super) const LINK_BYTES: u64 = 4;

/// Where the attributes of a sub-record are in an entry: behind the link, the key first, each at its full length.
#[derive(Clone, Debug)]
pub struct EntryFormat {
    /// Type and offset by attribute.
    pub(super) places: Vec<(Type, usize)>,
    pub(super) bytes: usize,
}

impl EntryFormat {
    /// Entries for records of `schema`, whose first attribute is the key, an integer.
    #[must_use]
    pub fn new(schema: &Schema) -> Self {
        let mut bytes = LINK_BYTES as usize;
        let mut places = Vec::with_capacity(schema.degree());
        for attribute in schema.attributes() {
            places.push((attribute.kind, bytes));
            bytes += attribute.kind.most_bytes();
        }
        Self {
            places,
            bytes: bytes.next_multiple_of(LINK_BYTES as usize),
        }
    }
}
