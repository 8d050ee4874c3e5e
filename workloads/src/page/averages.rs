//! How many records of average length a page holds: by this, tables are laid out on storage without their values.
//!
//! Lengths are averages, so nothing is rounded to whole bytes but the number of records. Where all values have one length and records
//! end where the next may begin, it is the number that pages of the format are filled with.

use super::{Geometry, nsm_format, pax_format};

/// Lengths of a relation's values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// Bytes of the values of a record, on average.
    pub average_bytes: f64,
    /// Attributes of fixed length.
    pub fixed: u32,
    /// Attributes of variable length.
    pub variable: u32,
}

/// What records take of pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Bytes of a record with what is kept for it.
    pub record_bytes: f64,
    /// Bytes that a page keeps once, behind the header.
    pub page_bytes: u32,
    /// Records that fit into a page; none if not one does.
    pub records: u64,
}

impl Shares {
    fn new(geometry: Geometry, record_bytes: f64, page_bytes: u32) -> Self {
        let room = f64::from(geometry.page_bytes)
            - f64::from(geometry.header_bytes)
            - f64::from(page_bytes);
        Self {
            record_bytes,
            page_bytes,
            // Rounds towards 0, and to 0 whatever is less.
            records: (room / record_bytes) as u64,
        }
    }
}

/// Records in slotted pages, each with a slot, its storage manager's tag in front, and the ends of its values of variable length.
#[must_use]
pub fn slotted(lengths: Lengths, geometry: Geometry) -> Shares {
    let ends = nsm_format::END_BYTES as f64 * f64::from(lengths.variable);
    let kept = (nsm_format::TAG_BYTES + nsm_format::SLOT_BYTES) as f64;
    Shares::new(geometry, lengths.average_bytes + kept + ends, 0)
}

/// Records in minipages, each of which has an entry in the page's header: values of variable length have their ends, others a bit
/// each that says that they are there.
#[must_use]
pub fn minipages(lengths: Lengths, geometry: Geometry) -> Shares {
    let ends = pax_format::END_BYTES as f64 * f64::from(lengths.variable);
    let bits = f64::from(lengths.fixed) / f64::from(u8::BITS);
    let entries = pax_format::ENTRY_BYTES as u32 * (lengths.fixed + lengths.variable);
    Shares::new(geometry, lengths.average_bytes + (ends + bits), entries)
}

#[cfg(test)]
mod tests {
    use super::super::{Attribute, Schema, Type};
    use super::*;
    use proptest::prelude::*;

    fn lengths(sizes: &[u16]) -> Lengths {
        Lengths {
            average_bytes: sizes.iter().copied().map(f64::from).sum(),
            fixed: sizes.len() as u32,
            variable: 0,
        }
    }

    fn schema(sizes: &[u16]) -> Schema {
        let attribute = |&bytes: &u16| Attribute::new("a", Type::Fixed(bytes));
        Schema::new(sizes.iter().map(attribute).collect())
    }

    proptest! {
        /// Slotted records whose length needs no rounding fill pages as the averages say; minipages lose less than 2 bytes each to
        /// rounding their bits, and 2 more to their last word.
        #[test]
        fn averages_are_what_pages_of_fixed_lengths_hold(
            words in prop::collection::vec(1_u16..40, 1..12),
            page_bits in 11_u32..16,
        ) {
            let geometry = Geometry { page_bytes: 1 << page_bits, header_bytes: 32 };
            let sizes: Vec<u16> = words.iter().map(|words| 4 * words).collect();
            let (lengths, schema) = (lengths(&sizes), schema(&sizes));
            let tight = slotted(lengths, geometry);
            prop_assert_eq!(tight.records, nsm_format::records_per_page(&schema, geometry) as u64);
            let average = minipages(lengths, geometry).records;
            let filled = pax_format::records_per_page(&schema, geometry) as u64;
            let lost = (2 * sizes.len()) as f64 / minipages(lengths, geometry).record_bytes;
            prop_assert!(filled <= average && (average - filled) as f64 <= lost + 1.0);
        }
    }

    #[test]
    fn what_is_kept_for_a_record_is_counted() {
        let geometry = Geometry {
            page_bytes: 8192,
            header_bytes: 32,
        };
        let lengths = Lengths {
            average_bytes: 54.0,
            fixed: 1,
            variable: 1,
        };
        // 8160 / (54 + 16 + 2), and (8160 - 8) / (54 + 4 + 1/8).
        assert_eq!(slotted(lengths, geometry).records, 113);
        assert_eq!(minipages(lengths, geometry).records, 140);
        let small = Geometry {
            page_bytes: 64,
            header_bytes: 0,
        };
        assert_eq!(slotted(lengths, small).records, 0);
    }
}
