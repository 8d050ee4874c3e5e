//! Stores that are filled once, in the order of their sort, and then scanned: what row and column stores are compared by.

use super::{Schema, Value};
use crate::tracer::Trace;
use crate::validate::WorkloadError;

/// A call into the host DBMS; the number is an index into [`Call::NAMES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Call {
    /// One iteration of the storage manager: the next record, or the next page of a super tuple (cost IC).
    Iterate,
    /// One function call that takes over a tuple or a column's value (cost FC).
    ColumnValue,
}

impl Call {
    /// Names in the order of the numbers.
    pub const NAMES: [&'static str; 2] = ["iterate", "column-value"];
}

/// A read-mostly store.
pub trait Store {
    /// The attributes.
    fn schema(&self) -> &Schema;

    /// Adds a row behind the others; levels from `first_level` on have a new tuple with it.
    ///
    /// # Panics
    /// If the values are not those of the schema.
    fn append(&mut self, first_level: usize, row: &[Value]);

    /// Reads the attributes `columns` of every row, in order, and hands their words to `take`
    /// ([`super::PageFile::word`]). Pages are asked of storage as they are reached, numbered through all files.
    fn scan<T: Trace>(&self, trace: &mut T, columns: &[usize], take: impl FnMut(&mut T, &[u64]));

    /// Pages there are.
    fn pages(&self) -> u64;
}

/// Checks that every value has a length of its own type, and that none is missing: super tuples index their values.
pub(super) fn check_fixed(schema: &Schema) -> Result<(), WorkloadError> {
    let bad = |attribute: &&super::Attribute| {
        attribute.nullable || attribute.kind.fixed_bytes().is_none()
    };
    match schema.attributes().iter().find(bad) {
        Some(attribute) => Err(WorkloadError::new(
            "layout",
            format!(
                "attribute {} is nullable or of variable length; super tuples index values of fixed length",
                attribute.name
            ),
        )),
        None => Ok(()),
    }
}
