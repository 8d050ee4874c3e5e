//! Which part of a page an event touches: site numbers made from the schema.

use super::schema::Schema;

/// Parts that every page has, in the order of their site numbers; the attributes follow.
const PARTS: [&str; 7] = [
    "page header",
    "slot",
    "tag",
    "presence bits",
    "end offset",
    "whole record",
    "run length",
];

/// The site numbers of one relation's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSites {
    parts: u16,
    attributes: u16,
}

impl PageSites {
    /// How many parts every page has.
    pub const PARTS: u16 = PARTS.len() as u16;

    /// Sites numbered from `first` on.
    #[must_use]
    pub fn from(first: u16) -> Self {
        Self::apart(first, first + Self::PARTS)
    }

    /// Parts of pages numbered from `parts` on, attributes from `attributes` on.
    #[must_use]
    pub fn apart(parts: u16, attributes: u16) -> Self {
        Self { parts, attributes }
    }

    /// Names in the order of the numbers, each after `prefix`: the relation's name, or nothing.
    #[must_use]
    pub fn names(prefix: &str, schema: &Schema) -> Vec<String> {
        let attributes = schema
            .attributes()
            .iter()
            .map(|attribute| format!("{prefix}attribute {}", attribute.name));
        PARTS
            .iter()
            .map(|part| format!("{prefix}{part}"))
            .chain(attributes)
            .collect()
    }

    /// What the page says of itself.
    #[inline]
    #[must_use]
    pub fn header(self) -> u16 {
        self.parts
    }

    /// Where a record is.
    #[inline]
    #[must_use]
    pub fn slot(self) -> u16 {
        self.parts + 1
    }

    /// What the storage manager keeps with a record.
    #[inline]
    #[must_use]
    pub fn tag(self) -> u16 {
        self.parts + 2
    }

    /// Which records, or values, there are.
    #[inline]
    #[must_use]
    pub fn presence(self) -> u16 {
        self.parts + 3
    }

    /// Where a value of variable length ends.
    #[inline]
    #[must_use]
    pub fn end_offset(self) -> u16 {
        self.parts + 4
    }

    /// A record that is copied or moved as a whole.
    #[inline]
    #[must_use]
    pub fn whole_record(self) -> u16 {
        self.parts + 5
    }

    /// How many tuples share a value that is stored once.
    #[inline]
    #[must_use]
    pub fn run_length(self) -> u16 {
        self.parts + 6
    }

    /// Values of an attribute.
    #[inline]
    #[must_use]
    pub fn attribute(self, attribute: usize) -> u16 {
        self.attributes + attribute as u16
    }
}
